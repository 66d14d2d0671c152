"""Where `MAPDPM` starts to climb from.

The default start is made of many. Descents from random seeds end in different local optima, which
are right in different places. The common refinement of two of them, rows being together that are
together in both, is a partition whose parts are mostly pure: merging its clusters while that helps,
which needs their statistics alone, takes what is best of both. It is made of a sample; before all
rows of a large table join it, a larger sample does, and climbs by itself.
"""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import inference
from dpmlite._threads import as_needed
from dpmlite.estimators.climb import N_SPLIT_SEEDS, Climb, print_step
from dpmlite.estimators.problem import (
    UNPLACED,
    Falling,
    first_of_best,
    part_normal,
    sweep_and_merge,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from threading import Event

    from dpmlite import models
    from dpmlite.estimators.problem import (
        Labels,
        Problem,
    )

# Rows that a descent starts from, each as a cluster: more than there are clusters in most tables,
# for those that belong together are merged. Where hundreds of clusters have a few rows each,
# `init="singletons"` finds more of them, and sooner. Every second descent begins with cells around
# fewer seeds: it finds what the others miss, which begin with rows that join one by one.
N_SEEDS = 128
N_CELLS = 32

# Sweeps of a descent between two merges, at most. Its end need not be an optimum: what comes of it
# by recombination is.
DESCENT_SWEEPS = 4

# Descents in a row that may improve little before the search for a start ends: with many columns
# a row hardly ever leaves its cluster on its own, and there is more to be gained by recombination.
PATIENCE = 2
PATIENCE_PER_COLUMN = 3
MOST_PATIENCE = 30
MOST_DESCENTS = 60

# Where the table is larger than the sample, fewer descents do: splits find what is missing sooner.
SAMPLE_PATIENCE = 3

# Where a larger sample comes next, which splits wait for, at least so many descents are made, that
# threads share as they hardly can splits of one cluster; more while the last improves much.
FIRST_SAMPLE_DESCENTS = 8
FIRST_SAMPLE_PATIENCE = 1

# If so many clusters of the sample look normal, it has told what it can: more rows tell the rest.
MOST_NORMAL = 0.9

# Where a partition is to be made better, so many descents gain most of what there is to be gained.
IMPROVING_DESCENTS = 4

# Starts are found on so many rows at most, drawn at random: the others join them then.
SAMPLE_ROWS = 2000

# Between the sample and a much larger table come samples of every so many-th of the rows, each from
# what was found for the smaller one: most of the moves are made where they cost little.
SAMPLE_RATIO = 16

# What moves between these samples' clusters will move again with all rows: such a part of the rows
# is few enough to go on from sweeps to whole clusters.
FEW_MOVES_OF_SAMPLE = 1e-2

# From singletons the first sweep costs N x N scores, and statistics need N times D numbers: larger
# tables start with one pass instead.
SINGLETONS_AT_MOST = 2000
SINGLETON_CELLS_AT_MOST = 2_000_000


@dataclass(eq=False, repr=False)
class Found:
    """Labels of some rows, their joint, and what it took to find them.

    If clusters look normal, there is nothing more to be found; None is not to know yet.
    """

    neg_log_joint: float
    labels: Labels
    n_sweeps: int
    n_emptied: int
    is_normal: bool | None = None


@dataclass(eq=False, repr=False)
class Seeds:
    """The sample in random order, and how many rows at its start are seeds: of cells, or alone."""

    order: Labels
    n_seeds: int
    of_cells: bool


@dataclass(eq=False, repr=False)
class Recombination:
    """A start made of descents from random seeds, each recombined with the best so far.

    Attributes
    ----------
    problem : Problem
    rng : Generator
    max_sweeps : int
        Sweeps between two merges, at most.
    verbose : bool
        Print a line for every descent.
    stop : Event
        Ends the search between two descents when set.
    n_sweeps, n_emptied : int
        Sweeps done, and how many times a cluster lost its last row in them.
    """

    problem: Problem
    rng: np.random.Generator
    max_sweeps: int
    verbose: bool
    stop: Event
    n_sweeps: int = 0
    n_emptied: int = 0
    sample: Labels = field(init=False)
    sampled: Problem = field(init=False)

    def __post_init__(self) -> None:
        n_rows = len(self.problem.rows)
        size = min(n_rows, SAMPLE_ROWS)
        rows = self.rng.choice(n_rows, size, replace=False, shuffle=False)
        self.sample = np.sort(rows).astype(np.intp)
        self.sampled = self.problem.of_rows(self.sample)

    @property
    def is_of_all(self) -> bool:
        """Whether all rows are in the sample."""
        return len(self.sample) == len(self.problem.rows)

    def run(self) -> Labels:
        """Labels of all rows: those outside the last sample join its clusters, or get -1."""
        found = self.sampled.partition(self._best().labels)
        n_rows, sample = len(self.problem.rows), self.sample
        for size in sizes_between(len(sample), n_rows):
            sample = one_of_each_stretch(n_rows, size, self.rng)
            sampled = self.problem.of_rows(sample)
            found = self._climbed(sampled, self._joined(found, sampled))
        if self.is_of_all:
            return np.asarray(found.labels, dtype=np.intp)
        labels = self._joined(found, self.problem)
        labels[sample] = np.asarray(found.labels)
        return labels

    def improved(self, labels: Labels) -> Labels:
        """Labels of all rows, none of them outside the sample, made of these and some descents."""
        present = self.sampled.partition(labels)
        best = self._optimum(present)
        with closing(self._descents([True] * IMPROVING_DESCENTS)) as descents:
            for number, other in enumerate(descents, start=1):
                best = self._better(best, other, present.least_gain)
                self._report(number, best)
        return best.labels

    def counted(self, climb: Climb) -> Climb:
        """The climb that came after; sweeps are of all rows, so those of a mere sample are not."""
        if self.is_of_all:
            climb.n_sweeps_aside += self.n_sweeps
            climb.n_emptied += self.n_emptied
        return climb

    def _joined(self, found: models.Partition, problem: Problem) -> Labels:
        """Labels of all rows of a problem: the clusters that they would join, -1 if none."""
        labels = np.empty(len(problem.rows), dtype=np.intp)
        inference.assign(problem.rows, found.component, problem.alpha, labels, problem.n_threads)
        return labels

    def _climbed(self, sampled: Problem, labels: Labels) -> models.Partition:
        """What becomes of a sample by itself."""
        partition = sampled.partition(labels)
        climb = Climb(sampled, partition, None, self.max_sweeps, self.verbose, self.stop, "sample")
        climb.run(self.rng, split_merge=True, few=FEW_MOVES_OF_SAMPLE)
        return climb.partition

    def _best(self) -> Found:
        patience = self._patience()
        single = self.sampled.partition(np.zeros(len(self.sample), dtype=np.intp))
        best, failures, n_descents = self._optimum(single), 0, 0
        worthwhile = self.sampled.worthwhile(len(self.sample))
        while (
            failures < patience
            and n_descents < MOST_DESCENTS
            and not best.is_normal
            and not self.stop.is_set()
        ):
            n_known = n_descents + self._n_sure(n_descents, failures)
            of_cells = [number % 2 == 0 for number in range(n_descents, n_known)]
            with closing(self._descents(of_cells)) as descents:
                for other in descents:
                    n_descents += 1
                    better = self._better(best, other, single.least_gain)
                    gain = best.neg_log_joint - better.neg_log_joint
                    failures = 0 if gain > worthwhile else failures + 1
                    best = better if better.is_normal is not None else self._divided(better)
                    self._report(n_descents, best)
                    if best.is_normal:
                        break
        return best

    def _n_sure(self, n_descents: int, failures: int) -> int:
        """Descents that will be made whatever they find. Of a mere sample the first may be all."""
        if n_descents == 0 and self._grows():
            return FIRST_SAMPLE_DESCENTS
        if n_descents == 0 and not self.is_of_all:
            return 1
        return min(self._patience() - failures, MOST_DESCENTS - n_descents)

    def _divided(self, found: Found) -> Found:
        """What splits make of it; and whether clusters look normal.

        Splits find what the next of many descents would. These find more, so that there are no
        splits where all rows are in the sample; nor where those of a larger sample come next.
        """
        if self._grows():
            return found
        partition = self.sampled.partition(found.labels.copy())
        if self.is_of_all:
            found.is_normal = inference.all_look_normal(partition)
            return found
        n_sweeps, falls = 0, Falling()
        while falls(partition) and self._split(partition) and not self.stop.is_set():
            n_sweeps += sweep_and_merge(partition, self.max_sweeps, self.stop)
        labels, is_normal = np.asarray(partition.labels), part_normal(partition) >= MOST_NORMAL
        emptied = partition.n_emptied
        divided = Found(partition.neg_log_joint, labels, n_sweeps, emptied, is_normal)
        self._count(divided)
        return divided

    def _split(self, partition: models.Partition) -> bool:
        uniforms = self.rng.random((partition.component.n_slots, N_SPLIT_SEEDS, 2))
        return inference.split(partition, uniforms) > 0  # of so few rows that threads take longer

    def _patience(self) -> int:
        if self._grows():
            return FIRST_SAMPLE_PATIENCE
        if not self.is_of_all:
            return SAMPLE_PATIENCE
        patience = PATIENCE + PATIENCE_PER_COLUMN * self.problem.component.n_columns
        return min(patience, MOST_PATIENCE)

    def _grows(self) -> bool:
        """Whether a larger sample comes next."""
        return bool(sizes_between(len(self.sample), len(self.problem.rows)))

    def _descents(self, of_cells: Sequence[bool]) -> Generator[Found]:
        """Descents in turn, with threads in advance. What is drawn does not depend on it."""
        n_threads = self.problem.n_threads
        # Of its own, for it is not known how many of these descents are made.
        rng = np.random.default_rng(self.rng.integers(2**63))
        size = 1 if n_threads == 1 else len(of_cells)
        for first in range(0, len(of_cells), size):
            if self.stop.is_set():
                break
            seeds = [self._seeds(each, rng) for each in of_cells[first : first + size]]
            with closing(as_needed(self._descent, seeds, n_threads, self.stop)) as descents:
                for found in descents:
                    self._count(found)
                    yield found

    def _seeds(self, of_cells: bool, rng: np.random.Generator) -> Seeds:
        """Random ones."""
        n_rows = len(self.sample)
        most = min(N_CELLS if of_cells else N_SEEDS, n_rows)
        n_seeds = min(most, int(rng.integers(1, n_rows + 1)))  # few rows: of all numbers
        return Seeds(rng.permutation(n_rows), n_seeds, of_cells)

    def _descent(self, seeds: Seeds) -> Found:
        """From random rows as clusters."""
        clusters = self.sampled.partition(np.arange(seeds.n_seeds), seeds.order[: seeds.n_seeds])
        join = self._join_at_once if seeds.of_cells else self._join_in_turn
        partition, n_sweeps = join(clusters, seeds.order)
        inference.merge(partition)
        n_sweeps += sweep_and_merge(partition, DESCENT_SWEEPS, self.stop)
        labels = np.empty_like(seeds.order)
        labels[seeds.order] = np.asarray(partition.labels)
        return Found(partition.neg_log_joint, labels, n_sweeps, partition.n_emptied)

    def _join_in_turn(self, seeds: models.Partition, order: Labels) -> tuple[models.Partition, int]:
        """The others join the clusters of the seeds one by one; with the number of sweeps."""
        inference.sweep(seeds)  # by themselves: the others have fewer clusters to choose from then
        labels = np.full(len(order), UNPLACED, dtype=np.intp)
        labels[: seeds.n_rows] = np.asarray(seeds.labels)
        partition = self.sampled.partition(labels, order)
        inference.sweep(partition)
        return partition, 2

    def _join_at_once(self, seeds: models.Partition, order: Labels) -> tuple[models.Partition, int]:
        """Each of the others joins the seed that predicts it best by itself."""
        problem = self.sampled
        labels = np.empty(len(order), dtype=np.intp)
        inference.assign(problem.rows, seeds.component, problem.alpha, labels, rows=order)
        labels[: seeds.n_rows] = np.asarray(seeds.labels)
        return problem.partition(labels, order), 0

    def _better(self, one: Found, other: Found, slack: float) -> Found:
        """The best of two and of what comes of both; the first of equals."""
        both = self._optimum(self.sampled.recombined(one.labels, other.labels))
        found = one, other, both
        return found[first_of_best([each.neg_log_joint for each in found], slack)]

    def _optimum(self, partition: models.Partition) -> Found:
        n_sweeps = sweep_and_merge(partition, self.max_sweeps, self.stop)
        labels = np.asarray(partition.labels)
        found = Found(partition.neg_log_joint, labels, n_sweeps, partition.n_emptied)
        self._count(found)
        return found

    def _count(self, found: Found) -> None:
        self.n_sweeps += found.n_sweeps
        self.n_emptied += found.n_emptied

    def _report(self, number: int, best: Found) -> None:
        if self.verbose:
            n_clusters = int(best.labels.max()) + 1
            print_step(f"start {number}", "descent", self.n_sweeps, n_clusters, best.neg_log_joint)


def sizes_between(few: int, many: int) -> list[int]:
    """Sizes of samples between two, ascending: each a part of the next, the last of all rows."""
    sizes: list[int] = []
    while many >= few * SAMPLE_RATIO**2:
        many //= SAMPLE_RATIO
        sizes.insert(0, many)
    return sizes


def one_of_each_stretch(n_rows: int, size: int, rng: np.random.Generator) -> Labels:
    """So many rows, ascending: a random one of each of as many stretches of about equal length.

    To draw any of all rows takes memory for all rows.
    """
    ends = np.arange(size + 1) * n_rows // size
    return np.asarray(ends[:-1] + rng.random(size) * np.diff(ends), dtype=np.intp)


def simple_starts(init: str, restart: int, n_rows: int, n_columns: int) -> list[str]:
    """Names of the starts of one restart without recombination; the best of their ends counts."""
    if init != "auto":
        return ["shuffled" if init == "sequential" and restart else init]
    if restart:
        return ["random" if restart % 2 else "shuffled"]
    small = n_rows <= SINGLETONS_AT_MOST and n_rows * n_columns <= SINGLETON_CELLS_AT_MOST
    return ["single", "singletons" if small else "sequential"]


def start_labels(
    name: str, n_rows: int, alpha: float, rng: np.random.Generator
) -> tuple[Labels, Labels | None]:
    """Labels to start from, and the order of visits if it is not 0..N-1.

    "single" is one cluster, "singletons" one for each row; "sequential" places row after row,
    "shuffled" does so in random order; "random" draws labels of about twice as many clusters
    as the prior expects.
    """
    if name == "single":
        return np.zeros(n_rows, dtype=np.intp), None
    if name == "singletons":
        return np.arange(n_rows, dtype=np.intp), None
    if name == "sequential":
        return np.full(n_rows, UNPLACED, dtype=np.intp), None
    if name == "shuffled":
        return np.full(n_rows, UNPLACED, dtype=np.intp), rng.permutation(n_rows).astype(np.intp)
    expected = alpha * math.log1p(n_rows / alpha)
    n_clusters = min(max(2, round(2.0 * expected)), n_rows)
    return rng.integers(n_clusters, size=n_rows).astype(np.intp), None
