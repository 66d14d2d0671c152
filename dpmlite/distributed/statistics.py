"""Statistics of clusters as arrays of shape (K, L), which add.

The first of the L numbers of a cluster is its weight. They are in the units of a component, which
merges them: whatever the family, two rows of statistics add as two slots do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpmlite import families
    from dpmlite.distributed.protocols import Floats, Indices


def load(component: families.Component, statistics: Floats, n_empty: int = 0) -> None:
    """Give a component one slot for each row of statistics, and empty slots after them."""
    component.resize(len(statistics) + n_empty)
    for k, row in enumerate(statistics.tolist()):
        component.load(k, row)


def loaded(component: families.Component, statistics: Floats) -> families.Component:
    """A component of the same prior with one slot for each row of statistics."""
    slots = component.like()
    load(slots, statistics)
    return slots


def statistics_of(component: families.Component, n_slots: int) -> Floats:
    """Statistics of the first slots of a component, shape (n_slots, L)."""
    return np.array([component.statistics(k) for k in range(n_slots)])


def empty_statistics(component: families.Component, n_slots: int) -> Floats:
    """Statistics of clusters without rows."""
    slots = component.like()
    slots.resize(1)
    return np.repeat(statistics_of(slots, 1), n_slots, axis=0)


def grouped(
    component: families.Component, statistics: Floats, labels: Indices, n_groups: int
) -> Floats:
    """Sums of the rows of statistics that have the same label, shape (n_groups, L)."""
    sums = RunningSums(component, n_groups)
    sums.add(statistics, labels)
    return sums.statistics


def total(component: families.Component, chunks: Sequence[Floats]) -> Floats:
    """Statistics of the clusters in all chunks together, shape (K, L)."""
    sums = RunningSums(component, len(chunks[0]))
    for chunk in chunks:
        sums.add(chunk, np.arange(len(chunk)))
    return sums.statistics


def all_others(component: families.Component, chunks: Sequence[Floats]) -> list[Floats]:
    """Of each chunk, the statistics of the clusters in all other chunks.

    They are sums of those before and after it. Differences would lose digits.
    """
    before = sums_before(component, chunks)
    after = sums_before(component, chunks[::-1])[::-1]
    return [total(component, pair) for pair in zip(before, after, strict=True)]


def sums_before(component: families.Component, chunks: Sequence[Floats]) -> list[Floats]:
    """Of each chunk, the statistics of the clusters in all chunks before it."""
    sums, found = RunningSums(component, len(chunks[0])), []
    for chunk in chunks:
        found.append(sums.statistics.copy())
        sums.add(chunk, np.arange(len(chunk)))
    return found


class RunningSums:
    """Statistics of groups, to which more are added.

    Parameters
    ----------
    component : Component
    n_groups : int

    Attributes
    ----------
    statistics : ndarray, shape (n_groups, L)
    """

    def __init__(self, component: families.Component, n_groups: int) -> None:
        self.statistics = empty_statistics(component, n_groups)
        self._pair = component.like()
        self._pair.resize(2)

    def add(self, statistics: Floats, labels: Indices) -> None:
        """Add each row of statistics to the group that is its label."""
        for k in np.flatnonzero(statistics[:, 0] > 0.0).tolist():
            into = self.statistics[labels[k]]
            if into[0] > 0.0:
                self._pair.load(0, into.tolist())
                self._pair.load(1, statistics[k].tolist())
                self._pair.merge(0, 1)
                into[:] = self._pair.statistics(0)
            else:
                into[:] = statistics[k]
