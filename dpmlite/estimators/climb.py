"""The descent of `MAPDPM` in its objective: which moves, in which order.

It draws the random numbers; the moves themselves are in `dpmlite.inference`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import inference
from dpmlite.estimators.freeing import Freeing
from dpmlite.estimators.problem import Falling, homes_of, rows_in_slots, sweep

if TYPE_CHECKING:
    from threading import Event

    from dpmlite import models
    from dpmlite.estimators.problem import Labels, Problem

# Proposals of a pass: pairs of seeds for each cluster that may be split; of exchanges, neighbours
# of each cluster and pairs of seeds for each of them. `asv_benchmarks/benchmarks/search.py` shows
# what others cost and gain.
N_SPLIT_SEEDS = 1
N_NEIGHBOURS = 2
N_EXCHANGE_SEEDS = 1

# While whole clusters move, the sweeps between need not end at a fixed point: only until no more
# than this part of the rows moves. It says something for more than 1,000 rows.
FEW_MOVES = 1e-3

# Clusters that have more rows than this, and do not look normal, are tried to be split until that
# was in vain twice in turn: what one pair of seeds misses in them may be worth a lot.
LARGE = 200


@dataclass(eq=False, repr=False)
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

    def run(
        self,
        rng: np.random.Generator,
        split_merge: bool,
        frees: bool = True,
        few: float = FEW_MOVES,
    ) -> None:
        """Sweep until nothing moves; then move clusters, and free rows, until nothing helps.

        Between such moves sweep until no more than the part `few` of the rows moves.
        """
        if rows_in_slots(self.partition).sum() == self.partition.n_rows:
            self._record("start", self.partition.n_clusters)
        falls = Falling()
        while (
            self._sweep(few if split_merge else 0.0)
            and split_merge
            and falls(self.partition)
            and (self._move_clusters(rng) or (frees and self._free(rng)) or self._split_large(rng))
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
            moves = sweep(self.partition, self.problem.n_threads)
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
        splits = self._split(rng)
        if merges or splits or self.stop.is_set():
            return True  # a stop ends the sweeps that follow
        return self._exchange(rng) > 0

    def _exchange(self, rng: np.random.Generator) -> int:
        shape = (self.partition.component.n_slots, N_NEIGHBOURS, N_EXCHANGE_SEEDS, 2)
        exchanges: int = inference.exchange(
            self.partition, rng.random(shape), self.problem.n_threads
        )
        self._record("exchange", exchanges)
        return exchanges

    def _split(self, rng: np.random.Generator, thorough: bool = False) -> int:
        shape = (self.partition.component.n_slots, min(N_SPLIT_SEEDS, self.partition.n_rows), 2)
        uniforms = rng.random(shape)
        splits = inference.split(self.partition, uniforms, self.problem.n_threads, thorough)
        self._record("split", splits)
        return splits

    def _split_large(self, rng: np.random.Generator) -> bool:
        """Whether other seeds split large clusters, which all moves have left as they are.

        They did not look normal when they were tried before. Thoroughly: a wide prior hides in a
        few of their rows what all of them tell, and most of all what they tell in the order of a
        column, along which clusters lie side by side.
        """
        slots = zip(self.partition.sizes, self.partition.normal, strict=True)
        large = [k for k, (size, normal) in enumerate(slots) if size > LARGE and not normal]
        for k in large:
            self.partition.mark_changed(k)
        return bool(large) and self._split(rng, thorough=True) > 0

    def _free(self, rng: np.random.Generator) -> bool:
        """Free rows of clusters that do not look normal; whether it is worth to go on."""
        joint, normal = self.partition.neg_log_joint, self.partition.normal
        n_rows = rows_in_slots(self.partition).tolist()
        slots = [k for k, n in enumerate(n_rows) if n and not normal[k]]
        if len(slots) == self.partition.n_clusters:
            found = self._after_freeing(self.problem, self.partition, self.order, rng)
            self.partition = found or self.partition
        elif slots:
            self._free_some(slots, rng)
        gain = joint - self.partition.neg_log_joint
        self._record("free", int(gain > 0.0))
        return gain > self.problem.worthwhile(self.partition.n_rows)

    def _free_some(self, slots: list[int], rng: np.random.Generator) -> None:
        """The same of the rows of some slots alone: what becomes of them takes their place."""
        now, homes = np.asarray(self.partition.labels), homes_of(self.partition)
        number = np.full(self.partition.component.n_slots, -1)
        number[slots] = np.arange(len(slots))
        groups = np.flatnonzero(number[homes] >= 0)
        members = np.asarray(inference.members_of(self.partition, slots), dtype=np.intp)
        rows = np.asarray(self.partition.rows_of(members), dtype=np.intp)
        problem = self.problem.of_groups(groups)
        some = problem.partition(number[now[members]], rows, number[homes[groups]])
        found = self._after_freeing(problem, some, rows, rng)
        if found is not None:
            gain = some.neg_log_joint - found.neg_log_joint
            self.partition.replace(slots, members, found, -gain)
            self.partition.tidy()

    def _after_freeing(
        self,
        problem: Problem,
        partition: models.Partition,
        order: Labels | None,
        rng: np.random.Generator,
    ) -> models.Partition | None:
        freeing = Freeing(problem, partition, order, self.max_sweeps, self.stop)
        found = freeing.run(rng)
        self.n_sweeps_aside += freeing.n_sweeps
        self.n_emptied += freeing.n_emptied
        return found

    def _record(self, step: str, count: int) -> None:
        joint = self.partition.neg_log_joint
        if step in ("start", "sweep") or count:
            self.trace.append(joint)
        if self.verbose:
            print_step(self.name, step, count, self.partition.n_clusters, joint)


def print_step(name: str, step: str, count: int, n_clusters: int, neg_log_joint: float) -> None:
    """Print a line of `verbose`."""
    print(
        f"{name:<12} {step:<9} {count:>8}   clusters {n_clusters:>6}"
        f"   neg_log_joint {neg_log_joint:.4f}",
        flush=True,
    )
