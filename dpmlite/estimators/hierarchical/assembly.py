"""A tree that is put together of trees over its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.core.constants import UNPLACED
from dpmlite.estimators.hierarchical.growth import Tree

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.search.context import Labels


class Assembly:
    """Nodes of a tree over N rows: the rows are 0..N-1, and each further merge is the next node.

    Parameters
    ----------
    n_rows : int
        N.

    Attributes
    ----------
    n_nodes : int
        Number of nodes so far.
    """

    def __init__(self, n_rows: int) -> None:
        self.n_nodes = n_rows
        self._tree = Tree(
            np.empty((n_rows - 1, 2), dtype=np.intp),
            np.empty(n_rows - 1),
            *(np.empty(2 * n_rows - 1) for _ in ("counts", "log_e", "log_d")),
        )

    def tree(self) -> Tree:
        """The whole tree, after its last merge."""
        return self._tree

    def evidence(self, nodes: Labels) -> npt.NDArray[np.float64]:
        """log_e and log_d of nodes, shape (M, 2)."""
        return np.column_stack([self._tree.log_e[nodes], self._tree.log_d[nodes]])

    def add(self, tree: Tree, leaves: Labels, clusters: Labels | None = None) -> Labels:
        """Add the merges of a tree within its clusters.

        Parameters
        ----------
        tree : Tree
        leaves : ndarray of int, shape (M,)
            The nodes that are the leaves of `tree`.
        clusters : ndarray of int, shape (M,), optional
            The cluster of each leaf, all below one node of `tree`. Default: one cluster.

        Returns
        -------
        ndarray of int, shape (K,)
            The node of each cluster.
        """
        m, whole = tree.n_leaves, self._tree
        cluster = clusters_of_nodes(tree, np.zeros_like(leaves) if clusters is None else clusters)
        kept = np.flatnonzero(cluster[m:] != UNPLACED)
        node = np.concatenate([leaves, np.full(m - 1, UNPLACED)])
        node[m + kept] = self.n_nodes + np.arange(len(kept))
        self.n_nodes += len(kept)
        merges = node[m + kept] - whole.n_leaves
        whole.children[merges] = np.sort(node[tree.children[kept]], axis=1)
        whole.log_odds[merges] = tree.log_odds[kept]
        placed = node != UNPLACED
        for name in ("counts", "log_e", "log_d"):
            getattr(whole, name)[node[placed]] = getattr(tree, name)[placed]
        roots = np.full(cluster.max() + 1, UNPLACED)
        np.maximum.at(roots, cluster[placed], node[placed])
        return roots


def clusters_of_nodes(tree: Tree, clusters: Labels) -> Labels:
    """The cluster that each node lies in, shape (2 M - 1,); -1 for nodes above the clusters.

    Parameters
    ----------
    tree : Tree
    clusters : ndarray of int, shape (M,)
        The cluster of each leaf.
    """
    found = clusters.tolist()
    for i, j in tree.children.tolist():
        found.append(found[i] if found[i] == found[j] else UNPLACED)
    return np.array(found, dtype=np.intp)
