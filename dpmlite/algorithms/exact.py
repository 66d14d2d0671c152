"""Exact inference for a few rows: sums over all partitions (Xu, Heller & Ghahramani 2009, eq. 5).

The joint of data and partition is a product over blocks, f(B) = alpha Gamma(n_B) p(x_B | theta_0).
So the block that holds the first row of a set can be split off, which leaves a smaller set:

    Z(S) = sum over blocks B of S with its first row of f(B) Z(S - B),   Z({}) = 1.

Every partition is counted exactly once, in 3^N / 2 steps: 265,720 for the 4,213,597 partitions of
12 rows. The recursion with a maximum in place of the sum gives the most probable partition.

Sets of rows are numbers: row i of N is bit N - 1 - i, so a set's first row is its highest bit.
"""

from collections.abc import Iterator
from math import exp, inf, log

from dpmlite.core.constants import MAX_EXACT_ROWS, TIE
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.rows import Rows, as_rows
from dpmlite.core.special import log_gamma, log_rising
from dpmlite.families.component import Component


def sum_over_partitions(
    X: Rows | Values,
    component: Component,
    alpha: float,
    labels: Buffer,
    n_clusters_proba: Buffer,
    co_clustering: Values,
) -> tuple[float, float]:
    """Compute the posterior of the partitions of a few rows, by exact sums.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
        From 1 to 13 rows. A row of weight w stands for w equal rows that share a label; partitions
        that separate these are not in the sums.
    component : Component
        The family and its prior; whatever it holds is replaced.
    alpha : float
        Concentration of the Dirichlet process.
    labels : mutable sequence of int, length N
        OUT: the most probable partition, numbered in the order in which clusters appear. Among
        partitions closer than 1e-8 nats, the first row gets the cluster with the earliest rows,
        then the first row that is left does, and so on.
    n_clusters_proba : mutable sequence of float, length N
        OUT: P(K = 1 | x), ..., P(K = N | x).
    co_clustering : sequence of mutable sequences of float, (N, N)
        OUT: P(z_i = z_j | x).

    Returns
    -------
    log_evidence : float
        log p(x | alpha, theta_0), eq. (5) of Xu, Heller & Ghahramani (2009), in nats.
    neg_log_joint : float
        -log p(x, z) of `labels`, every constant included.

    Raises
    ------
    ValueError
        If there is no row or more than 13, rows have the wrong width, `alpha` is not positive, or
        an output has the wrong shape.
    """
    rows = as_rows(X)
    n = len(rows)
    if not 1 <= n <= MAX_EXACT_ROWS:
        raise ValueError(f"X must have from 1 to {MAX_EXACT_ROWS} rows, got {n}")
    component._check_rows(rows)
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {float(alpha)}")
    _check_shapes(n, labels, n_clusters_proba, co_clustering)
    everyone = 2**n - 1
    log_f = _log_blocks(rows, component, alpha)
    log_z, proba = _sums(log_f, n)
    for k in range(n):
        n_clusters_proba[k] = proba[everyone][k + 1]
    _co_cluster(log_f, log_z, co_clustering)
    log_best = _best_partition(log_f, labels)
    log_denominator = log_rising(alpha, sum(rows.weight(i) for i in range(n)))  # of eq. (5)
    return log_z[everyone] - log_denominator, log_denominator - log_best


def _log_blocks(rows: Rows, component: Component, alpha: float) -> list[float]:
    """Log f of every set of rows.

    Sets are visited in the order of their numbers. For each bit j of the present number, slot j
    holds the rows of bit j and of all higher bits; only the slot of the lowest bit has changed.
    """
    n = len(rows)
    component.resize(0)
    component.resize(n)
    log_f = [0.0]
    for block in range(1, 2**n):
        low, others = _lowest_bit(block), block & (block - 1)
        if others:
            component.copy(low, component, _lowest_bit(others))
        else:
            component.clear(low)
        component.add(rows.values(n - 1 - low), low, rows.weight(n - 1 - low))
        n_b = component.counts[low]
        log_f.append(log(alpha) + log_gamma(n_b) + component.log_marginal(low))
    return log_f


def _sums(log_f: list[float], n: int) -> tuple[list[float], list[list[float]]]:
    """Log Z of every set of rows, and the probabilities that it has 0, 1, ..., N blocks."""
    log_z, proba = [0.0], [[1.0] + [0.0] * n]
    for rows in range(1, 2**n):
        terms = [log_f[block] + log_z[left] for block, left in _first_blocks(rows)]
        most = max(terms)
        log_z.append(most + log(sum(exp(term - most) for term in terms)))
        proba.append([0.0] * (n + 1))
        for term, (_, left) in zip(terms, _first_blocks(rows), strict=True):
            part = exp(term - log_z[rows])
            for k in range(n):
                proba[rows][k + 1] += part * proba[left][k]
    return log_z, proba


def _co_cluster(log_f: list[float], log_z: list[float], co_clustering: Values) -> None:
    """P(z_i = z_j | x): f(B) Z(other rows) / Z(all), summed over blocks B that hold both rows."""
    n, everyone = len(co_clustering), len(log_f) - 1
    for i in range(n):
        for j in range(n):
            co_clustering[i][j] = 0.0
    for block in range(1, everyone + 1):
        p = exp(log_f[block] + log_z[everyone ^ block] - log_z[everyone])
        members = [i for i in range(n) if block >> (n - 1 - i) & 1]
        for i in members:
            for j in members:
                co_clustering[i][j] += p


def _best_partition(log_f: list[float], labels: Buffer) -> float:
    """Write the most probable partition to `labels`; return the sum of its log f."""
    log_best = [0.0]
    for rows in range(1, len(log_f)):
        best = -inf
        for block, left in _first_blocks(rows):
            best = max(best, log_f[block] + log_best[left])
        log_best.append(best)
    n, rows, k, total = len(labels), len(log_f) - 1, 0, 0.0
    while rows:
        block, left = next(
            (block, left)
            for block, left in _first_blocks(rows)
            if log_f[block] + log_best[left] >= log_best[rows] - TIE
        )
        for i in range(n):
            if block >> (n - 1 - i) & 1:
                labels[i] = k
        total += log_f[block]
        rows, k = left, k + 1
    return total


def _first_blocks(rows: int) -> Iterator[tuple[int, int]]:
    """Yield every block that holds the first of some rows, and the rows left; early rows first."""
    first = 1 << (rows.bit_length() - 1)
    others = rows ^ first
    chosen = others
    while chosen:
        yield first | chosen, others ^ chosen
        chosen = (chosen - 1) & others
    yield first, others


def _lowest_bit(rows: int) -> int:
    return (rows & -rows).bit_length() - 1


def _check_shapes(n: int, labels: Buffer, n_clusters_proba: Buffer, co_clustering: Values) -> None:
    if len(labels) != n:
        raise ValueError(f"labels must have {n} values, got {len(labels)}")
    if len(n_clusters_proba) != n:
        raise ValueError(f"n_clusters_proba must have {n} values, got {len(n_clusters_proba)}")
    n_columns = len(co_clustering[0]) if len(co_clustering) else 0
    if len(co_clustering) != n or n_columns != n:
        raise ValueError(
            f"co_clustering must have shape ({n}, {n}), got ({len(co_clustering)}, {n_columns})"
        )
