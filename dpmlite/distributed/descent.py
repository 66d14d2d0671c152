"""The descent in the joint of rows in chunks: sweeps, and proposals when few rows move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpmlite.distributed.proposals import all_together, each_alone, near_ones, propose

if TYPE_CHECKING:
    import numpy as np

    from dpmlite.distributed.chunked_partition import ChunkedPartition
    from dpmlite.search.search import Search

# Sweeps of a chunk between two sums of statistics: more follow statistics that are out of date.
SWEEPS_AT_ONCE = 2

# Sweeps between proposals end when no more than this fraction of the rows moves; the last sweeps
# end at the other: what moves then changes the joint by a nat or so.
MAX_MOVED_FRACTION = 3e-3
LAST_MOVED_FRACTION = 5e-4

# The groups of clusters that are searched by themselves in each round.
GROUPINGS = (all_together, each_alone, near_ones)

# Rounds of proposals at most. The first in which none is taken is the last.
MAX_ROUNDS = 10


def descend(
    partition: ChunkedPartition, search: Search, rng: np.random.Generator
) -> tuple[list[float], bool]:
    """Lower the joint until proposals gain little.

    Parameters
    ----------
    partition : ChunkedPartition
        Changed in place.
    search : Search
        How rows that were gathered are searched. Its progress is told of each round, and may end
        the descent between two steps.
    rng : Generator

    Returns
    -------
    trace : list of float
        The joint after each round.
    converged : bool
        Whether the last sweeps moved hardly any row.
    """
    sweep_until_few_move(partition, search, MAX_MOVED_FRACTION)
    trace, helped, progress = [partition.neg_log_joint], search.split_merge, search.progress
    while helped and len(trace) <= MAX_ROUNDS and not progress.stop.is_set():
        helped = False
        for groups_of in GROUPINGS:
            if propose(partition, search, groups_of(partition, rng), rng):
                helped = True
                sweep_until_few_move(partition, search, MAX_MOVED_FRACTION)
        trace.append(partition.neg_log_joint)
        progress.step(f"round {len(trace) - 1}", trace[-1], len(partition.totals))
    converged = sweep_until_few_move(partition, search, LAST_MOVED_FRACTION)
    return [*trace, partition.neg_log_joint], converged


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
        n_moved = partition.sweep(SWEEPS_AT_ONCE)
        if n_moved <= max_moved_fraction * partition.n_rows:
            return True
        if not partition.neg_log_joint < before:
            return True
    return False
