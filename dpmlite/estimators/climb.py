"""The hill-climbing of `MAPDPM`: which moves, in which order.

It draws the random numbers; the moves themselves are in `dpmlite.inference`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dpmlite import inference, models
from dpmlite._threads import on_threads
from dpmlite.estimators.problem import UNPLACED, Labels, Problem, part_normal, sweep_and_merge

if TYPE_CHECKING:
    from threading import Event

# Proposals of a pass: pairs of seeds for each cluster that may be split; of exchanges, neighbours
# of each cluster and pairs of seeds for each of them. `asv_benchmarks/benchmarks/search.py` shows
# what others cost and gain.
N_SPLIT_SEEDS = 1
N_NEIGHBOURS = 2
N_EXCHANGE_SEEDS = 1

# When nothing else helps, a part of the rows, those that fit worst, is freed to join new clusters
# that have some of them as seeds. The part is drawn anew for each attempt, between these; it sets
# the number of seeds.
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


# While whole clusters move, the sweeps between need not end at a fixed point: only until no more
# than this part of the rows moves. It says something for more than 1,000 rows.
FEW_MOVES = 1e-3


@dataclass(eq=False)
class Attempt:
    """What came of freed rows, and what it took; and of all rows, if that is known yet."""

    partition: models.Partition
    n_sweeps: int
    n_emptied: int
    of_all: Attempt | None = None


@dataclass(eq=False)
class Climb:
    """One descent of the joint: a partition, and how it came about.

    Attributes
    ----------
    problem : Problem
    partition : Partition
        Visits rows in `order`; its labels are in that order too.
    order : ndarray of int, shape (N,), or None
        The order of visits; None is 0..N-1.
    max_sweeps : int
        Sweeps over all rows at most.
    verbose : bool
        Print a line for every step.
    stop : Event
        Ends the descent between two steps when set.
    name : str
        Of the start, for the lines of `verbose`.
    trace : list of float
        The joint after each step that changed something.
    n_sweeps, n_sweeps_aside : int
        Sweeps done, and those of attempts that were not kept, or were made before the climb.
    n_emptied : int
        How many times a cluster lost its last row in these sweeps.
    converged : bool
        Whether it ended because nothing helped.
    """

    problem: Problem
    partition: models.Partition
    order: Labels | None
    max_sweeps: int
    verbose: bool
    stop: Event
    name: str
    trace: list[float] = field(default_factory=list)
    n_sweeps: int = 0
    n_sweeps_aside: int = 0
    n_emptied: int = 0
    converged: bool = False

    def run(self, rng: np.random.Generator, split_merge: bool, frees: bool = True) -> None:
        """Sweep until nothing moves; then move clusters, and free rows, until nothing helps."""
        placed = np.asarray(self.partition.labels) != UNPLACED
        if placed.all():
            self._record("start", self.partition.n_clusters)
        few = FEW_MOVES if split_merge else 0.0
        while (
            self._sweep(few)
            and split_merge
            and (self._move_clusters(rng) or (frees and self._free(rng)))
        ):
            self.converged = False
        if not self.converged:
            self._sweep()

    def follow(self, other: Climb) -> None:
        """Count what another climb did before this one, and keep its trace."""
        self.trace[:0] = other.trace
        self.n_sweeps_aside += other.n_sweeps + other.n_sweeps_aside
        self.n_emptied += other.n_emptied

    @property
    def objective(self) -> float:
        """The joint."""
        return self.partition.neg_log_joint

    def labels(self) -> Labels:
        """Labels of rows 0..N-1."""
        found = np.asarray(self.partition.labels, dtype=np.intp)
        if self.order is None:
            return found
        labels = np.empty_like(found)
        labels[self.order] = found
        return labels

    def _sweep(self, few: float = 0.0) -> bool:
        """Sweep until no more than a part of the rows moves.

        False if the limit of sweeps or a stop came first.
        """
        while self.n_sweeps < self.max_sweeps and not self.stop.is_set():
            emptied = self.partition.n_emptied
            moves = inference.sweep(self.partition, self.problem.n_threads)
            self.n_sweeps += 1
            self.n_emptied += self.partition.n_emptied - emptied
            self._record("sweep", moves)
            if moves <= few * self.partition.n_rows:
                self.converged = moves == 0
                return True
        return False

    def _move_clusters(self, rng: np.random.Generator) -> bool:
        """Whether that lowered the joint."""
        merges = inference.merge(self.partition)
        self._record("merge", merges)
        n_slots, n_rows = self.partition.component.n_slots, self.partition.n_rows
        shape = (n_slots, min(N_SPLIT_SEEDS, n_rows), 2)
        n_threads = self.problem.n_threads
        splits = inference.split(self.partition, rng.random(shape), n_threads)
        self._record("split", splits)
        if merges or splits or self.stop.is_set():
            return True  # a stop ends the sweeps that follow
        neighbours = (n_slots, N_NEIGHBOURS, N_EXCHANGE_SEEDS, 2)
        exchanges = inference.exchange(self.partition, rng.random(neighbours), n_threads)
        self._record("exchange", exchanges)
        return exchanges > 0

    def _free(self, rng: np.random.Generator) -> bool:
        """Keep what the first attempt that helps brings; whether that is worth to go on."""
        if part_normal(self.partition) == 1.0:
            self._record("free", 0)
            return False
        order = self._order(self._step())
        some, in_vain = self._some(order), 0
        for attempt in self._attempts(some, order, rng):
            gain = self._keep_if_better(attempt, some)
            if gain is not None:
                return gain > self.problem.worthwhile(self.partition.n_rows)
            change = abs(attempt.partition.neg_log_joint - some.neg_log_joint)
            in_vain = in_vain + 1 if change <= some.least_gain else 0
            if in_vain == IN_VAIN:
                break
        self._record("free", 0)
        return False

    def _attempts(
        self, some: models.Partition, order: Labels, rng: np.random.Generator
    ) -> Iterator[Attempt]:
        """Attempts one after the other, found as many at a time as there are threads."""
        costs = np.empty(some.n_rows)
        inference.own_costs(some, costs)
        n_threads, seeds = self.problem.n_threads, rng.integers(2**63, size=ATTEMPTS).tolist()
        for first in range(0, ATTEMPTS, n_threads):
            if self.stop.is_set():
                break
            yield from on_threads(
                lambda seed: self._attempt(some, order, costs, np.random.default_rng(seed)),
                seeds[first : first + n_threads],
                n_threads,
                self.stop,
            )

    def _keep_if_better(self, attempt: Attempt, some: models.Partition) -> float | None:
        """The gain in the joint of all rows, if an attempt on `some` brings one."""
        self._count(attempt)
        if some is not self.partition:
            if not self._helps(attempt, some) or self.stop.is_set():
                return None
            attempt = attempt.of_all or self._extended(attempt.partition, self.problem.n_threads)
            self._count(attempt)
        gain = self.partition.neg_log_joint - attempt.partition.neg_log_joint
        if gain <= self.partition.least_gain:
            return None
        self.partition = attempt.partition
        self._record("free", 1)
        return gain

    def _count(self, attempt: Attempt) -> None:
        self.n_sweeps_aside += attempt.n_sweeps
        self.n_emptied += attempt.n_emptied

    def _some(self, order: Labels) -> models.Partition:
        """What becomes of every so many-th row by itself; the partition, if that is all rows."""
        if self._step() == 1:
            return self.partition
        labels = np.asarray(self.partition.labels, dtype=np.intp)[:: self._step()].copy()
        some = self.problem.partition(labels, order, homes_of(self.partition))
        self.n_sweeps_aside += sweep_and_merge(some, self.max_sweeps, self.stop)
        return some

    def _step(self) -> int:
        return -(-self.partition.n_rows // FREE_ROWS)

    def _order(self, step: int = 1) -> Labels:
        """Every so many-th row, in the order of visits."""
        if self.order is None:
            return np.arange(0, self.partition.n_rows, step, dtype=np.intp)
        return np.ascontiguousarray(self.order[::step])

    def _attempt(
        self,
        some: models.Partition,
        order: Labels,
        costs: npt.NDArray[np.float64],
        rng: np.random.Generator,
    ) -> Attempt:
        """What freed rows bring `some`; and all rows, if it helps and they are few."""
        attempt = self._freed(some, order, costs, rng)
        at_once = some is not self.partition and self.partition.n_rows <= EXTEND_AT_ONCE
        if at_once and self._helps(attempt, some) and not self.stop.is_set():
            attempt.of_all = self._extended(attempt.partition, 1)
        return attempt

    def _helps(self, attempt: Attempt, some: models.Partition) -> bool:
        gain: float = some.neg_log_joint - attempt.partition.neg_log_joint
        return gain > self.problem.worthwhile(some.n_rows)

    def _freed(
        self,
        partition: models.Partition,
        order: Labels,
        costs: npt.NDArray[np.float64],
        rng: np.random.Generator,
    ) -> Attempt:
        """What comes of it when the rows that fit worst may found clusters, joined with the old."""
        labels = np.array(partition.labels, dtype=np.intp)
        part = LEAST_FREED * (MOST_FREED / LEAST_FREED) ** rng.random()
        n_freed = max(1, int(part * len(labels)))
        n_seeds = SEEDS_IF_NONE + int(part * (SEEDS_IF_ALL - SEEDS_IF_NONE))
        worst = greatest(costs, n_freed, partition.least_gain)
        seeds = rng.choice(worst, min(n_seeds, n_freed), replace=False)
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
        """A short descent from other labels, recombined with those of `partition`."""
        now = np.array(partition.labels, dtype=np.intp)
        other = self.problem.partition(labels, order, homes)
        inference.sweep(other, n_threads)
        inference.merge(other)
        n_sweeps = 1 + sweep_and_merge(other, FREED_SWEEPS, self.stop, n_threads)
        both_homes = homes_of(partition), homes_of(other)
        found = self.problem.recombined(now, np.asarray(other.labels), order, both_homes)
        n_sweeps += sweep_and_merge(found, self.max_sweeps, self.stop, n_threads)
        return Attempt(found, n_sweeps, other.n_emptied + found.n_emptied)

    def _record(self, step: str, count: int) -> None:
        joint = self.partition.neg_log_joint
        if step in ("start", "sweep") or count:
            self.trace.append(joint)
        if self.verbose:
            print_step(self.name, step, count, self.partition.n_clusters, joint)


def homes_of(partition: models.Partition) -> Labels:
    """Slots of the settled groups."""
    return np.array(partition.homes, dtype=np.intp)


def greatest(costs: npt.NDArray[np.float64], n: int, slack: float) -> Labels:
    """Positions of the `n` greatest costs, ascending; the first of those within `slack`.

    So neither rounding nor the order of a partial sort, which differs between processors, counts.
    """
    cut = np.partition(costs, len(costs) - n)[len(costs) - n]
    above, below = costs > cut + slack, costs < cut - slack
    tied = np.flatnonzero(~(above | below))
    return np.sort(np.concatenate([np.flatnonzero(above), tied[: n - int(above.sum())]]))


def print_step(name: str, step: str, count: int, n_clusters: int, neg_log_joint: float) -> None:
    """Print a line of `verbose`."""
    print(
        f"{name:<12} {step:<9} {count:>8}   clusters {n_clusters:>6}"
        f"   neg_log_joint {neg_log_joint:.4f}",
        flush=True,
    )
