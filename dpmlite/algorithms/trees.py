"""Results of a finished tree: the statistics of its nodes, its clusters, its predictive density.

A tree over leaves 0..M-1 is the list of its merges: merge i makes node M + i of two earlier nodes,
and the last one is the root. Equation numbers are those of Xu, Heller & Ghahramani (2009).
"""

from math import exp, log, log1p

from dpmlite.algorithms.leaves import rows_of_leaves
from dpmlite.core.constants import TIE, UNPLACED
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.rows import Rows, as_rows
from dpmlite.families.component import Component


def hold(X: Rows | Values, leaves: Values, component: Component, children: Values) -> None:
    """Compute the statistics of every node.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
        The data.
    leaves : sequence of int, length N
        The leaf of each row.
    component : Component
        OUT: slot k holds node k, and the slot after the root is empty; what it held is replaced.
    children : sequence of pairs of int, (M - 1, 2)
        The nodes of each merge.

    Raises
    ------
    ValueError
        If `leaves` are not 0..M-1, each with a row, or `children` are not a tree over them.
    """
    rows = as_rows(X)
    component._check_rows(rows)
    members = rows_of_leaves(leaves, len(rows))
    check_tree(children, len(members))
    n_nodes = len(members) + len(children)
    component.resize(0)
    component.resize(n_nodes + 1)
    for k, own in enumerate(members):
        for i in own:
            component.add(rows.values(i), k, rows.weight(i))
    for k, (i, j) in enumerate(children, start=len(members)):
        component.copy(k, component, i)
        component.copy(n_nodes, component, j)
        component.merge(k, n_nodes)


def cut(children: Values, log_odds: Values, labels: Buffer) -> int:
    """Cut a tree into clusters: from the root down, nodes with r_k < 0.5 are divided.

    Parameters
    ----------
    children : sequence of pairs of int, (M - 1, 2)
        The nodes of each merge.
    log_odds : sequence of float, length M - 1
        log r_k / (1 - r_k) of each; from -1e-8 up, the node is one cluster.
    labels : mutable sequence of int, length M
        OUT: the cluster of each leaf.

    Returns
    -------
    int
        The number of clusters.

    Raises
    ------
    ValueError
        If the lengths do not fit together, or `children` are not a tree.
    """
    n = len(labels)
    check_tree(children, n)
    _check_length("log_odds", log_odds, n - 1)
    cluster = [UNPLACED] * (2 * n - 1)
    n_clusters = 0
    for k in reversed(range(2 * n - 1)):
        if cluster[k] == UNPLACED and (k < n or log_odds[k - n] >= -TIE):
            cluster[k] = n_clusters
            n_clusters += 1
        if k >= n:
            i, j = children[k - n]
            cluster[i] = cluster[j] = cluster[k]
        else:
            labels[k] = cluster[k]
    return n_clusters


def log_node_weights(
    children: Values, log_odds: Values, counts: Values, alpha: float, out: Buffer
) -> None:
    """Compute the log weights of the nodes in the tree's predictive density.

    A row that joins a random partition is in cluster c with probability n_c / (n + alpha), and in a
    new cluster with alpha / (n + alpha). In a random partition that is consistent with the tree,
    node k is a cluster if it is one (r_k) and no node i above it is (1 - r_i). The product of these
    is omega_k of Heller & Ghahramani (2005). So p(x | D) = sum over k of omega_k n_k / (n + alpha)
    p(x | D_k) + alpha / (n + alpha) p(x).

    Parameters
    ----------
    children : sequence of pairs of int, (M - 1, 2)
        The nodes of each merge.
    log_odds : sequence of float, length M - 1
        log r_k / (1 - r_k) of each.
    counts : sequence of float, length 2 M - 1
        Rows below each node, by weight.
    alpha : float
        Concentration of the Dirichlet process.
    out : mutable sequence of float, length 2 M
        OUT: log weights of the nodes, then of a new cluster; the sum of the weights is 1.

    Raises
    ------
    ValueError
        If the lengths do not fit together, `alpha` is not positive or `children` are not a tree.
    """
    n = len(log_odds) + 1
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {float(alpha)}")
    check_tree(children, n)
    _check_length("counts", counts, 2 * n - 1)
    _check_length("out", out, 2 * n)
    log_total = log(counts[2 * n - 2] + alpha)
    out[2 * n - 2] = 0.0  # until it is its turn: log of the product of 1 - r_i over nodes above
    for k in reversed(range(n, 2 * n - 1)):
        log_r, log_rest = -softplus(-log_odds[k - n]), -softplus(log_odds[k - n])
        for child in children[k - n]:
            out[child] = out[k] + log_rest
        out[k] += log_r
    for k in range(2 * n - 1):
        out[k] += log(counts[k]) - log_total
    out[2 * n - 1] = log(alpha) - log_total


def check_tree(children: Values, n_leaves: int) -> None:
    """Raise ValueError unless merges make one tree of all leaves.

    Parameters
    ----------
    children : sequence of pairs of int
        The nodes of each merge.
    n_leaves : int
        M.
    """
    _check_length("children", children, n_leaves - 1)
    merged: set[int] = set()
    for i, pair in enumerate(children):
        if len(pair) != 2:
            raise ValueError(f"children must be pairs, got {len(pair)} values")
        for k in pair:
            if not 0 <= k < n_leaves + i or k in merged:
                raise ValueError(f"children must be nodes made before and not merged, got {k}")
            merged.add(int(k))


def log_add(x: float, y: float) -> float:
    """log(exp(x) + exp(y)) of finite numbers.

    Parameters
    ----------
    x, y : float

    Returns
    -------
    float
    """
    return max(x, y) + log1p(exp(-abs(x - y)))


def softplus(x: float) -> float:
    """log(1 + exp(x)).

    Parameters
    ----------
    x : float

    Returns
    -------
    float
    """
    return log_add(x, 0.0)


def _check_length(name: str, values: Values, length: int) -> None:
    if len(values) != length:
        raise ValueError(f"{name} must have {length} values, got {len(values)}")
