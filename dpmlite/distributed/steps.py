"""Steps on the rows of one chunk: pure functions of its table, its labels and a message.

The labels of a chunk number its own clusters, 0, 1, ...; each step that changes them replies with
what is known of these clusters. The driver's numbers of them come with its next message.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import algorithms, sweeps
from dpmlite.distributed.statistics import loaded, statistics_of

if TYPE_CHECKING:
    from dpmlite.distributed.protocols import Floats, Indices, Model, Table
    from dpmlite.families import Component
    from dpmlite.partition import Partition
    from dpmlite.search.context import Problem

    Result = tuple[Indices, "ChunkClusters"]

# A chunk stops its sweeps when no more than this fraction of its rows moves: the others move, too.
MAX_MOVED_FRACTION = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class ChunkClusters:
    """The clusters of a chunk.

    Attributes
    ----------
    keys : ndarray of int, shape (C,) or (C, 2)
        What the driver knows each by: see the step.
    statistics : ndarray, shape (C, L)
    sizes : ndarray of int, shape (C,)
        Rows, whatever their weights.
    n_moved : int
        Rows that sweeps have moved.
    """

    keys: Indices
    statistics: Floats
    sizes: Indices
    n_moved: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Mixture:
    """Components that were found among gathered rows.

    Attributes
    ----------
    model : Model
        With the power of these rows.
    statistics : ndarray, shape (B, L)
    """

    model: Model
    statistics: Floats

    @classmethod
    def of(cls, model: Model, clusters: Component, n_clusters: int) -> Mixture:
        """The first slots of a component under the model."""
        return cls(model, statistics_of(clusters, n_clusters))

    def labels(self, table: Table, rows: Indices) -> Indices:
        """The component that predicts each of some rows best; none is new."""
        found, problem = np.empty(len(rows), dtype=np.intp), self.model.problem(table)
        components = loaded(problem.component, self.statistics)
        sweeps.assign(problem.rows, components, problem.coarsened_alpha, found, rows)
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Proposal:
    """Components to cross the clusters over with.

    Attributes
    ----------
    mixtures : list of Mixture
    choice : ndarray of int, shape (K,)
        The mixture whose components rows of each cluster may join; -1 for rows that stay together.
    """

    mixtures: list[Mixture]
    choice: Indices

    @classmethod
    def for_all(cls, mixture: Mixture, n_clusters: int) -> Proposal:
        """One mixture for the rows of all clusters."""
        return cls([mixture], np.zeros(n_clusters, dtype=np.intp))

    @property
    def n_labels(self) -> int:
        """Number of labels that rows may get."""
        return 1 + sum(len(mixture.statistics) for mixture in self.mixtures)

    def labels(self, table: Table, clusters: Indices) -> Indices:
        """The best component for each row, numbered from 1; 0 for rows that stay together."""
        found, first, choice = np.zeros(len(clusters), dtype=np.intp), 1, self.choice[clusters]
        for j, mixture in enumerate(self.mixtures):
            rows = np.flatnonzero(choice == j)
            if len(rows):
                found[rows] = first + mixture.labels(table, rows)
            first += len(mixture.statistics)
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """A request to sweep.

    Attributes
    ----------
    model : Model
    numbers : ndarray of int
        The driver's number of each cluster of the chunk.
    others : ndarray, shape (K, L)
        Statistics of the clusters in all other chunks.
    max_sweeps : int
    """

    model: Model
    numbers: Indices
    others: Floats
    max_sweeps: int


@dataclass(frozen=True, eq=False, repr=False)
class Gather:
    """A request for random rows of groups of clusters.

    Attributes
    ----------
    numbers : ndarray of int
        As in `Sweep`.
    groups : ndarray of int, shape (K,)
        The group of each cluster; -1 for no group.
    counts : ndarray of int, shape (G,)
        Number of rows of each group.
    seed : int
    """

    numbers: Indices
    groups: Indices
    counts: Indices
    seed: int


@dataclass(frozen=True, eq=False, repr=False)
class GatherWorst:
    """A request for the rows that fit their clusters worst.

    Attributes
    ----------
    model : Model
    numbers : ndarray of int
        As in `Sweep`.
    others : ndarray, shape (K, L)
        As in `Sweep`.
    counts : ndarray of int, shape (K,)
        Number of rows of each cluster.
    """

    model: Model
    numbers: Indices
    others: Floats
    counts: Indices


def start(table: Table, labels: Any, message: tuple[Model, Mixture]) -> Result:
    """Let each row join the best component of a mixture; keys number components."""
    model, mixture = message
    return own_clusters(model, table, mixture.labels(table, np.arange(table.shape[0])))


def sweep(table: Table, labels: Indices, message: Sweep) -> Result:
    """Sweep over the rows beside all others; keys are clusters, -1 for those of this chunk alone.

    A cluster that other chunks have keeps its number. One that they have not is known to none of
    them, so that it may have any.
    """
    problem = message.model.problem(table)
    partition, there = _beside_others(problem, message.numbers[labels], message.others)
    n_moved = 0
    for _ in range(message.max_sweeps):
        moved = sweeps.sweep(partition)
        n_moved += moved
        if moved <= MAX_MOVED_FRACTION * partition.n_rows:
            break
    number = np.full(partition.component.n_slots, -1)
    number[np.asarray(partition.group_labels, dtype=np.intp)] = there
    labels, found = own_clusters(message.model, table, np.asarray(partition.labels))
    return labels, replace(found, keys=number[found.keys], n_moved=n_moved)


def refine(table: Table, labels: Indices, message: tuple[Model, Indices, Proposal]) -> Result:
    """Cut clusters by the components of a proposal; keys are pairs of cluster and component."""
    model, numbers, proposal = message
    clusters = numbers[labels]
    pairs = clusters * proposal.n_labels + proposal.labels(table, clusters)
    labels, found = own_clusters(model, table, pairs)
    keys = np.stack(np.divmod(found.keys, proposal.n_labels), axis=1)
    return labels, replace(found, keys=keys)


def gather(
    table: Table, labels: Indices, message: Gather
) -> tuple[Indices, tuple[Table, Indices] | None]:
    """Random rows and their clusters, in the order of the table; None for no rows."""
    clusters, rng = message.numbers[labels], np.random.default_rng(message.seed)
    groups, chosen = message.groups[clusters], np.zeros(len(labels), dtype=bool)
    for g, n in enumerate(message.counts.tolist()):
        chosen[rng.choice(np.flatnonzero(groups == g), n, replace=False, shuffle=False)] = True
    return labels, (table.take(chosen), clusters[chosen]) if chosen.any() else None


def gather_worst(
    table: Table, labels: Indices, message: GatherWorst
) -> tuple[Indices, tuple[Table, ChunkClusters]]:
    """The rows of the greatest cost in their own clusters, and the clusters without them."""
    model, clusters = message.model, message.numbers[labels]
    partition, _ = _beside_others(model.problem(table), clusters, message.others)
    costs, weights = np.empty(len(labels)), np.empty(len(labels))
    algorithms.own_costs(partition, costs, weights)
    worst = np.zeros(len(labels), dtype=bool)
    for k, n in enumerate(message.counts.tolist()):
        rows = np.flatnonzero(clusters == k)
        worst[rows[np.argsort(-costs[rows], kind="stable")[:n]]] = True
    rest = own_clusters(model, table.take(~worst), clusters[~worst])[1]
    return labels, (table.take(worst), rest)


def finish(table: Table, labels: Indices, message: tuple[Model, Indices]) -> Result:
    """Make the driver's numbers the labels; keys are clusters, statistics those under a model."""
    model, numbers = message
    labels = numbers[labels]
    return labels, own_clusters(model, table, labels)[1]


def own_clusters(model: Model, table: Table, labels: Indices) -> Result:
    """Labels 0, 1, ... of the rows, and the clusters with their former labels as keys."""
    sizes = np.bincount(labels)
    keys = np.flatnonzero(sizes)
    labels = (np.cumsum(sizes > 0) - 1)[labels]
    partition = model.problem(table).partition(labels.copy())
    return labels, ChunkClusters(keys, statistics_of(partition.component, len(keys)), sizes[keys])


def _beside_others(problem: Problem, labels: Indices, others: Floats) -> tuple[Partition, Indices]:
    """A partition of the rows beside the clusters of all others, and the numbers of these."""
    there = np.flatnonzero(others[:, 0] > 0.0)
    if not len(there):
        return problem.partition(labels.copy()), there
    groups = loaded(problem.component, others[there])
    beside = replace(problem, absorbed_groups=groups)
    return beside.partition(labels.copy(), None, there.copy()), there
