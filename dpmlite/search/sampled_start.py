"""The default start of `MAPDPM`: partition crossovers of descents on a sample of the rows.

Each descent from random seeds is crossed over with the best partition so far. Before all rows of a
large table join its clusters, larger samples do, and descend by themselves.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import moves, sweeps
from dpmlite.core.threads import iterate_on_threads, thread_limit
from dpmlite.search.context import normal_fraction
from dpmlite.search.descent import descend
from dpmlite.search.merge_and_split import split
from dpmlite.search.partition_crossover import cross_over
from dpmlite.search.result import SearchResult, best_of, tell_step
from dpmlite.search.samples import first_sample, one_of_each_stretch, sizes_between
from dpmlite.search.seeded_descents import descend_from_seeds, draw_seeds
from dpmlite.search.sweeps import JointFalls, sweep_and_merge

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from dpmlite.partition import Partition
    from dpmlite.search.context import Context, Labels, Problem

# Descents in a row that may gain little before the start ends, where all rows are in the sample.
# With many columns a row hardly ever leaves its cluster alone, and crossovers gain more.
MAX_FAILURES = 2
MAX_FAILURES_PER_COLUMN = 3
MOST_FAILURES = 30
MAX_DESCENTS = 60

# Cells times clusters of descents in a row that may gain little, where these exceed MAX_FAILURES.
# With hundreds of clusters a descent takes seconds; the moves that follow find more in less.
MAX_FUTILE_TERMS = 6e8

# Where the table is larger than the sample: splits find what is missing sooner than descents do.
SAMPLE_MAX_FAILURES = 3

# Where labels only serve to choose hyperparameters, many moves follow.
QUICK_MAX_FAILURES = 2

# Where a larger sample comes next, splits wait for it. Threads share the first descents, which are
# always made, better than splits of one cluster.
GROWING_MAX_FAILURES = 1
GROWING_DESCENTS = 8

# If this fraction of the clusters of the sample looks normal, only more rows can tell more.
ENOUGH_NORMAL_FRACTION = 0.9

# Descents with which given labels are crossed over: more gain little.
IMPROVING_DESCENTS = 4

# Rows that move in the sweeps of a larger sample will move again with all rows: a fraction at
# which its descent goes on to other moves.
SAMPLE_MAX_MOVED_FRACTION = 1e-2


class SampledStart:
    """A start by partition crossovers on a sample, which is all rows of a small table.

    Parameters
    ----------
    context : Context
        Of all rows.

    Attributes
    ----------
    sample : ndarray of int
        Rows of the first sample, ascending.
    is_of_all : bool
        Whether all rows are in it.
    n_sweeps, n_emptied : int
        Sweeps of the sample, and how many times a cluster lost its last row in them.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.n_rows = len(context.problem.rows)
        self.sample = first_sample(self.n_rows, context.rng)
        self.is_of_all = len(self.sample) == self.n_rows
        self.larger = sizes_between(len(self.sample), self.n_rows)
        self.sampled = context.of_rows(self.sample)
        self.n_sweeps = self.n_emptied = 0

    def run(self) -> Labels:
        """Labels of all rows: those outside the last sample join its clusters, or get -1."""
        single = self.sampled.partition(np.zeros(len(self.sample), dtype=np.intp))
        best = self._count(sweep_and_merge(self.sampled, single))
        found, rows = self.sampled.partition(self._crossed_over(best).labels()), self.sample
        for size in self.larger:
            rows = one_of_each_stretch(self.n_rows, size, self.context.rng)
            context = self.context.of_rows(rows)
            start = SearchResult(context.partition(joined(context, found)), name="sample")
            found = descend(context, start, SAMPLE_MAX_MOVED_FRACTION).partition
        if self.is_of_all:
            return np.asarray(found.labels, dtype=np.intp)
        labels = joined(self.context, found)
        labels[rows] = np.asarray(found.labels)
        return labels

    def improve(self, labels: Labels) -> Labels:
        """Labels of all rows, which are the sample: these, crossed over with a few descents."""
        best = self._count(sweep_and_merge(self.sampled, self.sampled.partition(labels)))
        with closing(self._descents([True] * IMPROVING_DESCENTS)) as descents:
            for number, other in enumerate(descents, start=1):
                best = self._better(best, other)
                self._tell(number, best)
        return best.labels()

    def counted(self, result: SearchResult) -> SearchResult:
        """A result of all rows, with the sweeps of this start if its sample had all rows."""
        if self.is_of_all:
            result.n_sweeps += self.n_sweeps
            result.n_emptied += self.n_emptied
        return result

    def _crossed_over(self, best: SearchResult) -> SearchResult:
        """The best crossover of a result with descents, which are made until they gain little.

        One is made even after a stop: a start with one cluster is none.
        """
        failures = Failures(self.sampled.problem, self._max_failures())
        examined, all_normal, n_descents = None, False, 0
        while (
            not failures.suffice()
            and n_descents < MAX_DESCENTS
            and not all_normal
            and not (n_descents and self._ends(best))  # one is made: one cluster is no start
        ):
            n_known = n_descents + self._n_certain(n_descents, failures.n)
            nearest = [number % 2 == 0 for number in range(n_descents, n_known)]
            with closing(self._descents(nearest)) as descents:
                for other in descents:
                    n_descents += 1
                    better = self._better(best, other)
                    failures.count(best.neg_log_joint - better.neg_log_joint, other)
                    best = better
                    if best is not examined and not self.larger:
                        best, all_normal = self._examined(best)
                        examined = best
                    self._tell(n_descents, best)
                    if all_normal or failures.suffice():
                        break
        return best

    def _ends(self, best: SearchResult) -> bool:
        """Whether no more descents are made, whatever the last ones gained."""
        return self.context.stop.is_set() or self.sampled.cuts_short(best.partition.n_clusters)

    def _max_failures(self) -> int:
        """Descents in a row that may gain little."""
        if self.context.quick:
            return QUICK_MAX_FAILURES
        if self.larger:
            return GROWING_MAX_FAILURES
        if not self.is_of_all:
            return SAMPLE_MAX_FAILURES
        n_columns = self.context.problem.component.n_columns
        return min(MAX_FAILURES + MAX_FAILURES_PER_COLUMN * n_columns, MOST_FAILURES)

    def _n_certain(self, n_descents: int, n_failures: int) -> int:
        """Descents that will be made whatever they find."""
        if n_descents == 0 and self.larger:
            return GROWING_DESCENTS
        if n_descents == 0 and not self.is_of_all:
            return 1
        return min(self._max_failures() - n_failures, MAX_DESCENTS - n_descents)

    def _descents(self, nearest: Sequence[bool]) -> Generator[SearchResult]:
        """Descents in turn, made in advance by threads. What is drawn does not depend on these."""
        n_rows = len(self.sample)
        # A stream of its own: how many of these descents will be made is not known.
        rng = np.random.default_rng(self.context.rng.integers(2**63))
        size = 1 if thread_limit() == 1 else len(nearest)
        for first in range(0, len(nearest), size):
            if first and self.context.stop.is_set():
                break
            seeds = [draw_seeds(n_rows, each, rng) for each in nearest[first : first + size]]
            descend_from = partial(descend_from_seeds, self.sampled)
            with closing(iterate_on_threads(descend_from, seeds, self.context.stop)) as results:
                for result in results:
                    yield self._count(result)

    def _better(self, one: SearchResult, other: SearchResult) -> SearchResult:
        """The best of two results and of their crossover."""
        both = cross_over(self.sampled, one.labels(), other.labels())
        return best_of([one, other, self._count(sweep_and_merge(self.sampled, both))])

    def _examined(self, result: SearchResult) -> tuple[SearchResult, bool]:
        """A result after splits, and whether enough clusters look normal to end the start.

        Where all rows are in the sample, descents find more than splits, so that none are tried.
        """
        partition = self.sampled.partition(result.labels().copy())
        if self.is_of_all:
            return result, moves.all_look_normal(partition)
        n_sweeps, falls, stop = 0, JointFalls(), self.context.stop
        while falls(partition) and split(self.sampled, partition) and not stop.is_set():
            n_sweeps += sweep_and_merge(self.sampled, partition).n_sweeps
        swept = SearchResult(partition, n_sweeps=n_sweeps, n_emptied=partition.n_emptied)
        return self._count(swept), normal_fraction(partition) >= ENOUGH_NORMAL_FRACTION

    def _count(self, result: SearchResult) -> SearchResult:
        self.n_sweeps += result.n_sweeps
        self.n_emptied += result.n_emptied
        return result

    def _tell(self, number: int, best: SearchResult) -> None:
        name = f"start {number}"
        tell_step(self.context.progress, name, "descent", self.n_sweeps, best.partition)


