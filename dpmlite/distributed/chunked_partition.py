"""The partition of rows that lie in chunks, as the driver sees it: statistics, and no rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import moves
from dpmlite.distributed import steps
from dpmlite.distributed.statistics import all_others, grouped, loaded, statistics_of, total
from dpmlite.distributed.steps import Mixture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpmlite.distributed.engine import Engine
    from dpmlite.distributed.protocols import Indices, Model, Table
    from dpmlite.distributed.steps import ChunkClusters, Proposal
    from dpmlite.families import Component
    from dpmlite.partition import Partition
    from dpmlite.search.context import Problem


@dataclass(frozen=True, eq=False, repr=False)
class Clusters:
    """The clusters of all chunks, P, numbered 0..K-1.

    Attributes
    ----------
    statistics : list of Component
        Of the rows of each chunk, one cluster a slot.
    sizes : ndarray of int, shape (P, K)
        Rows of each cluster in each chunk.
    numbers : list of ndarray of int
        The number of each cluster of a chunk, as its labels number them.
    """

    statistics: list[Component]
    sizes: Indices
    numbers: list[Indices]

    @property
    def n_clusters(self) -> int:
        return len(self.sizes.T)


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """A partition as it was, to which it may return.

    Attributes
    ----------
    clusters : Clusters
    neg_log_joint : float
    labels : list
        Those of the engine.
    """

    clusters: Clusters
    neg_log_joint: float
    labels: list[Any]

    @property
    def n_clusters(self) -> int:
        return self.clusters.n_clusters


class ChunkedPartition:
    """Labels of rows that lie in chunks, with the statistics of their clusters and the joint.

    Parameters
    ----------
    engine : Engine
        It has read the chunks.
    model : Model
    mixture : Mixture
        Components of a sample: each row joins the best of them.
    sample : Table
        Any rows of the table.
    lengths : ndarray of int, shape (P,)
        Rows of each chunk.

    Attributes
    ----------
    clusters : Clusters
    n_clusters, n_rows : int
    problem : Problem
        Without rows: component and concentration.
    neg_log_joint : float
        The exact joint of all rows, in units of a problem's.
    n_sweeps : int
        Sweeps that a chunk has made at most.
    """

    clusters: Clusters
    neg_log_joint: float

    def __init__(
        self,
        engine: Engine,
        model: Model,
        mixture: Mixture,
        sample: Table,
        lengths: Indices,
    ) -> None:
        self.engine, self.model, self.lengths = engine, model, lengths
        self.n_rows, self.n_sweeps = int(lengths.sum()), 0
        self.no_rows = sample.take(np.zeros(sample.shape[0], dtype=bool))
        self.problem = model.problem(self.no_rows)
        self.component = self.problem.component
        self.start(mixture)

    @property
    def n_clusters(self) -> int:
        return self.clusters.n_clusters

    @property
    def worthwhile_gain(self) -> float:
        """The least fall of the joint for which a search goes on."""
        return self.problem.worthwhile_gain(self.n_rows)

    @property
    def totals(self) -> Component:
        """Statistics of the clusters of all rows, one a slot."""
        return total(self.clusters.statistics)

    @property
    def state(self) -> State:
        """What `restore` takes back."""
        return State(self.clusters, self.neg_log_joint, self.engine.labels)

    def restore(self, state: State) -> None:
        """Return to a state of before."""
        self.clusters, self.neg_log_joint = state.clusters, state.neg_log_joint
        self.engine.labels = state.labels

    def start(self, mixture: Mixture) -> None:
        """Forget the clusters: each row joins the best component of a mixture."""
        found = self.engine.run(steps.start, [(self.model, mixture)] * self.engine.n_chunks)
        self._number([each.keys for each in found], found)

    def as_mixture(self) -> Mixture:
        """The clusters as components, which rows may join."""
        return Mixture.of(self.model, self.totals, self.n_clusters)

    def sweep(self, max_sweeps: int) -> int:
        """Sweep in all chunks at once, then merge; return the number of rows that moved."""
        others = all_others(self.clusters.statistics)
        messages = [
            steps.Sweep(self.model, numbers, statistics_of(rest, self.n_clusters), max_sweeps)
            for numbers, rest in zip(self.clusters.numbers, others, strict=True)
        ]
        found: list[ChunkClusters] = self.engine.run(steps.sweep, messages)
        self.n_sweeps += max_sweeps
        keys, n_clusters = [], self.n_clusters
        for each in found:  # clusters that only one chunk has get numbers of their own
            own = each.keys < 0
            keys.append(np.where(own, n_clusters + np.cumsum(own) - 1, each.keys))
            n_clusters += int(own.sum())
        self._number(keys, found)
        return sum(each.n_moved for each in found)

    def cross_over(self, proposal: Proposal) -> None:
        """Cross the clusters over with a proposal: merge their common refinement."""
        messages = [(self.model, numbers, proposal) for numbers in self.clusters.numbers]
        found: list[ChunkClusters] = self.engine.run(steps.refine, messages)
        self._number([each.keys @ (proposal.n_labels, 1) for each in found], found)

    def sample(
        self, groups: Indices, max_rows: int, rng: np.random.Generator
    ) -> tuple[Any, Indices]:
        """Random rows of groups of clusters, and their clusters, in the order of the chunks.

        Parameters
        ----------
        groups : ndarray of int, shape (K,)
            The group of each cluster, 0, 1, ...; -1 for no group.
        max_rows : int
            Number of rows of each group at most.
        rng : Generator
        """
        sizes = self.sizes_of(groups)
        counts = np.array([shares(each, min(max_rows, int(each.sum()))) for each in sizes.T])
        seeds = rng.integers(2**63, size=self.engine.n_chunks).tolist()
        each_chunk = zip(self.clusters.numbers, counts.T, seeds, strict=True)
        messages = [steps.Gather(numbers, groups, n, seed) for numbers, n, seed in each_chunk]
        found = [each for each in self.engine.run(steps.gather, messages) if each is not None]
        table = joined([table for table, _ in found])
        return table, np.concatenate([clusters for _, clusters in found])

    def sample_of_all(self, max_rows: int, rng: np.random.Generator) -> tuple[Any, Indices]:
        """Random rows of all clusters together, as `sample` returns them."""
        return self.sample(np.zeros(self.n_clusters, dtype=np.intp), max_rows, rng)

    def worst_rows(self, max_rows: int) -> tuple[Any, Component]:
        """The rows that fit worst of each cluster, and statistics of the clusters without them.

        Of each cluster they are the same fraction, below 1.
        """
        counts = self.clusters.sizes.sum(axis=0) * max_rows // self.n_rows
        pairs = zip(self.clusters.sizes.T, counts.tolist(), strict=True)
        parts = np.array([shares(sizes, n) for sizes, n in pairs])
        others = all_others(self.clusters.statistics)
        messages = [
            steps.GatherWorst(self.model, numbers, statistics_of(rest, self.n_clusters), n)
            for numbers, rest, n in zip(self.clusters.numbers, others, parts.T, strict=True)
        ]
        found = self.engine.run(steps.gather_worst, messages)
        rest = [each for _, each in found]
        keys = [each.keys for each in rest]
        table = joined([table for table, _ in found])
        return table, total(_sums(self.component, keys, rest, self.n_clusters))

    def sizes_of(self, groups: Indices) -> Indices:
        """Rows of groups of clusters in each chunk, shape (P, G)."""
        sizes = np.zeros((self.engine.n_chunks, int(groups.max()) + 1), dtype=np.intp)
        there = groups >= 0
        np.add.at(sizes.T, groups[there], self.clusters.sizes.T[there])
        return sizes

    def finish(self, model: Model, order: Indices) -> Partition:
        """Leave the number ``order[k]`` of cluster k as labels of its rows in the chunks.

        Returns a partition with an absorbed group for each cluster, in this order, under another
        model of the same rows.
        """
        self._order(order)
        messages = [(model, numbers) for numbers in self.clusters.numbers]
        found = self.engine.run(steps.finish, messages)
        same = np.arange(self.n_clusters)
        self.clusters = replace(self.clusters, numbers=[same] * self.engine.n_chunks)
        problem = model.problem(self.no_rows)
        sums = _sums(problem.component, [each.keys for each in found], found, self.n_clusters)
        return with_groups(problem, total(sums))

    def _number(self, keys: Sequence[Indices], found: Sequence[ChunkClusters]) -> None:
        """Take clusters of equal keys as one, then merge while that lowers the joint."""
        known = np.unique(np.concatenate(keys))
        numbers = [np.searchsorted(known, each) for each in keys]
        sums = _sums(self.component, numbers, found, len(known))
        sizes = np.zeros((len(found), len(known)), dtype=np.intp)
        for row, each, at in zip(sizes, found, numbers, strict=True):
            row[at] = each.sizes
        self.clusters = Clusters(sums, sizes, numbers)
        self._merge()

    def _merge(self) -> None:
        """Merge pairs of clusters by the exact joint, the best pair first."""
        partition = with_groups(self.problem, self.totals)
        if moves.merge(partition):
            self._order(np.asarray(partition.group_labels, dtype=np.intp))
        self.neg_log_joint = partition.exact_neg_log_joint()

    def _order(self, numbers: Indices) -> None:
        """Number the clusters anew: ``numbers[k]`` is the new number of cluster k."""
        before, n_clusters = self.clusters, int(numbers.max()) + 1
        sizes = np.zeros((self.engine.n_chunks, n_clusters), dtype=np.intp)
        np.add.at(sizes.T, numbers, before.sizes.T)
        self.clusters = Clusters(
            [grouped(each, numbers, n_clusters) for each in before.statistics],
            sizes,
            [numbers[each] for each in before.numbers],
        )


def shares(sizes: Indices, n: int) -> Indices:
    """How many of `n` rows to draw from each chunk, in proportion to these sizes."""
    ends = np.cumsum(sizes) * n // max(1, sizes.sum())
    return np.asarray(np.diff(ends, prepend=0), dtype=np.intp)


def joined(tables: Sequence[Any]) -> Any:
    """The rows of some tables, one below the other."""
    return reduce(lambda above, below: above.followed_by(below), tables)


def with_groups(problem: Problem, groups: Component) -> Partition:
    """A partition without rows, in which each slot of a component is an absorbed group, alone."""
    return replace(problem, absorbed_groups=groups).partition(np.empty(0, dtype=np.intp))


def _sums(
    component: Component,
    numbers: Sequence[Indices],
    found: Sequence[ChunkClusters],
    n_clusters: int,
) -> list[Component]:
    """Of each chunk, the statistics of clusters 0..`n_clusters` - 1."""
    return [
        grouped(loaded(component, each.statistics), at, n_clusters)
        for each, at in zip(found, numbers, strict=True)
    ]
