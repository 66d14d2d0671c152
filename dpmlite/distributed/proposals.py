"""Proposals: clusters that a search among gathered rows finds.

Groups of clusters are searched by themselves, each on some of its rows: all clusters together,
where every move of a local search is tried; or each cluster alone, of which more rows are seen. A
proposal need not be good for all rows: partition crossover takes what is.

Rows of a small, wide cluster that has no label of its own are in the tails of others. They are few
among random rows of these, and many among those that fit worst, which are searched, too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import moves
from dpmlite.core.threads import on_threads
from dpmlite.distributed.dissolution import dissolve
from dpmlite.distributed.steps import Mixture, Proposal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpmlite.distributed.chunked_partition import ChunkedPartition
    from dpmlite.distributed.protocols import Indices, Mask, Model, Table
    from dpmlite.search.search import Search

# Rows that are gathered of a group of clusters, at most.
GATHERED_ROWS = 20_000

# Rows of several groups that are gathered at once, at most: a driver has no more in memory.
MAX_ROWS_AT_ONCE = 100_000


def proposed(
    partition: ChunkedPartition, search: Search, groups: Indices, rng: np.random.Generator
) -> Proposal | None:
    """What descents on gathered rows make of groups of clusters; None if all look normal.

    Groups whose clusters all look normal stay, and so do clusters without a group.
    """
    mixtures: list[Mixture] = []
    choice = np.full(partition.n_clusters, -1)
    if groups.max() < 0:
        return None
    for batch in batches(partition.sizes_of(groups).sum(axis=0)):
        if search.progress.stop.is_set():
            break
        in_batch = np.where(np.isin(groups, batch), groups - batch[0], -1)
        found = searched(partition, search, in_batch, rng)
        for g, mixture in zip(batch, found, strict=True):
            if mixture is not None:
                choice[groups == g] = len(mixtures)
                mixtures.append(mixture)
    return Proposal(mixtures, choice) if mixtures else None


def searched(
    partition: ChunkedPartition, search: Search, groups: Indices, rng: np.random.Generator
) -> list[Mixture | None]:
    """What descents on some rows of each group make of it; None if its clusters look normal."""
    table, labels = partition.sample(groups, GATHERED_ROWS, rng)
    n_rows = partition.sizes_of(groups).sum(axis=0)
    seeds = rng.integers(2**63, size=len(n_rows)).tolist()

    def descent(g: int) -> Mixture | None:
        chosen = groups[labels] == g
        model = scaled(partition.model, n_rows[g] / chosen.sum())
        return descended(search, model, table.take(chosen), labels[chosen], seeds[g])

    return on_threads(descent, range(len(n_rows)))


def descended(
    search: Search, model: Model, table: Table, labels: Indices, seed: int
) -> Mixture | None:
    """The clusters that a descent from labels ends in; None if those of the labels look normal."""
    labels, problem = compact(labels), model.problem(table)
    if moves.all_look_normal(problem.partition(labels.copy())):
        return None
    found = dissolve(problem, search.go_on(problem, labels, seed, "gathered").partition)
    return Mixture.of(model, found.component, found.n_clusters)


def proposed_for_worst_rows(
    partition: ChunkedPartition, search: Search, rng: np.random.Generator
) -> Proposal:
    """What descents make of the rows that fit worst: by themselves, then beside all other rows.

    The first finds clusters, and shells of the present ones, which the second merges with these.
    There are more rows than are gathered.
    """
    table, rest = partition.worst_rows(GATHERED_ROWS)
    problem, seeds = partition.model.problem(table), rng.integers(2**63, size=2).tolist()
    alone = replace(search, brief=True).from_sample(problem, seeds[0]).partition
    beside = replace(problem, absorbed_groups=rest)
    labels = rest.n_slots + np.asarray(alone.labels, dtype=np.intp)
    found = search.go_on(beside, labels, seeds[1], "worst rows").partition
    mixture = Mixture.of(partition.model, found.component, found.n_clusters)
    return Proposal.for_all(mixture, partition.n_clusters)


def all_together(partition: ChunkedPartition, chosen: Mask) -> Indices:
    """One group of all clusters."""
    return np.zeros(partition.n_clusters, dtype=np.intp)


def all_if_changed(partition: ChunkedPartition, chosen: Mask) -> Indices:
    """One group of all clusters if one is chosen; else -1 for each."""
    return np.full(partition.n_clusters, 0 if chosen.any() else -1)


def each_alone(partition: ChunkedPartition, chosen: Mask) -> Indices:
    """A group for each chosen cluster; -1 for the others."""
    return np.where(chosen, np.cumsum(chosen) - 1, -1)


def scaled(model: Any, factor: float) -> Any:
    """The model of some of the rows: as sure of clusters as that of `factor` times as many."""
    return model.with_power(min(1.0, factor * model.power))


def compact(labels: Indices) -> Indices:
    """Labels 0, 1, ... without gaps, in the same order."""
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def batches(sizes: Indices) -> Iterator[list[int]]:
    """Groups of these sizes of which rows are gathered together, in their order."""
    batch: list[int] = []
    n_rows = 0
    for k, size in enumerate(np.minimum(sizes, GATHERED_ROWS).tolist()):
        if batch and n_rows + size > MAX_ROWS_AT_ONCE:
            yield batch
            batch, n_rows = [], 0
        batch.append(k)
        n_rows += size
    yield batch
