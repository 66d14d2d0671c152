"""The descent in the joint of rows in chunks: sweeps, proposals when few rows move, restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpmlite.distributed.attempts import (
    MAX_MOVED_FRACTION,
    cross_over,
    restart,
    sweep_until_few_move,
    sweep_while_it_pays,
)
from dpmlite.distributed.proposals import (
    GATHERED_ROWS,
    all_if_changed,
    all_together,
    each_alone,
    proposed,
    proposed_for_worst_rows,
)
from dpmlite.distributed.searched_clusters import SearchedClusters
from dpmlite.distributed.statistics import statistics_of
from dpmlite.search.result import tell_step

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from dpmlite.distributed.chunked_partition import ChunkedPartition
    from dpmlite.distributed.protocols import Indices, Mask
    from dpmlite.distributed.steps import Proposal
    from dpmlite.search.search import Search

    #: `grouping(partition, chosen)` returns the group of each cluster: those of chosen ones.
    Grouping = Callable[[ChunkedPartition, Mask], Indices]

# The last sweeps end when no more than this fraction of the rows moves: what moves then changes
# the joint by a nat or so.
LAST_MOVED_FRACTION = 5e-4

# Rounds at most.
MAX_ROUNDS = 20

# Rounds in a row that may gain little where one sample is enough. Each ends with a restart, which
# takes several passes over all rows: larger tables have one such round, and those of more cells no
# restart. Elsewhere one such round ends the descent.
MAX_FAILURES = 3
MAX_CELLS_OF_FAILURES = 4_000_000
MAX_CELLS = 16_000_000


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
    trace, n_failures = [partition.neg_log_joint], 0
    searched, max_failures = groupings_of(partition), max_failures_of(partition)
    while (
        search.split_merge
        and n_failures < max_failures
        and len(trace) <= MAX_ROUNDS
        and not search.progress.stop.is_set()
    ):
        helped = (
            try_groups(partition, search, searched, rng)
            or try_worst_rows(partition, search, rng)
            or (n_cells_of(partition) <= MAX_CELLS and restart(partition, search, rng))
        )
        n_failures = 0 if helped else n_failures + 1
        trace.append(partition.neg_log_joint)
        tell_step(search.progress, "chunks", "round", len(trace) - 1, partition)
    converged = sweep_until_few_move(partition, search, LAST_MOVED_FRACTION)
    return [*trace, partition.neg_log_joint], converged


def try_groups(
    partition: ChunkedPartition,
    search: Search,
    searched: dict[Grouping, SearchedClusters],
    rng: np.random.Generator,
) -> bool:
    """Cross over with what groups of clusters propose; return whether one proposal helps."""
    helped = False
    for groups_of, memory in searched.items():
        chosen = memory.are_new(statistics_of(partition.totals, partition.n_clusters))
        groups = groups_of(partition, chosen)
        helps = try_proposal(partition, search, proposed(partition, search, groups, rng))
        helped = helped or helps
    return helped


def try_worst_rows(partition: ChunkedPartition, search: Search, rng: np.random.Generator) -> bool:
    """Cross over with what is proposed for the rows that fit worst; return whether that helps.

    Where a sample is as sure of clusters as all rows, none is made of fewer rows than it shows.
    """
    if one_sample_is_enough(partition):
        return False
    helps = try_proposal(partition, search, proposed_for_worst_rows(partition, search, rng))
    if helps:
        sweep_while_it_pays(partition, search)
    return helps


def try_proposal(partition: ChunkedPartition, search: Search, proposal: Proposal | None) -> bool:
    """Cross over with a proposal, if there is one; return whether that helps."""
    if proposal is None or search.progress.stop.is_set():
        return False
    return cross_over(partition, search, proposal)


def groupings_of(partition: ChunkedPartition) -> dict[Grouping, SearchedClusters]:
    """How clusters are grouped, and a memory of those that were searched so."""
    one_is_enough = one_sample_is_enough(partition)
    groupings = (all_if_changed,) if one_is_enough else (all_together, each_alone)
    return {groups_of: SearchedClusters() for groups_of in groupings}


def max_failures_of(partition: ChunkedPartition) -> int:
    """Rounds in a row that may gain little."""
    is_small = n_cells_of(partition) <= MAX_CELLS_OF_FAILURES
    return MAX_FAILURES if is_small and one_sample_is_enough(partition) else 1


def one_sample_is_enough(partition: ChunkedPartition) -> bool:
    """Whether a sample is as sure of clusters as all rows: it has all, or their power is low.

    More rows of a few clusters then show no more, nor does another sample of the same clusters.
    """
    return partition.model.power * partition.n_rows <= GATHERED_ROWS


def n_cells_of(partition: ChunkedPartition) -> int:
    """Cells of the table."""
    return partition.n_rows * partition.component.n_columns
