"""A clustering problem, and how solutions of it are taken together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import inference, models

if TYPE_CHECKING:
    from collections.abc import Sequence
    from threading import Event

    import numpy.typing as npt

    Labels = npt.NDArray[np.intp]

UNPLACED = -1

# Less of the joint than this is a few roundings of it: of ordinary tables, less than a move gains.
ROUNDING = 2.0**-50
NO_HOMES = (np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))

# A gain in the joint that makes further search worth its while, in nats a cell.
WORTHWHILE = 1e-5


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """What is to be partitioned, and what is believed of it.

    Attributes
    ----------
    rows : Rows
    component : Component
        Any of the family and its prior.
    alpha : float
    n_threads : int
        Threads that share the work of one descent.
    settled : Component, optional
        Statistics of groups of rows that are gone, and stay together.
    """

    rows: models.Rows
    component: models.Component
    alpha: float
    n_threads: int = 1
    settled: models.Component | None = None

    def worthwhile(self, n_rows: int) -> float:
        """The gain, in nats, for a table of so many rows: it depends on no unit."""
        return WORTHWHILE * n_rows * self.component.n_columns

    def of_rows(self, rows: Labels) -> Problem:
        """The same of copies of some rows, and of no settled groups."""
        return replace(self, rows=self.rows.take(rows, self.n_threads), settled=None)

    def of_groups(self, groups: Labels) -> Problem:
        """The same with only these of the settled groups."""
        if self.settled is None:
            return self
        settled = self.settled.like()
        settled.resize(len(groups))
        for j, g in enumerate(groups):
            settled.copy(j, self.settled, g)
        return replace(self, settled=settled)

    def partition(
        self, labels: Labels, order: Labels | None = None, homes: Labels | None = None
    ) -> models.Partition:
        """A partition of the rows `order` (default: all) with these labels, which it changes.

        So it does with `homes`, the labels of the settled groups; by default each is a cluster.
        """
        if self.settled is not None and homes is None:
            homes = np.arange(self.settled.n_slots)
        component = self.component.like()
        return models.Partition(
            self.rows, labels, component, self.alpha, order, self.settled, homes, self.n_threads
        )

    def recombined(
        self,
        one: Labels,
        other: Labels,
        order: Labels | None = None,
        homes: tuple[Labels, Labels] = NO_HOMES,
    ) -> models.Partition:
        """Clusters made of those of two partitions, by merges of their common refinement.

        Rows that would be alone have no label: a sweep places them for less than merges do.
        `homes` are both partitions' labels of the settled groups.
        """
        ours, theirs = homes
        joint = refinement(np.concatenate([ours, one]), np.concatenate([theirs, other]))
        joint = without_single(joint, len(ours))
        partition = self.partition(joint[len(ours) :].copy(), order, joint[: len(ours)].copy())
        inference.merge(partition)
        return partition


def first_of_best(joints: Sequence[float], slack: float) -> int:
    """Number of the first joint within `slack` of the least, so that rounding does not choose."""
    least = min(joints)
    return next(i for i, joint in enumerate(joints) if not joint > least + slack)


class Falling:
    """Whether the joint of a partition falls from call to call, by more than rounding.

    What a move changes is a difference of terms that may be far larger. Moves whose gain is mere
    rounding can undo one another for ever where rows are heavy: the joint itself ends that.
    """

    def __init__(self) -> None:
        self.least = math.inf

    def __call__(self, partition: models.Partition) -> bool:
        joint = partition.exact_neg_log_joint()
        falls = joint < self.least - ROUNDING * abs(joint)
        self.least = min(self.least, joint)
        return falls


def sweep_and_merge(
    partition: models.Partition, max_sweeps: int, stop: Event, n_threads: int = 1
) -> int:
    """Until neither helps, or a stop, or a descent of `max_sweeps` sweeps; returns sweeps.

    Sweep by sweep, so that Ctrl-C need not wait for the last.
    """
    n_sweeps, falls = 0, Falling()
    while True:
        for _ in range(max_sweeps):
            moved = sweep(partition, n_threads) > 0
            n_sweeps += 1
            if not moved or stop.is_set():
                break
        if not inference.merge(partition) or moved or stop.is_set() or not falls(partition):
            return n_sweeps


def sweep(partition: models.Partition, n_threads: int) -> int:
    """Moves of a sweep; none if they change the joint by rounding: heavy rows would not settle."""
    before = partition.neg_log_joint
    moves: int = inference.sweep(partition, n_threads)
    return moves if abs(partition.neg_log_joint - before) > ROUNDING * abs(before) else 0


def homes_of(partition: models.Partition) -> Labels:
    """Slots of the settled groups."""
    return np.array(partition.homes, dtype=np.intp)


def rows_in_slots(partition: models.Partition) -> Labels:
    """Rows in each slot that are not settled."""
    groups = np.bincount(homes_of(partition), minlength=partition.component.n_slots)
    return np.asarray(partition.sizes, dtype=np.intp) - groups


def part_normal(partition: models.Partition) -> float:
    """The part of the clusters that looked normal when splits of them were last tried."""
    return sum(partition.normal) / partition.n_clusters


def without_single(labels: Labels, n_settled: int) -> Labels:
    """Labels 0, 1, ... of clusters with more than one row, or with one of the first `n_settled`."""
    kept = np.bincount(labels) > 1
    kept[labels[:n_settled]] = True
    numbers = np.where(kept, np.cumsum(kept) - 1, UNPLACED)
    return np.asarray(numbers[labels], dtype=np.intp)


def refinement(one: Labels, other: Labels) -> Labels:
    """Labels of the common refinement: rows are together that are together in both.

    Parameters
    ----------
    one, other : ndarray of int, shape (N,)
        Labels, 0 or more.

    Returns
    -------
    ndarray of int, shape (N,)
        Labels 0, 1, ... without gaps.
    """
    n_other = int(other.max(initial=0)) + 1
    pairs = one * n_other + other
    n_pairs = (int(one.max(initial=0)) + 1) * n_other
    if n_pairs > max(len(one), 1000):  # more than is worth a table
        labels = np.unique(pairs, return_inverse=True)[1]
    else:
        seen = np.bincount(pairs, minlength=n_pairs) > 0
        labels = (np.cumsum(seen) - 1)[pairs]
    return np.asarray(labels, dtype=np.intp)
