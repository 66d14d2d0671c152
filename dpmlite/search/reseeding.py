"""The move that reseeds rows: those that fit worst may found new clusters.

A random fraction of the rows, those that fit their clusters worst, loses its labels. Some of them
are seeds of new clusters; the others join these or the old ones. After a short descent the
partition is crossed over with what it was before. Only rows of clusters that do not look normal
are reseeded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import moves, sweeps
from dpmlite.core.constants import MIN_TRIAL_POWER, UNPLACED
from dpmlite.core.threads import on_threads, thread_limit
from dpmlite.search.context import labels_of_groups, rows_in_slots
from dpmlite.search.partition_crossover import descend_and_cross_over
from dpmlite.search.row_costs import RowCosts, drawn
from dpmlite.search.sweeps import sweep_and_merge

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dpmlite.partition import Partition
    from dpmlite.search.context import Context, Labels
    from dpmlite.search.result import SearchResult

# Attempts at most, and how many in a row may end where they began.
MAX_ATTEMPTS = 6
MAX_FAILURES = 2

# The fraction of the rows is drawn for each attempt, log-uniformly; it sets the number of seeds.
MIN_FRACTION, MAX_FRACTION = 0.1, 0.6
SEEDS_OF_NO_ROWS, SEEDS_OF_ALL_ROWS = 16, 116

# Attempts are made on this many rows at most, evenly spread; all rows follow what helped there.
MAX_TRIAL_ROWS = 10_000

# Sweeps of such an attempt, and of all rows that follow it, end when at most this fraction of the
# rows moves: a descent goes on from there. Few rows are swept to a fixed point.
MAX_MOVED_FRACTION = 1e-2


def reseed_rows(context: Context, result: SearchResult) -> bool:
    """Reseed rows of clusters that do not look normal; whether that gains enough to go on."""
    if context.cuts_short(result.partition.n_clusters):
        return False
    joint = result.neg_log_joint
    normal = moves.split_memory_of(result.partition).looked_normal
    n_rows = rows_in_slots(result.partition).tolist()
    slots = [k for k, n in enumerate(n_rows) if n and not normal[k]]
    if len(slots) == result.partition.n_clusters:
        reseeding = Reseeding(context, result.partition, result.order, result)
        result.partition = reseeding.run() or result.partition
    elif slots:
        reseed_slots(context, result, slots)
    gain = joint - result.neg_log_joint
    result.record("reseed", int(gain > 0.0), context.progress)
    return gain > context.problem.worthwhile_gain(result.partition.n_rows)


def reseed_slots(context: Context, result: SearchResult, slots: list[int]) -> None:
    """Reseed rows of some slots by themselves, and put what becomes of them in their place."""
    partition = result.partition
    labels, group_labels = np.asarray(partition.labels), labels_of_groups(partition)
    number = np.full(partition.component.n_slots, -1)
    number[slots] = np.arange(len(slots))
    groups = np.flatnonzero(number[group_labels] >= 0)
    members = np.asarray(moves.members_of(partition, slots), dtype=np.intp)
    rows = np.asarray(partition.rows_of(members), dtype=np.intp)
    context = replace(context, problem=context.problem.of_groups(groups))
    some = context.partition(number[labels[members]], rows, number[group_labels[groups]])
    found = Reseeding(context, some, rows, result).run()
    if found is not None:
        gain = some.neg_log_joint - found.neg_log_joint
        partition.replace(slots, members, found, -gain)
        partition.tidy()


class Reseeding:
    """Attempts to lower the joint of a partition, which is not changed.

    Parameters
    ----------
    context : Context
    partition : Partition
        Swept until few rows move.
    order : ndarray of int, shape (N,), or None
        The rows of the partition in the order of visits; None is 0..N-1.
    counts : SearchResult
        Where sweeps are counted.
    """

    def __init__(
        self,
        context: Context,
        partition: Partition,
        order: Labels | None,
        counts: SearchResult,
    ) -> None:
        self.context, self.partition, self.counts = context, partition, counts
        self.order = np.arange(partition.n_rows, dtype=np.intp) if order is None else order
        # A row of mean weight has the power times this weight.
        power = context.problem.component.power * sum(partition.component.counts) / partition.n_rows
        self.step = max(-(-partition.n_rows // MAX_TRIAL_ROWS), int(MIN_TRIAL_POWER / power))
        self.max_moved = MAX_MOVED_FRACTION if self.step > 1 else 0.0
        self.trial_context = replace(context, problem=context.problem.of_every(self.step))
        self.trial_order = np.ascontiguousarray(self.order[:: self.step])

    def run(self) -> Partition | None:
        """The partition that the first successful attempt leads to; None if there is none."""
        trial, n_failures = self._trial(), 0
        for attempt in self._attempts(trial):
            found = self._all_rows_after(attempt, trial)
            if found is not None:
                return found
            change = abs(attempt.neg_log_joint - trial.neg_log_joint)
            n_failures = n_failures + 1 if change <= trial.least_gain else 0
            if n_failures == MAX_FAILURES:
                break
        return None

    def _trial(self) -> Partition:
        """The partition; or, if it is large, every `step`-th of its rows, swept by themselves."""
        if self.step == 1:
            return self.partition
        labels = np.asarray(self.partition.labels, dtype=np.intp)[:: self.step].copy()
        group_labels = labels_of_groups(self.partition)
        trial = self.trial_context.partition(labels, self.trial_order, group_labels)
        swept = sweep_and_merge(self.trial_context, trial, max_moved=self.max_moved)
        self.counts.n_sweeps += swept.n_sweeps
        return trial

    def _attempts(self, trial: Partition) -> Iterator[SearchResult]:
        """Attempts one after the other, made as many at a time as there are threads."""
        costs, n_threads = RowCosts.of(trial), thread_limit()
        seeds = self.context.rng.integers(2**63, size=MAX_ATTEMPTS).tolist()
        for first in range(0, MAX_ATTEMPTS, n_threads):
            if self.context.stop.is_set():
                break
            yield from on_threads(
                lambda seed: self._reseeded(trial, costs, np.random.default_rng(seed)),
                seeds[first : first + n_threads],
                self.context.stop,
            )

    def _reseeded(
        self, trial: Partition, costs: RowCosts, rng: np.random.Generator
    ) -> SearchResult:
        """The trial crossed over with a descent from seeds among the rows that fit worst."""
        labels = np.array(trial.labels, dtype=np.intp)
        fraction = MIN_FRACTION * (MAX_FRACTION / MIN_FRACTION) ** rng.random()
        n_seeds = SEEDS_OF_NO_ROWS + int(fraction * (SEEDS_OF_ALL_ROWS - SEEDS_OF_NO_ROWS))
        worst = costs.worst(fraction, trial.least_gain)
        seeds = drawn(worst, n_seeds, costs.weights[worst], rng)
        labels[worst] = UNPLACED
        labels[seeds] = trial.n_clusters + np.arange(len(seeds))
        groups = labels_of_groups(trial)
        return crossed_over(
            self.trial_context, trial, labels, groups, self.trial_order, self.max_moved
        )

    def _extended(self, found: Partition) -> SearchResult:
        """All rows crossed over with what they become when they join a partition of the trial."""
        labels = np.full(self.partition.n_rows, UNPLACED, dtype=np.intp)
        labels[:: self.step] = np.asarray(found.labels)
        group_labels = labels_of_groups(found)
        return crossed_over(
            self.context, self.partition, labels, group_labels, self.order, self.max_moved
        )

    def _all_rows_after(self, attempt: SearchResult, trial: Partition) -> Partition | None:
        """The partition of all rows that an attempt leads to, if that lowers their joint."""
        self.counts.count(attempt)
        result = attempt
        if self.step > 1:
            if not self._helps(attempt, trial) or self.context.stop.is_set():
                return None
            result = self._extended(attempt.partition)
            self.counts.count(result)
        gain = self.partition.neg_log_joint - result.neg_log_joint
        return result.partition if gain > self.partition.least_gain else None

    def _helps(self, result: SearchResult, trial: Partition) -> bool:
        gain = trial.neg_log_joint - result.neg_log_joint
        return gain > self.context.problem.worthwhile_gain(trial.n_rows)


def crossed_over(
    context: Context,
    partition: Partition,
    labels: Labels,
    group_labels: Labels,
    order: Labels,
    max_moved: float,
) -> SearchResult:
    """A partition crossed over with a short descent from other labels."""
    other = context.partition(labels, order, group_labels)
    sweeps.sweep(other)
    result = descend_and_cross_over(context, partition, other, order, max_moved)
    result.n_sweeps += 1
    return result
