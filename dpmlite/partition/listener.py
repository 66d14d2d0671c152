"""What a partition tells of its changes.

Sweeps and moves remember something of each row or slot, which holds until rows move. The partition
does not know what it is: it tells its listeners of each change, and they keep their memory right.
"""

from collections.abc import Mapping, Sequence
from typing import Any


class PartitionListener:
    """Is told of each change of a partition after it is made."""

    def row_moved(self, i: int, left: int, joined: int) -> None:
        """Row `i` has moved from slot `left`, or from none (-1), into slot `joined`."""

    def slots_merged(self, j: int, k: int) -> None:
        """The rows of slot `k` have moved into slot `j`; `row_moved` has told of each."""

    def slots_replaced(self, slots: Sequence[int], targets: Sequence[int], division: Any) -> None:
        """The rows of `slots` are divided as in the partition `division`.

        Its cluster j is in slot ``targets[j]``. `row_moved` has told of each row.
        """

    def slots_renumbered(self, new_slot: Mapping[int, int]) -> None:
        """Slot k has become ``new_slot[k]``, not above k. Slots without a new number are gone."""

    def slots_made(self, first: int, n_slots: int) -> None:
        """There are `n_slots` slots now, and those from `first` on are new."""

    def rebuilt(self) -> None:
        """Any row may be in another slot than before."""
