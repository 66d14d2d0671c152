"""Statistics of clusters, which add: a component has those of one cluster a slot.

Messages have them as arrays of shape (K, L); the first of the L numbers is a cluster's weight.
Whatever the family, two clusters add as two slots of a component do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpmlite.distributed.protocols import Floats, Indices
    from dpmlite.families import Component


def load(component: Component, statistics: Floats, n_empty: int = 0) -> None:
    """Give a component one slot for each row of statistics, and empty slots after them."""
    component.resize(len(statistics) + n_empty)
    for k, row in enumerate(statistics.tolist()):
        component.load(k, row)


def loaded(component: Component, statistics: Floats) -> Component:
    """A component of the same prior with one slot for each row of statistics."""
    slots = component.like()
    load(slots, statistics)
    return slots


def statistics_of(component: Component, n_slots: int) -> Floats:
    """Statistics of the first slots of a component, shape (n_slots, L)."""
    return np.array([component.statistics(k) for k in range(n_slots)])


def grouped(slots: Component, labels: Indices, n_groups: int) -> Component:
    """Sums of the slots that have the same label, one group a slot."""
    sums = RunningSums(slots, n_groups)
    sums.add(slots, labels)
    return sums.snapshot()


def total(chunks: Sequence[Component]) -> Component:
    """Sums of the equal slots of all chunks."""
    sums = RunningSums(chunks[0], chunks[0].n_slots)
    for chunk in chunks:
        sums.add(chunk, np.arange(chunk.n_slots))
    return sums.snapshot()


def all_others(chunks: Sequence[Component]) -> list[Component]:
    """Of each chunk, the sums of the equal slots of all other chunks.

    They are sums of those before and after it. Differences would lose digits.
    """
    before = sums_before(chunks)
    after = sums_before(chunks[::-1])[::-1]
    return [total(pair) for pair in zip(before, after, strict=True)]


def sums_before(chunks: Sequence[Component]) -> list[Component]:
    """Of each chunk, the sums of the equal slots of all chunks before it."""
    sums, found = RunningSums(chunks[0], chunks[0].n_slots), []
    for chunk in chunks:
        found.append(sums.snapshot())
        sums.add(chunk, np.arange(chunk.n_slots))
    return found


class RunningSums:
    """Statistics of groups, to which more are added.

    Parameters
    ----------
    like : Component
        Of the same prior.
    n_groups : int
    """

    def __init__(self, like: Component, n_groups: int) -> None:
        self.n_groups = n_groups
        self._slots = like.like()
        self._slots.resize(n_groups + 1)  # the last holds what is added next
        self._has_rows = [False] * n_groups

    def add(self, slots: Component, labels: Indices) -> None:
        """Add each slot of a component to the group that is its label."""
        for k, (count, group) in enumerate(zip(slots.counts, labels.tolist(), strict=True)):
            if count > 0.0 and self._has_rows[group]:
                self._slots.copy(self.n_groups, slots, k)
                self._slots.merge(group, self.n_groups)
            elif count > 0.0:
                self._slots.copy(group, slots, k)
                self._has_rows[group] = True

    def snapshot(self) -> Component:
        """The groups as they are now, one a slot."""
        groups = self._slots.like()
        groups.resize(self.n_groups)
        for k in np.flatnonzero(self._has_rows).tolist():
            groups.copy(k, self._slots, k)
        return groups
