"""Clusters that are dissolved: their rows join the others one by one.

A wide cluster of few rows may lie across several others. A merge with one of them costs much, and a
sweep moves hardly a row: each has the company of the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import moves, sweeps
from dpmlite.core.constants import UNPLACED

if TYPE_CHECKING:
    from dpmlite.distributed.protocols import Floats
    from dpmlite.partition import Partition
    from dpmlite.search.context import Problem


def dissolve(problem: Problem, partition: Partition) -> Partition:
    """Dissolve one cluster after the other while that lowers the joint, the best one first.

    Parameters
    ----------
    problem : Problem
        It has no absorbed groups.
    partition : Partition
        Of its rows. It is not changed.

    Returns
    -------
    Partition
        The same one if no cluster is dissolved.
    """
    found: Partition | None = partition
    while found is not None:
        partition, found = found, without_one(problem, found)
    return partition


def without_one(problem: Problem, partition: Partition) -> Partition | None:
    """The partition without the cluster whose rows gain most elsewhere; None if that is no gain."""
    if partition.n_clusters == 1:
        return None
    changes = changes_without(problem, partition)
    if not changes.min() < -partition.least_gain:
        return None
    labels = np.array(partition.labels, dtype=np.intp)
    labels[labels == changes.argmin()] = UNPLACED
    found = problem.partition(labels)
    sweeps.sweep(found)
    return found if found.neg_log_joint < partition.neg_log_joint - partition.least_gain else None


def changes_without(problem: Problem, partition: Partition) -> Floats:
    """Change of the joint if the rows of each cluster, and no others, join the others in turn."""
    clusters = replace(problem, absorbed_groups=partition.component)
    changes = np.zeros(partition.n_clusters)
    for k in range(partition.n_clusters):
        others = clusters.of_groups(np.delete(np.arange(partition.n_clusters), k))
        rows = np.asarray(partition.rows_of(moves.members_of(partition, [k])), dtype=np.intp)
        without = others.partition(np.full(len(rows), UNPLACED), rows)
        sweeps.sweep(without)
        changes[k] = without.neg_log_joint - partition.neg_log_joint
    return changes