class Failures:
    """Descents in a row that gained little, and what they cost.

    Parameters
    ----------
    problem : Problem
    most : int
        Number that ends a start.

    Attributes
    ----------
    n : int
        Descents.
    """

    def __init__(self, problem: Problem, most: int) -> None:
        self.worthwhile_gain = problem.worthwhile_gain(len(problem.rows))
        self.n_cells, self.most = problem.rows.n_cells, most
        self.n = self.n_terms = 0

    def count(self, gain: float, descent: SearchResult) -> None:
        """Count a descent, from which the best partition so far gained this."""
        if gain > self.worthwhile_gain:
            self.n = self.n_terms = 0
        else:
            self.n += 1
            self.n_terms += self.n_cells * descent.partition.n_clusters

    def suffice(self) -> bool:
        """Whether to make no more: they are many, or some and costly."""
        costly = self.n > MAX_FAILURES and self.n_terms > MAX_FUTILE_TERMS
        return self.n >= self.most or costly


def joined(context: Context, found: Partition) -> Labels:
    """Labels of all rows of a context: the clusters that they would join, -1 if none."""
    problem, labels = context.problem, np.empty(len(context.problem.rows), dtype=np.intp)
    alpha, discount = problem.coarsened_alpha, problem.discount
    sweeps.assign(problem.rows, found.component, alpha, labels, discount=discount)
    return labels
