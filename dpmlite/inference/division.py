"""Dividing the rows of some clusters anew: what splits and exchanges of clusters are made of.

A division is MAP-DPM itself, run on those rows alone from a proposed start; the best of several
is kept if the exact joint falls. Settled groups stay where they are: the first of the clusters
that a slot is divided into has its groups.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from dpmlite._types import Buffer, Values
from dpmlite.inference.map_dpm import sweep
from dpmlite.inference.merging import merge_change
from dpmlite.inference.prediction import assign
from dpmlite.models.crp import log_prob_counts
from dpmlite.models.partition import TIE, UNPLACED, Partition

# Sweeps that a proposed division gets to settle.
SETTLE_SWEEPS = 10

# It is given up when so many sweeps as good as its last one would not bring it to what it must
# beat.
HOPE = 4.0

# Proposals settle on so many rows, evenly spread, but on no smaller part of them than every so
# many-th: few rows of a cluster that holds many tell nothing of them. The best proposal, if it is
# promising, is then settled on all rows.
TRIAL_ROWS = 1000
LARGEST_STEP = 16

# A prior that is wide beside clusters outweighs what few rows tell: where they found nothing, a
# thorough trial asks so many, or as many as every second, fourth, ... row is of more.
THOROUGH_ROWS = 50_000


def divided(
    partition: Partition,
    slots: Sequence[int],
    members: Sequence[int],
    starts: Sequence[Buffer],
    step: int = 0,
) -> Partition | None:
    """The rows of some slots divided anew from the best of several starts, if that is better.

    Parameters
    ----------
    partition : Partition
        Not changed.
    slots : sequence of int
        Different slots that hold rows.
    members : sequence of int
        Positions of all their rows, ascending.
    starts : sequence of sequences of int
        Labels of every `step`-th member each.
    step : int, default 0
        0 is their `trial_step`.

    Returns
    -------
    Partition or None
        A division of those rows, for `adopt`; None if none was found whose joint is lower.
    """
    step = step or trial_step(len(members))
    division = trial_division(partition, slots, members, starts, step)
    return None if division is None else division_of_all(partition, slots, members, division, step)


def trial_division(
    partition: Partition,
    slots: Sequence[int],
    members: Sequence[int],
    starts: Sequence[Buffer],
    step: int,
) -> Partition | None:
    """The best that comes of the starts: the first half of `divided`.

    Parameters
    ----------
    partition, slots, members
        As of `divided`.
    starts : sequence of sequences of int
        Labels of every `step`-th member each.
    step : int
        Positive.

    Returns
    -------
    Partition or None
        Of every `step`-th member; None if nothing promises a lower joint of all of them.
    """
    trial = _trial(partition, slots, members, step)
    best, least = None, 0.0
    for labels in starts:
        division = _swept(partition, slots, members[:: trial.step], labels, trial.joint, trial.goal)
        change = trial.change(division)
        if change < least - TIE:
            best, least = division, change
    return best


def division_of_all(
    partition: Partition,
    slots: Sequence[int],
    members: Sequence[int],
    division: Partition,
    step: int,
) -> Partition | None:
    """What a trial's division comes to when all rows join: the second half of `divided`.

    Parameters
    ----------
    partition, slots, members
        As of `divided`.
    division : Partition
        From `trial_division`; it may have been divided further.
    step : int
        That of the trial.

    Returns
    -------
    Partition or None
        As of `divided`.
    """
    present = joint_of(partition, slots)
    if step > 1:
        labels = _joined(partition, members, division, step)
        division = _swept(partition, slots, members, labels, present, present)
    return division if division.neg_log_joint - present < -partition.least_gain else None


def adopt(
    partition: Partition, slots: Sequence[int], members: Sequence[int], division: Partition
) -> None:
    """Divide the rows of some slots as they are in what `divided` found."""
    change = division.neg_log_joint - joint_of(partition, slots)
    partition.replace(slots, members, division, change)


def trial_step(n: int, thorough: bool = False) -> int:
    """Of `n` rows, proposals settle on every so many-th."""
    if thorough:
        return 1 << ((n - 1) // THOROUGH_ROWS).bit_length()
    return min(-(-n // TRIAL_ROWS), LARGEST_STEP)


def member_lists(
    partition: Partition, slots: Iterable[int], n_threads: int = 1
) -> dict[int, list[int]]:
    """Positions of the rows in each of these slots, in ascending order."""
    members: dict[int, list[int]] = {k: [] for k in slots}
    for i, k in enumerate(partition.labels):
        if k in members:
            members[k].append(i)
    return members


def members_of(partition: Partition, slots: Sequence[int]) -> list[int]:
    """Positions of the rows in any of these slots, in ascending order."""
    for k in slots:
        partition.component._check_slot(k)
    chosen = set(slots)
    return [i for i, k in enumerate(partition.labels) if k in chosen]


def joint_of(partition: Partition, slots: Sequence[int]) -> float:
    """The joint of the rows in some slots as they are divided now, as if there were no others."""
    for k in slots:
        partition.component._check_slot(k)
    counts = [partition.component.counts[k] for k in slots]
    log_marginals = [partition.component.log_marginal(k) for k in slots]
    return -log_prob_counts(counts, partition.alpha) - sum(log_marginals)


def two_of(n: int, u: float, v: float) -> tuple[int, int]:
    """Two different numbers of 0..n-1, chosen by two uniforms."""
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    if not (0.0 <= u < 1.0 and 0.0 <= v < 1.0):
        raise ValueError(f"uniforms must be in [0, 1), got {float(u)} and {float(v)}")
    first, second = int(u * n), int(v * (n - 1))
    return first, second + (second >= first)


@dataclass
class _Trial:
    """How divisions of a part of the rows are judged: every `step`-th.

    Attributes
    ----------
    step : int
    joint, n_clusters : float, int
        Of these rows as they are divided now.
    blank : float
        What one more cluster adds to their joint if it explains nothing.
    """

    step: int
    joint: float
    n_clusters: int
    blank: float

    @property
    def goal(self) -> float:
        """The joint that a division with one more cluster must beat to be promising."""
        return self.joint + (1.0 - 1.0 / self.step) * self.blank

    def change(self, division: Partition) -> float:
        """What the division adds to the joint of all rows, about.

        What clusters explain grows with the rows; what they cost for being there hardly does.
        """
        if self.step == 1:
            return division.neg_log_joint - self.joint
        cost = (division.n_clusters - self.n_clusters) * self.blank
        return self.step * (division.neg_log_joint - self.joint - cost) + cost


def _trial(partition: Partition, slots: Sequence[int], members: Sequence[int], step: int) -> _Trial:
    if step == 1:
        return _Trial(step, joint_of(partition, slots), len(slots), 0.0)
    chosen = members[::step]
    now = partition.part(chosen, [slots.index(partition.labels[i]) for i in chosen], slots)
    if len(slots) > 1:
        # The few would move on by themselves; what they gain by that is not the division's.
        _settle(now, inf, inf)
    dealt = partition.part(chosen, [i % 2 for i in range(len(chosen))])
    blank = max(-merge_change(dealt, 0, 1), 0.0)
    return _Trial(step, now.neg_log_joint, now.n_clusters, blank)


def _joined(
    partition: Partition, members: Sequence[int], division: Partition, step: int
) -> list[int]:
    """Labels of all members from a division of every `step`-th, whose clusters the others join.

    Those that no cluster would have are left without a label.
    """
    labels = [UNPLACED] * len(members)
    rows = partition.rows_of(members)
    assign(partition.X, division.component, partition.alpha, labels, rows=rows)
    labels[::step] = list(division.labels)
    return labels


def _swept(
    partition: Partition,
    slots: Sequence[int],
    members: Values,
    labels: Buffer,
    present: float,
    goal: float,
) -> Partition:
    """Some rows swept from a start."""
    division = partition.part(members, labels, slots)
    _settle(division, present, goal)
    return division


def _settle(division: Partition, present: float, goal: float) -> None:
    """Sweep until nothing moves, it is back at `present`, or there is no hope to come to `goal`."""
    before = division.neg_log_joint
    for _ in range(SETTLE_SWEEPS):
        if sweep(division) == 0:
            break
        now = division.neg_log_joint
        if abs(now - present) <= division.least_gain:
            break  # it has come back to what there was
        # Rows that had no label yet raised the joint by what they are.
        if now <= before and now - HOPE * (before - now) > goal:
            break
        before = now
