"""Memory of clusters whose rows were searched: what has not changed since is not searched again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpmlite.distributed.protocols import Floats, Indices, Mask

# A cluster is the one that was searched if its weight has changed by at most this part, and its
# other statistics by at most this part of the greatest of any cluster.
MAX_CHANGED_FRACTION = 0.02

# Index of no cluster.
NONE = -1


class SearchedClusters:
    """Statistics of clusters as they were when a search of their rows began."""

    def __init__(self) -> None:
        self._statistics: Floats | None = None

    def are_new(self, statistics: Floats) -> Mask:
        """Whether each cluster, of these statistics, was not searched yet; from now on it is.

        Parameters
        ----------
        statistics : ndarray, shape (K, L)
            The first of the L numbers is the weight of the cluster.

        Returns
        -------
        ndarray of bool, shape (K,)
        """
        before = self._statistics
        self._statistics = statistics.copy()
        if before is None:
            return np.ones(len(statistics), dtype=bool)
        same = same_clusters(statistics, before)
        known = same != NONE
        self._statistics[known] = before[same[known]]  # slow changes add up
        return np.asarray(~known)


def same_clusters(now: Floats, before: Floats) -> Indices:
    """For each cluster the index of the nearly equal one of before, or `NONE`."""
    scale = np.maximum(np.abs(now).max(axis=0), np.abs(before).max(axis=0))
    found = np.full(len(now), NONE, dtype=np.intp)
    for k, row in enumerate(now):
        limits = MAX_CHANGED_FRACTION * scale
        limits[0] = MAX_CHANGED_FRACTION * row[0]
        same = np.flatnonzero((np.abs(before - row) <= limits).all(axis=1))
        found[k] = same[0] if len(same) else NONE
    return found
