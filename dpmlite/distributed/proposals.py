"""Proposals: clusters that a search among gathered rows finds.

`resample` looks at random rows of all clusters, where every move of a local search is tried.
`divide` looks at rows of one cluster at a time, of which there are more: what is small in the table
is seen in them. A proposal need not be good for all rows. Partition crossover takes what is.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import moves
from dpmlite.core.threads import on_threads
from dpmlite.distributed.chunked_partition import shares
from dpmlite.distributed.statistics import statistics_of
from dpmlite.distributed.steps import Mixture, Proposal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpmlite.distributed.chunked_partition import ChunkedPartition
    from dpmlite.distributed.protocols import Indices, Model, Table
    from dpmlite.search.search import Search

    Item = tuple[int, int]  # a cluster, and a seed

# Rows that are gathered of all clusters, or of one, at most.
GATHERED_ROWS = 20_000

# Rows of several clusters that are gathered at once, at most. A driver has no more in memory.
MAX_ROWS_AT_ONCE = 100_000


def resample(partition: ChunkedPartition, search: Search, rng: np.random.Generator) -> bool:
    """Cross over with what a descent from the present clusters finds on a new random sample."""
    table, labels = partition.sample(GATHERED_ROWS, rng)
    model = scaled(partition.model, partition.n_rows / table.shape[0])
    seed = int(rng.integers(2**63))
    return partition.cross_over(Proposal([descended(search, model, table, labels, seed)]))


def divide(partition: ChunkedPartition, search: Search, rng: np.random.Generator) -> bool:
    """Cross over with what descents on the rows of each cluster divide it into."""
    sizes = partition.clusters.sizes
    found: list[Mixture] = []
    for clusters in batches(sizes.sum(axis=0)):
        counts = np.array([shares_of_cluster(sizes[:, k]) for k in clusters]).T
        seeds = rng.integers(2**63, size=len(counts))
        table, labels = partition.gather(clusters, counts, seeds)
        part = partial(divided, partition, search, table, labels)
        seeds = rng.integers(2**63, size=len(clusters))
        found += on_threads(part, list(zip(clusters, seeds.tolist(), strict=True)))
    proposal = Proposal(found)
    return proposal.n_components > len(found) and partition.cross_over(proposal)


def divided(
    partition: ChunkedPartition, search: Search, table: Table, labels: Indices, item: Item
) -> Mixture:
    """What a descent on the gathered rows of one cluster divides it into."""
    k, seed = item
    rows = table.take(labels == k)
    model = scaled(partition.model, partition.clusters.sizes[:, k].sum() / rows.shape[0])
    whole = np.zeros(rows.shape[0], dtype=np.intp)
    together = model.problem(rows).partition(whole.copy())
    if moves.all_look_normal(together):
        return Mixture(model, statistics_of(together.component, 1))
    return descended(search, model, rows, whole, seed)


def descended(search: Search, model: Model, table: Table, labels: Indices, seed: int) -> Mixture:
    """The clusters that a descent from labels ends in."""
    labels = np.unique(labels, return_inverse=True)[1].astype(np.intp)
    found = search.go_on(model.problem(table), labels, seed, "gathered").partition
    return Mixture(model, statistics_of(found.component, found.n_clusters))


def scaled(model: Any, factor: float) -> Any:
    """The model of some of the rows: as sure of clusters as that of `factor` times as many."""
    return model.with_power(min(1.0, factor * model.power))


def shares_of_cluster(sizes: Indices) -> Indices:
    """`shares` of the rows that are gathered of a cluster with these sizes."""
    return shares(sizes, min(GATHERED_ROWS, int(sizes.sum())))


def batches(sizes: Indices) -> Iterator[list[int]]:
    """Clusters of which rows are gathered together, in their order."""
    batch: list[int] = []
    n_rows = 0
    for k, size in enumerate(np.minimum(sizes, GATHERED_ROWS).tolist()):
        if batch and n_rows + size > MAX_ROWS_AT_ONCE:
            yield batch
            batch, n_rows = [], 0
        batch.append(k)
        n_rows += size
    yield batch
