"""What is known of slots from attempts to split them.

A slot that was tried in vain is tried again only when enough rows have come or left since.
"""

from collections.abc import Mapping, Sequence

from dpmlite.core.constants import UNPLACED
from dpmlite.partition.listener import PartitionListener
from dpmlite.partition.partition import Partition


class SplitMemory(PartitionListener):
    """How much each slot has changed since it was tried, and whether it looked normal then.

    A slot that was made, merged or divided is untried: it counts as wholly changed.

    Parameters
    ----------
    n_rows : int
        Rows of the partition.

    Attributes
    ----------
    n_changed : list of int
        Rows that came to each slot or left it since it was tried; for an untried slot, at least
        `n_rows`.
    looked_normal : list of bool
        Whether the rows of each slot looked normal when it was tried; False for an untried slot.
    """

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self.n_changed: list[int] = []
        self.looked_normal: list[bool] = []

    def mark_tried(self, k: int, looked_normal: bool = False) -> None:
        """Count changes of slot `k` from here."""
        self._check_slot(k)
        self._mark(k, 0, looked_normal)

    def mark_untried(self, k: int) -> None:
        """Count slot `k` as wholly changed."""
        self._check_slot(k)
        self._mark(k, self._n_rows, False)

    def row_moved(self, i: int, left: int, joined: int) -> None:
        if left != UNPLACED:
            self.n_changed[left] += 1
        self.n_changed[joined] += 1

    def slots_merged(self, j: int, k: int) -> None:
        self.mark_untried(j)
        self.mark_untried(k)

    def slots_replaced(
        self, slots: Sequence[int], targets: Sequence[int], division: Partition
    ) -> None:
        """Take over what is known of the clusters of the division."""
        memory = split_memory_of(division)
        for k in slots:
            self.mark_untried(k)
        for j, k in enumerate(targets):
            self._mark(k, memory.n_changed[j], memory.looked_normal[j])

    def slots_renumbered(self, new_slot: Mapping[int, int]) -> None:
        for k, new in sorted(new_slot.items()):
            self._mark(new, self.n_changed[k], self.looked_normal[k])

    def slots_made(self, first: int, n_slots: int) -> None:
        self.n_changed[first:] = [self._n_rows] * (n_slots - first)
        self.looked_normal[first:] = [False] * (n_slots - first)

    def _mark(self, k: int, n_changed: int, looked_normal: bool) -> None:
        self.n_changed[k], self.looked_normal[k] = n_changed, looked_normal

    def _check_slot(self, k: int) -> None:
        if not 0 <= k < len(self.n_changed):
            raise IndexError(f"slot must be in 0..{len(self.n_changed) - 1}, got {k}")


def split_memory_of(partition: Partition) -> SplitMemory:
    """The split memory that listens to a partition; a new one, of untried slots, if there is none.

    Parameters
    ----------
    partition : Partition

    Returns
    -------
    SplitMemory
    """
    for listener in partition.listeners:
        if isinstance(listener, SplitMemory):
            return listener
    memory = SplitMemory(partition.n_rows)
    partition.add_listener(memory)
    return memory
