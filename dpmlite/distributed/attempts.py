"""Changes of a partition in chunks that are kept if the joint of all rows falls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite import moves
from dpmlite.distributed.dissolution import dissolve
from dpmlite.distributed.proposals import GATHERED_ROWS, compact, scaled
from dpmlite.distributed.steps import Mixture, Proposal
from dpmlite.search.result import tell_step

if TYPE_CHECKING:
    from dpmlite.distributed.chunked_partition import ChunkedPartition, State
    from dpmlite.partition import Partition
    from dpmlite.search.search import Search

# Sweeps of a chunk between two sums of statistics: more follow statistics that are out of date.
SWEEPS_AT_ONCE = 2

# Sweeps between proposals end when no more than this fraction of the rows moves. Those of the
# start of another sample end at the second: a crossover follows.
MAX_MOVED_FRACTION = 3e-3
START_MOVED_FRACTION = 1e-2

# Clusters after a crossover are others than before if the joint changes by more than this part of
# a worthwhile gain.
MIN_CHANGE = 0.1

# If this fraction of the clusters looks normal, another sample shows what proposals have shown.
ENOUGH_NORMAL_FRACTION = 0.5


def sweep(partition: ChunkedPartition, search: Search) -> int:
    """Sweep and tell it; return the number of rows that moved."""
    n_moved = partition.sweep(SWEEPS_AT_ONCE)
    tell_step(search.progress, "chunks", "sweep", n_moved, partition)
    return n_moved


def sweep_until_few_move(
    partition: ChunkedPartition, search: Search, max_moved_fraction: float
) -> bool:
    """Sweep until at most a fraction of the rows moves; False if a limit or a stop comes first.

    Chunks that sweep at once may pass rows to and fro: sweeps also end when the joint does not
    fall.
    """
    for _ in range(0, search.max_sweeps, SWEEPS_AT_ONCE):
        if search.progress.stop.is_set():
            break
        before = partition.neg_log_joint
        n_moved = sweep(partition, search)
        if n_moved <= max_moved_fraction * partition.n_rows:
            return True
        if not partition.neg_log_joint < before:
            return True
    return False


def sweep_while_it_pays(partition: ChunkedPartition, search: Search) -> None:
    """Sweep until the joint falls by little, however few rows move.

    A small cluster in the tails of others gets few rows in a sweep, and needs many.
    """
    pays = True
    while pays and not search.progress.stop.is_set():
        before = partition.neg_log_joint
        sweep(partition, search)
        pays = partition.neg_log_joint < before - MIN_CHANGE * partition.worthwhile_gain


def cross_over(partition: ChunkedPartition, search: Search, proposal: Proposal) -> bool:
    """Cross over with a proposal and sweep; return whether that lowers the joint by enough.

    What a sample shows has rough edges, whose price may hide what it gains: if there are other
    clusters, they are swept before they are compared with those of before.
    """
    before, worthwhile_gain = partition.state, partition.worthwhile_gain
    partition.cross_over(proposal)
    if are_others(partition, before) and not search.progress.stop.is_set():
        sweep(partition, search)
    helps = partition.neg_log_joint < before.neg_log_joint - worthwhile_gain
    if not helps:
        partition.restore(before)
    tell_step(search.progress, "chunks", "crossover", int(helps), partition)
    if helps:
        sweep_until_few_move(partition, search, MAX_MOVED_FRACTION)
    return helps


def are_others(partition: ChunkedPartition, before: State) -> bool:
    """Whether a partition has other clusters than before, as their number or the joint tells."""
    change = abs(partition.neg_log_joint - before.neg_log_joint)
    least = MIN_CHANGE * partition.worthwhile_gain
    return partition.n_clusters != before.n_clusters or change > least


def restart(partition: ChunkedPartition, search: Search, rng: np.random.Generator) -> bool:
    """Cross over with a descent from another sample; return whether the joint falls by enough.

    A descent hardly leaves the way on which its first sample set out. Where few clusters look
    normal, there are many ways to divide them.
    """
    if partition.n_rows <= GATHERED_ROWS:  # there is no other sample
        return False
    table, labels = partition.sample_of_all(GATHERED_ROWS, rng)
    model = scaled(partition.model, partition.n_rows / table.shape[0])
    problem = model.problem(table)
    if normal_fraction(problem.partition(compact(labels))) >= ENOUGH_NORMAL_FRACTION:
        return False
    found = dissolve(problem, search.from_sample(problem, int(rng.integers(2**63))).partition)
    if search.progress.stop.is_set():
        return False
    before = partition.state
    partition.start(Mixture.of(model, found.component, found.n_clusters))
    sweep_until_few_move(partition, search, START_MOVED_FRACTION)
    take_best_of(partition, search, before, partition.state)
    return partition.neg_log_joint < before.neg_log_joint - partition.worthwhile_gain


def take_best_of(partition: ChunkedPartition, search: Search, one: State, other: State) -> None:
    """Return to the better of two states, and cross it over with the other."""
    best, second = sorted((one, other), key=lambda state: state.neg_log_joint)
    partition.restore(second)
    mixture = partition.as_mixture()
    partition.restore(best)
    cross_over(partition, search, Proposal.for_all(mixture, partition.n_clusters))
    if best is other:
        sweep_until_few_move(partition, search, MAX_MOVED_FRACTION)


def normal_fraction(partition: Partition) -> float:
    """Fraction of the clusters that look normal."""
    return float(np.mean(moves.look_normal(partition, range(partition.n_clusters))))
