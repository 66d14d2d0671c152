"""Partition crossover: a partition made of the clusters of two.

Descents from different starts end in different local optima, which are right in different places.
In the common refinement of two partitions, rows are together that are together in both: its parts
are mostly pure. To merge parts while that lowers the joint needs their statistics alone, and takes
what is best of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite import moves
from dpmlite.core.constants import UNPLACED
from dpmlite.search.context import NO_GROUPS, labels_of_groups
from dpmlite.search.sweeps import sweep_and_merge

if TYPE_CHECKING:
    from dpmlite.partition import Partition
    from dpmlite.search.context import Context, Labels
    from dpmlite.search.result import SearchResult

# Sweeps of the second partition between two merges: it need not be an optimum.
SECOND_SWEEPS = 2

# A refinement with more possible pairs of labels than this, and than rows, is found by a sort.
MAX_TABLE_PAIRS = 1000


def cross_over(
    context: Context,
    one: Labels,
    other: Labels,
    order: Labels | None = None,
    group_labels: tuple[Labels, Labels] = (NO_GROUPS, NO_GROUPS),
) -> Partition:
    """The common refinement of two partitions of the rows `order`, after merges.

    Rows that would be alone have no label: a sweep places them at less cost than merges.
    `group_labels` are both partitions' labels of the absorbed groups.
    """
    n_groups = len(group_labels[0])
    one, other = np.concatenate([group_labels[0], one]), np.concatenate([group_labels[1], other])
    parts = refinement(one, other, n_groups)
    partition = context.partition(parts[n_groups:].copy(), order, parts[:n_groups].copy())
    moves.merge(partition)
    return partition


def descend_and_cross_over(
    context: Context,
    one: Partition,
    other: Partition,
    order: Labels | None,
    max_moved: float = 0.0,
) -> SearchResult:
    """The crossover of a partition and the end of a short descent from another, swept and merged.

    Both are of the rows `order`. The sweeps of that descent are counted. Those of the crossover end
    when at most the fraction `max_moved` of the rows moves.
    """
    moves.merge(other)
    descent = sweep_and_merge(context, other, max_sweeps=SECOND_SWEEPS)
    now, then = (np.asarray(each.labels, dtype=np.intp) for each in (one, other))
    group_labels = labels_of_groups(one), labels_of_groups(other)
    crossed = cross_over(context, now, then, order, group_labels)
    result = sweep_and_merge(context, crossed, order, max_moved=max_moved)
    result.count(descent)
    return result


def refinement(one: Labels, other: Labels, n_groups: int = 0) -> Labels:
    """Labels of the common refinement: rows are together that are together in both.

    Parameters
    ----------
    one, other : ndarray of int, shape (N,)
        Labels, 0 or more.
    n_groups : int, default 0
        The first labels are of absorbed groups.

    Returns
    -------
    ndarray of int, shape (N,)
        Labels 0, 1, ... without gaps; -1 for a row, but not for a group, that would be alone.
    """
    n_other = int(other.max(initial=0)) + 1
    pairs = one * n_other + other
    if (int(one.max(initial=0)) + 1) * n_other > max(len(one), MAX_TABLE_PAIRS):
        pairs = np.unique(pairs, return_inverse=True)[1]
    kept = np.bincount(pairs) > 1
    kept[pairs[:n_groups]] = True
    numbers = np.where(kept, np.cumsum(kept) - 1, UNPLACED)
    return np.asarray(numbers[pairs], dtype=np.intp)
