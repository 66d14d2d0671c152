"""Binary trees of merges: alternatives to a fitted tree, and scipy's linkage matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Floats, Indices


@dataclass(frozen=True, eq=False)
class AlternativeTree:
    """A tree that differs from the fitted one by the relocation of a branch.

    Attributes
    ----------
    node : int
        The node whose branches were relocated.
    log_increment : float
        Log of the term that the tree adds to the lower bound on the evidence: eq. (12) of Xu,
        Heller & Ghahramani (2009).
    children : ndarray of int, shape (M - 1, 2)
        Its merges.
    labels : ndarray of int, shape (N,)
        Its most probable clusters, as `BayesianHierarchicalClustering.labels_`, given that the two
        branches that were brought together are one cluster; -1 for rows without weight.
    """

    node: int
    log_increment: float
    children: npt.NDArray[np.intp]
    labels: npt.NDArray[np.intp]


def relocate(children: Indices, log_odds: Floats, merge: int, side: int) -> tuple[Indices, Floats]:
    """A tree after the relocation of a branch: section 4 of Xu, Heller & Ghahramani (2009).

    Parameters
    ----------
    children : ndarray of int, shape (M - 1, 2)
        Merges of the tree.
    log_odds : ndarray, shape (M - 1,)
        Log odds of each merge that it is one cluster.
    merge : int
        The merge of nodes A and B, where B was made by a merge of C and D.
    side : {0, 1}
        C is the first or the second node of that merge.

    Returns
    -------
    children : ndarray of int, shape (M - 1, 2)
        Merges of the tree in which A and C are merged, and then D.
    log_odds : ndarray, shape (M - 1,)
        Log odds with which A and C are one cluster and the nodes above are none.
    """
    n = len(children) + 1
    children, log_odds = children.copy(), log_odds.copy()
    one, other = children[merge]
    moved, left = children[other - n][[side, 1 - side]]
    children[other - n] = sorted((one, moved))
    children[merge] = left, other
    log_odds[other - n] = np.inf
    above = merge + n
    while True:  # up to the root
        log_odds[above - n] = -np.inf
        parents = np.flatnonzero((children == above).any(axis=1))
        if not len(parents):
            return children, log_odds
        above = int(parents[0]) + n


def linkage(
    children: npt.NDArray[np.intp], log_r: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Scipy's linkage matrix, shape (M - 1, 4): children, height -log r_k and leaves below.

    A height above that of a later merge over it is lowered to that.
    """
    n = len(children) + 1
    pairs = children.tolist()  # Python ints: loops over them are faster
    height = np.maximum(-log_r, 0.0).tolist()
    sizes = [1.0] * n
    for one, other in pairs:
        sizes.append(sizes[one] + sizes[other])
    for k in reversed(range(n - 1)):
        for child in pairs[k]:
            if child >= n:
                height[child - n] = min(height[child - n], height[k])
    return np.column_stack([children, height, sizes[n:]]).astype(np.float64)
