"""Sweeps over all rows, and sweeps in turn with merges, until neither lowers the joint."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpmlite import moves, sweeps
from dpmlite.search.result import SearchResult

if TYPE_CHECKING:
    from dpmlite.partition import Partition
    from dpmlite.search.context import Context, Labels

# A change of the joint, relative to it, that is a few roundings: of ordinary tables, less than a
# move of one row changes.
JOINT_ROUNDING = 2.0**-50


class JointFalls:
    """Whether the joint of a partition falls from call to call, by more than rounding.

    The gain of a move is a difference of terms that may be far larger. Moves that gain mere
    rounding could undo one another for ever where rows are heavy: the joint itself ends that.
    """

    def __init__(self) -> None:
        self.least = math.inf

    def __call__(self, partition: Partition) -> bool:
        joint = partition.exact_neg_log_joint()
        falls = joint < self.least - JOINT_ROUNDING * abs(joint)
        self.least = min(self.least, joint)
        return falls


def sweep(partition: Partition, order: Labels | None = None) -> int:
    """Rows that a sweep moves; 0 if they change the joint by rounding, which would never end.

    `order` is that of the visits, if it is not that of the partition's rows.
    """
    before = partition.neg_log_joint
    n_moved: int = sweeps.sweep(partition, order)
    return n_moved if abs(partition.neg_log_joint - before) > JOINT_ROUNDING * abs(before) else 0


def sweep_and_merge(
    context: Context,
    partition: Partition,
    order: Labels | None = None,
    max_sweeps: int | None = None,
    max_moved: float = 0.0,
) -> SearchResult:
    """Sweep and merge until neither helps, or after a stop, or a descent of `max_sweeps` sweeps.

    `max_sweeps` is by default that of the context. Sweeps help while they move more than the
    fraction `max_moved` of the rows. They are single calls, so that Ctrl-C need not wait for the
    last.
    """
    n_sweeps, falls = 0, JointFalls()
    while True:
        for _ in range(max_sweeps or context.max_sweeps):
            moved = sweep(partition) > max_moved * partition.n_rows
            n_sweeps += 1
            if not moved or context.stop.is_set():
                break
        merged = moves.merge(partition)
        if not merged or moved or context.stop.is_set() or not falls(partition):
            n_emptied = partition.n_emptied
            return SearchResult(partition, order, n_sweeps=n_sweeps, n_emptied=n_emptied)
