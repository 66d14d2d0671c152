"""Short descents from random seeds: the parents of the partition crossovers of a start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import moves, sweeps
from dpmlite.core.constants import UNPLACED
from dpmlite.search.sweeps import sweep_and_merge

if TYPE_CHECKING:
    from dpmlite.partition import Partition
    from dpmlite.search.context import Context, Labels
    from dpmlite.search.result import SearchResult

# Rows that are seeds, each as a cluster: more than there are clusters in most tables, for merges
# follow. Where hundreds of clusters have a few rows each, `init="singletons"` finds more of them,
# and sooner. Every second descent has fewer seeds, which all rows join at once: it finds what the
# others miss, in which rows join one by one.
N_SEEDS = 128
N_NEAREST_SEEDS = 32

# Sweeps between two merges, at most. The end of a descent need not be an optimum: the crossover
# of two ends is.
DESCENT_SWEEPS = 4


@dataclass(frozen=True, eq=False, repr=False)
class Seeds:
    """Rows in random order, of which the first `n_seeds` are seeds.

    `nearest` says whether the others join the seed that predicts them best, or cluster by cluster.
    """

    order: Labels
    n_seeds: int
    nearest: bool


def draw_seeds(n_rows: int, nearest: bool, rng: np.random.Generator) -> Seeds:
    """Random seeds; of few rows any number, so that descents differ."""
    most = min(N_NEAREST_SEEDS if nearest else N_SEEDS, n_rows)
    n_seeds = min(most, int(rng.integers(1, n_rows + 1)))
    return Seeds(rng.permutation(n_rows), n_seeds, nearest)


def descend_from_seeds(context: Context, seeds: Seeds) -> SearchResult:
    """The end of a short descent from seeds."""
    clusters = context.partition(np.arange(seeds.n_seeds), seeds.order[: seeds.n_seeds])
    if seeds.nearest:
        labels, n_sweeps = nearest_seed_labels(context, clusters, seeds.order), 0
        partition = context.partition(labels, seeds.order)
    else:
        partition, n_sweeps = joined_in_turn(context, clusters, seeds.order), 2
    moves.merge(partition)
    result = sweep_and_merge(context, partition, seeds.order, DESCENT_SWEEPS)
    result.n_sweeps += n_sweeps
    return result


def joined_in_turn(context: Context, seeds: Partition, order: Labels) -> Partition:
    """The partition that one sweep makes when the other rows join the seeds one by one."""
    sweeps.sweep(seeds)  # by themselves: the others have fewer clusters to choose from then
    labels = np.full(len(order), UNPLACED, dtype=np.intp)
    labels[: seeds.n_rows] = np.asarray(seeds.labels)
    partition = context.partition(labels, order)
    sweeps.sweep(partition)
    return partition


def nearest_seed_labels(context: Context, seeds: Partition, order: Labels) -> Labels:
    """The label of the seed that predicts each row best."""
    problem, labels = context.problem, np.empty(len(order), dtype=np.intp)
    sweeps.assign(
        problem.rows, seeds.component, problem.coarsened_alpha, labels, order, problem.discount
    )
    labels[: seeds.n_rows] = np.asarray(seeds.labels)
    return labels
