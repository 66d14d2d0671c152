"""Alternative trees: partitions that a tree leaves out (Xu, Heller & Ghahramani 2009, section 4).

A node k with more than two leaves has a child that is a merge, of nodes a and b, and another child,
c. Relocating b from a to c makes one alternative tree, relocating a makes the other: ((a, b), c)
becomes (a, (b, c)) or (b, (a, c)). The new node is one cluster, and no node above it is. No
partition counts twice: its new cluster lies on both sides of k, and is not all of k. So it is in no
partition that is consistent with the tree, and it determines k and the relocation.
"""

from math import inf, log

from dpmlite.algorithms.trees import check_tree
from dpmlite.core.protocols import Values
from dpmlite.core.special import log_gamma, log_rising
from dpmlite.families.component import Component


def log_increments(
    component: Component, children: Values, log_e: Values, alpha: float, out: Values
) -> None:
    """Compute what each alternative tree adds to the lower bound of eq. (9): eq. (10) to (12).

    Parameters
    ----------
    component : Component
        The statistics of every node and an empty slot, as `trees.hold` makes them.
    children : sequence of pairs of int, (M - 1, 2)
        The nodes of each merge, the earlier one first; the later one is divided.
    log_e : sequence of float, length 2 M - 1
        log of d_k p(D_k | T_k) of each node.
    alpha : float
        Concentration of the Dirichlet process.
    out : sequence of mutable sequences of float, (M - 1, 2)
        OUT: log of eq. (12) at the root for each merge: first with the earlier branch relocated.
        Minus infinity where a node has only two leaves.

    Raises
    ------
    ValueError
        If the lengths do not fit together, `alpha` is not positive or `children` are not a tree.
    """
    n = len(children) + 1
    check_tree(children, n)
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {float(alpha)}")
    if component.n_slots != 2 * n:
        raise ValueError(f"component must have {2 * n} slots, got {component.n_slots}")
    if len(log_e) != 2 * n - 1:
        raise ValueError(f"log_e must have {2 * n - 1} values, got {len(log_e)}")
    if len(out) != n - 1 or (n > 1 and len(out[0]) != 2):
        raise ValueError(f"out must have shape ({n - 1}, 2)")
    outside = [-log_rising(alpha, component.counts[2 * n - 2])] * (2 * n - 1)
    component.resize(2 * n + 1)
    for k in reversed(range(n, 2 * n - 1)):
        one, other = children[k - n]
        outside[one], outside[other] = outside[k] + log_e[other], outside[k] + log_e[one]
        for side in (0, 1):
            out[k - n][side] = -inf
            if other >= n:
                moved, left = children[other - n][side], children[other - n][1 - side]
                log_f = _log_f(component, moved, one, alpha)
                out[k - n][side] = outside[k] + log_f + log_e[left]
    component.resize(2 * n)


def _log_f(component: Component, i: int, j: int, alpha: float) -> float:
    """Log of alpha Gamma(n) p(D | H_1) of the rows of two nodes; the last two slots are scratch."""
    spare = component.n_slots - 1
    component.copy(spare - 1, component, i)
    component.copy(spare, component, j)
    component.merge(spare, spare - 1)
    log_f = log_gamma(component.counts[spare]) + component.log_marginal(spare)
    component.clear(spare)
    return log_f + log(alpha)
