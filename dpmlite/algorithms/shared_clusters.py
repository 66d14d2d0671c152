"""Clusterings that share the statistics of their clusters.

A clustering is a list of slots of one component, cluster 0 first. A clustering that grows by a row
shares all its other clusters with the old one: only the cluster that the row joins is copied, and
only if another clustering still has it.
"""

from dpmlite.core.constants import EMPTY_SLOT, SPARE_SLOT
from dpmlite.core.protocols import Values
from dpmlite.families.component import Component


class SharedClusters:
    """Numbered clusterings with reference counts.

    Parameters
    ----------
    component : Component
        Statistics of all clusters; whatever it holds is replaced.

    Attributes
    ----------
    component : Component
        EMPTY_SLOT stays empty; SPARE_SLOT belongs to no clustering.
    n_clusterings : int
        Number of clusterings.

    Notes
    -----
    A clustering has one holder when it is made, and one more for each call of `hold`. `release` and
    `grow` take one away; without a holder, the clustering is gone.
    """

    def __init__(self, component: Component) -> None:
        self.component = component
        component.resize(0)
        component.resize(SPARE_SLOT + 1)
        self._slots: dict[int, list[int]] = {}  # of each clustering
        self._holders: dict[int, int] = {}
        self._users = [1] * (SPARE_SLOT + 1)  # clusterings that have a slot
        self._n_made = 0

    @property
    def n_clusterings(self) -> int:
        return len(self._slots)

    def first(self) -> int:
        """Make the clustering of no row; return its number."""
        return self._make([])

    def slots(self, c: int) -> list[int]:
        """Slots of the clusters of clustering `c`.

        Raises
        ------
        IndexError
            If it does not exist.
        """
        self._check(c)
        return list(self._slots[c])

    def hold(self, c: int) -> None:
        """Add a holder of clustering `c`.

        Raises
        ------
        IndexError
            If it does not exist.
        """
        self._check(c)
        self._holders[c] += 1

    def release(self, c: int) -> None:
        """Remove a holder of clustering `c`.

        Raises
        ------
        IndexError
            If it does not exist.
        """
        self._check(c)
        self._holders[c] -= 1
        if not self._holders[c]:
            for slot in self._slots.pop(c):
                self._users[slot] -= 1
            del self._holders[c]

    def grow(self, c: int, k: int, row: Values, weight: float = 1.0) -> int:
        """Make the clustering that clustering `c` becomes by one more row.

        One holder of `c` passes to the new clustering.

        Parameters
        ----------
        c : int
            The clustering, which loses a holder.
        k : int
            The cluster that the row joins; the number of clusters for a new one.
        row : sequence of float, length D
            The row's values.
        weight : float, default 1.0
            The row's weight.

        Returns
        -------
        int
            The number of the new clustering; it may be `c` again, if that had no other holder.

        Raises
        ------
        IndexError
            If there is no such clustering or cluster.
        ValueError
            If the row has the wrong length.
        """
        self._check(c)
        slots = self._slots[c]
        if not 0 <= k <= len(slots):
            raise IndexError(f"cluster must be in 0..{len(slots)}, got {k}")
        self.component._check_row(row)
        slot = self._free_slot()
        self.component.copy(slot, self.component, slots[k] if k < len(slots) else EMPTY_SLOT)
        self.component.add(row, slot, weight)
        grown = self._make([*slots[:k], slot, *slots[k + 1 :]])
        self.release(c)
        return grown

    def _make(self, slots: list[int]) -> int:
        self._n_made += 1
        self._slots[self._n_made] = slots
        self._holders[self._n_made] = 1
        for slot in slots:
            self._users[slot] += 1
        return self._n_made

    def _free_slot(self) -> int:
        if 0 not in self._users:
            self._users.append(0)
            self.component.resize(len(self._users))
        return self._users.index(0)

    def _check(self, c: int) -> None:
        if c not in self._slots:
            raise IndexError(f"there is no clustering {c}")
