"""Rows that fit worst are freed to join new clusters: what `MAPDPM` tries when nothing else helps.

A part of the rows, those that fit worst, loses its labels; some of them are seeds of new clusters,
and all join these or the old ones. What comes of that is recombined with what there was.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import inference
from dpmlite._threads import on_threads
from dpmlite.estimators.problem import UNPLACED, homes_of, sweep_and_merge

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Event

    import numpy.typing as npt

    from dpmlite import models
    from dpmlite.estimators.problem import Labels, Problem

    Costs = npt.NDArray[np.float64]  # or weights, one of each row

# The part of the rows is drawn anew for each attempt, between these; it sets the number of seeds.
ATTEMPTS = 6
# So many in a row that end where they began tell that there is nothing to be found.
IN_VAIN = 2
LEAST_FREED, MOST_FREED = 0.1, 0.6
SEEDS_IF_NONE, SEEDS_IF_ALL = 16, 116
FREED_SWEEPS = 2

# Attempts are judged by so many rows at most, evenly spread: all rows follow what helped there.
FREE_ROWS = 10_000

# In tables of so many rows at most, an attempt that helped there is extended to all rows on its own
# thread, before it is known whether an earlier one will do. Each takes two partitions of all rows:
# those of larger tables are extended one at a time, by all threads.
EXTEND_AT_ONCE = 100_000


@dataclass(eq=False, repr=False)
class Fits:
    """How well rows fit where they are.

    Attributes
    ----------
    costs, weights : ndarray, shape (N,)
        What it costs each row to stay, and its weight.
    falling : ndarray of int, shape (N,)
        Rows in the order of their costs, the greatest first.
    """

    costs: Costs
    weights: Costs
    falling: Labels = field(init=False)

    def __post_init__(self) -> None:
        self.falling = np.argsort(self.costs)[::-1]

    @classmethod
    def of(cls, partition: models.Partition) -> Fits:
        """Those of the rows of a partition."""
        costs, weights = np.empty(partition.n_rows), np.empty(partition.n_rows)
        inference.own_costs(partition, costs, weights)
        return cls(costs, weights)

    def worst(self, part: float, slack: float) -> Labels:
        """Rows of the greatest costs that have at most `part` of all weight, ascending.

        At least one. Of those within `slack` of the first that does not fit, the first: so neither
        rounding nor the order of a sort, which differs between processors, counts.
        """
        weight = part * self.weights.sum()
        n_fitting = np.searchsorted(np.cumsum(self.weights[self.falling]), weight, "right")
        cut = self.costs[self.falling[min(n_fitting, len(self.costs) - 1)]]
        above = np.flatnonzero(self.costs > cut + slack)
        tied = np.flatnonzero(np.abs(self.costs - cut) <= slack)
        left = weight - self.weights[above].sum()
        n_tied = np.searchsorted(np.cumsum(self.weights[tied]), left, "right")
        least = 0 if len(above) else 1
        return np.sort(np.concatenate([above, tied[: max(least, n_tied)]]))


@dataclass(eq=False, repr=False)
class Attempt:
    """What came of freed rows, and what it took; and of all rows, if that is known yet."""

    partition: models.Partition
    n_sweeps: int
    n_emptied: int
    of_all: Attempt | None = None


@dataclass(eq=False, repr=False)
class Freeing:
    """Attempts to make a partition better.

    Attributes
    ----------
    problem : Problem
    partition : Partition
        Swept until no row moves, or few; it is not changed.
    order : ndarray of int, shape (N,), or None
        The rows of the partition in the order of visits; None is 0..N-1.
    max_sweeps : int
        Sweeps between two merges, at most.
    stop : Event
        Ends the attempts between two steps when set.
    n_sweeps, n_emptied : int
        Sweeps done, and how many times a cluster lost its last row in them.
    """

    problem: Problem
    partition: models.Partition
    order: Labels | None
    max_sweeps: int
    stop: Event
    n_sweeps: int = 0
    n_emptied: int = 0

    def run(self, rng: np.random.Generator) -> models.Partition | None:
        """What the first attempt that helps brings; None if none does."""
        order = self._order(self._step())
        some, in_vain = self._some(order), 0
        for attempt in self._attempts(some, order, rng):
            found = self._found(attempt, some)
            if found is not None:
                return found
            change = abs(attempt.partition.neg_log_joint - some.neg_log_joint)
            in_vain = in_vain + 1 if change <= some.least_gain else 0
            if in_vain == IN_VAIN:
                break
        return None

    def _attempts(
        self, some: models.Partition, order: Labels, rng: np.random.Generator
    ) -> Iterator[Attempt]:
        """Attempts one after the other, found as many at a time as there are threads."""
        fits = Fits.of(some)
        n_threads, seeds = self.problem.n_threads, rng.integers(2**63, size=ATTEMPTS).tolist()
        for first in range(0, ATTEMPTS, n_threads):
            if self.stop.is_set():
                break
            yield from on_threads(
                lambda seed: self._attempt(some, order, fits, np.random.default_rng(seed)),
                seeds[first : first + n_threads],
                n_threads,
                self.stop,
            )

    def _found(self, attempt: Attempt, some: models.Partition) -> models.Partition | None:
        """All rows after an attempt on `some`, if that lowers their joint."""
        self._count(attempt)
        if some is not self.partition:
            if not self._helps(attempt, some) or self.stop.is_set():
                return None
            attempt = attempt.of_all or self._extended(attempt.partition, self.problem.n_threads)
            self._count(attempt)
        gain: float = self.partition.neg_log_joint - attempt.partition.neg_log_joint
        return attempt.partition if gain > self.partition.least_gain else None

    def _count(self, attempt: Attempt) -> None:
        self.n_sweeps += attempt.n_sweeps
        self.n_emptied += attempt.n_emptied

    def _some(self, order: Labels) -> models.Partition:
        """What becomes of every so many-th row by itself; the partition, if that is all rows."""
        if self._step() == 1:
            return self.partition
        labels = np.asarray(self.partition.labels, dtype=np.intp)[:: self._step()].copy()
        some = self.problem.partition(labels, order, homes_of(self.partition))
        self.n_sweeps += sweep_and_merge(some, self.max_sweeps, self.stop)
        return some

    def _step(self) -> int:
        return -(-self.partition.n_rows // FREE_ROWS)

    def _order(self, step: int = 1) -> Labels:
        """Every so many-th row, in the order of visits."""
        if self.order is None:
            return np.arange(0, self.partition.n_rows, step, dtype=np.intp)
        return np.ascontiguousarray(self.order[::step])

    def _attempt(
        self, some: models.Partition, order: Labels, fits: Fits, rng: np.random.Generator
    ) -> Attempt:
        """What freed rows bring `some`; and all rows, if it helps and they are few."""
        attempt = self._freed(some, order, fits, rng)
        at_once = some is not self.partition and self.partition.n_rows <= EXTEND_AT_ONCE
        if at_once and self._helps(attempt, some) and not self.stop.is_set():
            attempt.of_all = self._extended(attempt.partition, 1)
        return attempt

    def _helps(self, attempt: Attempt, some: models.Partition) -> bool:
        gain: float = some.neg_log_joint - attempt.partition.neg_log_joint
        return gain > self.problem.worthwhile(some.n_rows)

    def _freed(
        self, partition: models.Partition, order: Labels, fits: Fits, rng: np.random.Generator
    ) -> Attempt:
        """What comes of it when the rows that fit worst may found clusters, joined with the old."""
        labels = np.array(partition.labels, dtype=np.intp)
        part = LEAST_FREED * (MOST_FREED / LEAST_FREED) ** rng.random()
        n_seeds = SEEDS_IF_NONE + int(part * (SEEDS_IF_ALL - SEEDS_IF_NONE))
        worst = fits.worst(part, partition.least_gain)
        seeds = drawn(worst, n_seeds, fits.weights[worst], rng)
        labels[worst] = UNPLACED
        labels[seeds] = partition.n_clusters + np.arange(len(seeds))
        return self._rejoined(partition, labels, homes_of(partition), order, 1)

    def _extended(self, found: models.Partition, n_threads: int) -> Attempt:
        """The same for all rows, from what was found for some."""
        labels = np.full(self.partition.n_rows, UNPLACED, dtype=np.intp)
        labels[:: self._step()] = np.asarray(found.labels)
        return self._rejoined(self.partition, labels, homes_of(found), self._order(), n_threads)

    def _rejoined(
        self,
        partition: models.Partition,
        labels: Labels,
        homes: Labels,
        order: Labels,
        n_threads: int,
    ) -> Attempt:
        """A short descent from other labels, recombined with `partition`."""
        problem = replace(self.problem, n_threads=n_threads)
        other = problem.partition(labels, order, homes)
        inference.sweep(other, n_threads)
        attempt = rejoined(problem, partition, other, order, self.max_sweeps, self.stop)
        attempt.n_sweeps += 1
        return attempt


def rejoined(
    problem: Problem,
    partition: models.Partition,
    other: models.Partition,
    order: Labels | None,
    max_sweeps: int,
    stop: Event,
) -> Attempt:
    """What comes of a partition and a short descent of another, both of the rows `order`."""
    inference.merge(other)
    n_sweeps = sweep_and_merge(other, FREED_SWEEPS, stop, problem.n_threads)
    now, then = (np.asarray(each.labels, dtype=np.intp) for each in (partition, other))
    homes = homes_of(partition), homes_of(other)
    found = problem.recombined(now, then, order, homes)
    n_sweeps += sweep_and_merge(found, max_sweeps, stop, problem.n_threads)
    return Attempt(found, n_sweeps, other.n_emptied + found.n_emptied)


def drawn(rows: Labels, n: int, weights: Costs, rng: np.random.Generator) -> Labels:
    """So many of some rows, or all if there are fewer; with chances as their weights."""
    if weights.min() == weights.max():
        return rng.choice(rows, min(n, len(rows)), replace=False)
    # As if rows came one by one at these rates (Efraimidis & Spirakis 2006).
    return rows[np.argsort(rng.exponential(size=len(rows)) / weights)[:n]]
