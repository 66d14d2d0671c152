"""The descent in the joint of rows in chunks: sweeps, proposals when few rows move, restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpmlite.distributed.attempts import (
    MAX_MOVED_FRACTION,
    cross_over,
    restart,
    sweep_until_few_move,
)
from dpmlite.distributed.proposals import all_together, each_alone, near_ones, proposed
from dpmlite.search.result import tell_step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np

    from dpmlite.distributed.chunked_partition import ChunkedPartition
    from dpmlite.distributed.protocols import Indices
    from dpmlite.search.search import Search

    #: `grouping(partition, rng)` returns the group of each cluster.
    Grouping = Callable[[ChunkedPartition, np.random.Generator], Indices]

# The last sweeps end when no more than this fraction of the rows moves: what moves then changes
# the joint by a nat or so.
LAST_MOVED_FRACTION = 5e-4

# The groups of clusters that are searched by themselves in a round, and in one after a round that
# gained little: clusters are then those that were searched alone in vain.
GROUPINGS: tuple[Grouping, ...] = (all_together, each_alone, near_ones)
OTHER_GROUPINGS: tuple[Grouping, ...] = (all_together, near_ones)

# Rounds at most.
MAX_ROUNDS = 20

# Rounds in a row that may gain little. Each ends with a restart, which takes several passes over
# all rows; in tables of more cells there is none, as in `fit`, and one such round ends the descent.
MAX_FAILURES = 2
MAX_CELLS = 4_000_000


def descend(
    partition: ChunkedPartition, search: Search, rng: np.random.Generator
) -> tuple[list[float], bool]:
    """Lower the joint until proposals and restarts gain little.

    Parameters
    ----------
    partition : ChunkedPartition
        Changed in place.
    search : Search
        How rows that were gathered are searched. Its progress is told of each step, and may end
        the descent between two of them.
    rng : Generator

    Returns
    -------
    trace : list of float
        The joint after each round.
    converged : bool
        Whether the last sweeps moved hardly any row.
    """
    tell_step(search.progress, "chunks", "start", partition.n_clusters, partition)
    sweep_until_few_move(partition, search, MAX_MOVED_FRACTION)
    trace, n_failures, groupings = [partition.neg_log_joint], 0, GROUPINGS
    restarts = partition.n_rows * partition.component.n_columns <= MAX_CELLS
    while (
        search.split_merge
        and n_failures < (MAX_FAILURES if restarts else 1)
        and len(trace) <= MAX_ROUNDS
        and not search.progress.stop.is_set()
    ):
        helped = try_groups(partition, search, groupings, rng)
        helped = helped or (restarts and restart(partition, search, rng))
        n_failures, groupings = (0, GROUPINGS) if helped else (n_failures + 1, OTHER_GROUPINGS)
        trace.append(partition.neg_log_joint)
        tell_step(search.progress, "chunks", "round", len(trace) - 1, partition)
    converged = sweep_until_few_move(partition, search, LAST_MOVED_FRACTION)
    return [*trace, partition.neg_log_joint], converged


def try_groups(
    partition: ChunkedPartition,
    search: Search,
    groupings: Iterable[Grouping],
    rng: np.random.Generator,
) -> bool:
    """Cross over with what is proposed for each grouping; return whether one helps."""
    helped = False
    for groups_of in groupings:
        proposal = proposed(partition, search, groups_of(partition, rng), rng)
        if search.progress.stop.is_set():
            break
        if proposal is not None and cross_over(partition, search, proposal):
            helped = True
    return helped
