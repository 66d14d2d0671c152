"""Divisions: the rows of some clusters divided anew, as splits and exchanges do.

MAP-DPM is run on those rows alone, from each of several starts. The best result is a division if it
lowers the exact joint. Starts may be compared on a trial of every step-th row; all rows then join
the best of them. Absorbed groups stay in their slot: they go with the first of the clusters that
the slot is divided into.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from dpmlite.core.constants import (
    MAX_SETTLE_SWEEPS,
    MAX_SWEEPS_TO_GOAL,
    MAX_THOROUGH_ROWS,
    MAX_TRIAL_STEP,
    MIN_TRIAL_POWER,
    MIN_TRIAL_ROWS,
    TIE,
    TRIAL_ROWS,
    UNPLACED,
)
from dpmlite.core.protocols import Buffer
from dpmlite.moves.merges import merge_change
from dpmlite.partition.crp import log_prob_counts
from dpmlite.partition.partition import Partition
from dpmlite.sweeps.assignment import assign
from dpmlite.sweeps.map_dpm import sweep


def divided(
    partition: Partition,
    slots: Sequence[int],
    members: Sequence[int],
    starts: Sequence[Buffer],
    step: int = 0,
) -> Partition | None:
    """The division of some slots' rows that the best of several starts leads to.

    Parameters
    ----------
    partition : Partition
        Not changed.
    slots : sequence of int
        Different slots that hold rows.
    members : sequence of int
        Positions of all their rows, ascending.
    starts : sequence of sequences of int
        Each has a label for every `step`-th member.
    step : int, default 0
        0 means `trial_step` of the number of members.

    Returns
    -------
    Partition or None
        A division of all members, for `adopt`; None if none lowers the joint.
    """
    step = step or trial_step(len(members), power=partition.component.power)
    division = trial_division(partition, slots, members, starts, step)
    return None if division is None else division_of_all(partition, slots, members, division, step)


def trial_division(
    partition: Partition,
    slots: Sequence[int],
    members: Sequence[int],
    starts: Sequence[Buffer],
    step: int,
) -> Partition | None:
    """The best division of every `step`-th row: the first half of `divided`.

    Parameters
    ----------
    partition, slots, members, starts
        See `divided`.
    step : int
        Positive.

    Returns
    -------
    Partition or None
        A division of every `step`-th member; None if none is expected to lower the joint of all.
    """
    trial = _trial(partition, slots, members, step)
    best, least = None, 0.0
    for labels in starts:
        division = partition.part(members[:: trial.step], labels, slots, trial.step)
        _settle(division, trial.joint, trial.goal)
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
    """The division of all rows that a trial's leads to: the second half of `divided`.

    Parameters
    ----------
    partition, slots, members
        See `divided`.
    division : Partition
        From `trial_division`; its parts may have been split since.
    step : int
        The step of the trial.

    Returns
    -------
    Partition or None
        A division of all members, for `adopt`; None if it does not lower the joint.
    """
    present = joint_of(partition, slots)
    if step > 1:
        labels = _joined(partition, members, division, step)
        division = partition.part(members, labels, slots)
        _settle(division, present, present)
    return division if division.neg_log_joint - present < -partition.least_gain else None


def adopt(
    partition: Partition, slots: Sequence[int], members: Sequence[int], division: Partition
) -> None:
    """Give the rows of some slots the labels of a division, and update the joint."""
    change = division.neg_log_joint - joint_of(partition, slots)
    partition.replace(slots, members, division, change)


def trial_step(n: int, thorough: bool = False, power: float = 1.0) -> int:
    """The step between rows of a trial, for a cluster of `n` rows and a power of the likelihood."""
    step = min(-(-n // TRIAL_ROWS), MAX_TRIAL_STEP)
    if thorough:
        step = 1 << ((n - 1) // MAX_THOROUGH_ROWS).bit_length()
    if power == 1.0:
        return step
    return max(step, min(int(MIN_TRIAL_POWER / power), n // MIN_TRIAL_ROWS))


def member_lists(partition: Partition, slots: Iterable[int]) -> dict[int, list[int]]:
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
    """The joint of the rows in some slots with their present labels, as `Partition.part` has it."""
    for k in slots:
        partition.component._check_slot(k)
    counts = [partition.component.counts[k] for k in slots]
    log_marginals = [partition.component.log_marginal(k) for k in slots]
    power, alpha = partition.component.power, partition.alpha_given_others(slots)
    log_prior = log_prob_counts(counts, alpha, power, partition.discount)
    return -log_prior / power - sum(log_marginals)


@dataclass
class _Trial:
    """What divisions of every `step`-th row are compared with.

    Attributes
    ----------
    step : int
    joint : float
        The joint of these rows with their present labels.
    n_clusters : int
        The number of their present clusters.
    blank : float
        The increase of their joint if one cluster is halved at random.
    relative_power : float
        The power of their likelihood, by which joints are divided, in units of that of all rows.
    """

    step: int
    joint: float
    n_clusters: int
    blank: float
    relative_power: float = 1.0

    @property
    def goal(self) -> float:
        """The joint below which a division with one more cluster lowers the joint of all rows."""
        return self.joint + (1.0 - self.relative_power / self.step) * self.blank

    def change(self, division: Partition) -> float:
        """The change of the joint of all rows, estimated from every `step`-th.

        The cost of a cluster, `blank`, hardly depends on the number of rows; the rest of the change
        is proportional to it, and to the power.
        """
        if self.step == 1:
            return division.neg_log_joint - self.joint
        cost = (division.n_clusters - self.n_clusters) * self.blank
        gain = division.neg_log_joint - self.joint - cost
        return self.step * gain + self.relative_power * cost


def _trial(partition: Partition, slots: Sequence[int], members: Sequence[int], step: int) -> _Trial:
    if step == 1:
        return _Trial(step, joint_of(partition, slots), len(slots), 0.0)
    chosen = members[::step]
    labels = [slots.index(partition.labels[i]) for i in chosen]
    now = partition.part(chosen, labels, slots, step)
    if len(slots) > 1:
        # Rows of a trial may move even without a new division, which must not count as its gain.
        _settle(now, inf, inf)
    dealt = partition.part(chosen, [i % 2 for i in range(len(chosen))], step=step)
    blank = max(-merge_change(dealt, 0, 1), 0.0)
    relative_power = now.component.power / partition.component.power
    return _Trial(step, now.neg_log_joint, now.n_clusters, blank, relative_power)


def _joined(
    partition: Partition, members: Sequence[int], division: Partition, step: int
) -> list[int]:
    """Labels of all members: those of the trial, and for others the most probable cluster.

    A row that would rather be in a new cluster gets no label.
    """
    labels = [UNPLACED] * len(members)
    rows = partition.rows_of(members)
    assign(partition.X, division.component, division.alpha, labels, rows, division.discount)
    labels[::step] = list(division.labels)
    return labels


def _settle(division: Partition, present: float, goal: float) -> None:
    """Sweep until no row moves, the joint is back at `present`, or it will not reach `goal`."""
    before = division.neg_log_joint
    for _ in range(MAX_SETTLE_SWEEPS):
        if sweep(division) == 0:
            break
        now = division.neg_log_joint
        if abs(now - present) <= division.least_gain:
            break  # the division has come back to the present labels
        # The joint rises while rows without a label join.
        if now <= before and now - MAX_SWEEPS_TO_GOAL * (before - now) > goal:
            break
        before = now
