"""Rows of a partition, and groups of rows that are gone, with their labels."""

from collections.abc import Sequence

from dpmlite.core.constants import MAX_LABEL, UNPLACED
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.rows import Rows, as_rows
from dpmlite.families.component import Component


class PartitionRows:
    """Rows with labels, and absorbed groups with labels, beside a component.

    Parameters and attributes are those of `Partition`.
    """

    def __init__(
        self,
        X: Rows | Values,
        labels: Buffer,
        component: Component,
        rows: Values | None,
        absorbed_groups: Component | None,
        group_labels: Buffer | None,
    ) -> None:
        self.X = as_rows(X)
        self._chosen = list(range(len(X)) if rows is None else rows)
        self._rows = [self.X.values(i) for i in self._chosen]
        self._weights = [self.X.weight(i) for i in self._chosen]
        self.labels = labels
        self.component = component
        self._check_labels()
        self._groups = component.like() if absorbed_groups is None else absorbed_groups
        self.group_labels = [] if group_labels is None else group_labels
        self._check_groups()

    @property
    def n_rows(self) -> int:
        return len(self._rows)

    def members(self, k: int) -> list[int]:
        """Positions of the rows in slot `k`."""
        return [i for i, label in enumerate(self.labels) if label == k]

    def groups_in(self, slots: Sequence[int]) -> list[int]:
        """Numbers of the absorbed groups in some slots."""
        return [g for g, label in enumerate(self.group_labels) if label in slots]

    def rows_of(self, members: Values) -> list[int]:
        """Numbers in X of rows at some positions."""
        for i in members:
            self._check_row(i)
        return [self._chosen[i] for i in members]

    def weight(self, i: int) -> float:
        """The number of equal rows that row `i` counts as."""
        self._check_row(i)
        return self._weights[i]

    def _check_row(self, i: int) -> None:
        if not 0 <= i < self.n_rows:
            raise IndexError(f"row must be in 0..{self.n_rows - 1}, got {i}")

    def _check_labels(self) -> None:
        if len(self.labels) != self.n_rows:
            raise ValueError(f"labels must have {self.n_rows} values, got {len(self.labels)}")
        self.component._check_rows(self.X)
        for k in self.labels:
            if not UNPLACED <= k <= MAX_LABEL:
                raise ValueError(f"labels must be from -1 to {MAX_LABEL}, got {k}")

    def _check_groups(self) -> None:
        self.component._check_same(self._groups)
        n_groups = self._groups.n_slots
        if len(self.group_labels) != n_groups:
            raise ValueError(
                f"group_labels must have {n_groups} values, got {len(self.group_labels)}"
            )
        for g, k in enumerate(self.group_labels):
            if not 0 <= k <= MAX_LABEL:
                raise ValueError(f"group_labels must be from 0 to {MAX_LABEL}, got {k}")
            if self._groups.counts[g] == 0.0:
                raise ValueError(f"absorbed groups must hold rows, group {g} holds none")

    def _copied_groups(self, slots: Sequence[int]) -> Component:
        """A component of the same prior that holds the absorbed groups of some slots."""
        groups = self.groups_in(slots)
        copies = self.component.like()
        copies.resize(len(groups))
        for j, g in enumerate(groups):
            copies.copy(j, self._groups, g)
        return copies

    def _add_group(self, component: Component, k: int, g: int) -> None:
        """Put an absorbed group into slot `k` of a component whose last slot is empty."""
        spare = component.n_slots - 1
        if component.counts[k] == 0.0:
            component.copy(k, self._groups, g)
        else:
            component.copy(spare, self._groups, g)
            component.merge(k, spare)

    def _add_members(self, component: Component, slot: int, k: int, without: int | None) -> None:
        """Add groups and rows of slot `k`, but not row `without`, to a slot of a component."""
        for g in self.groups_in([k]):
            self._add_group(component, slot, g)
        for i in self.members(k):
            if i != without:
                component.add(self._rows[i], slot, self._weights[i])
