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


def loaded(component: families.Component, statistics: Floats) -> families.Component:
    """A component of the same prior with one slot for each row of statistics."""
    slots = component.like()
    slots.resize(len(statistics))
    for k, row in enumerate(statistics.tolist()):
        slots.load(k, row)
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
    used = np.flatnonzero(statistics[:, 0] > 0.0)
    slots = loaded(component, statistics[used])
    sums = empty_statistics(component, n_groups)
    first: dict[int, int] = {}
    for k, label in enumerate(labels[used].tolist()):
        if label in first:
            slots.merge(first[label], k)
        else:
            first[label] = k
    for label, k in first.items():
        sums[label] = slots.statistics(k)
    return sums


def added(component: families.Component, one: Floats, other: Floats) -> Floats:
    """Statistics of the rows of two arrays of clusters together, cluster by cluster."""
    labels = np.tile(np.arange(len(one)), 2)
    return grouped(component, np.vstack([one, other]), labels, len(one))


def total(component: families.Component, chunks: Sequence[Floats]) -> Floats:
    """Statistics of the clusters in all chunks together, shape (K, L)."""
    labels = np.tile(np.arange(len(chunks[0])), len(chunks))
    return grouped(component, np.vstack(chunks), labels, len(chunks[0]))


def all_others(component: families.Component, chunks: Sequence[Floats]) -> list[Floats]:
    """Of each chunk, the statistics of the clusters in all other chunks.

    They are sums of those before and after it. Differences would lose digits.
    """
    before = _running_sums(component, chunks)
    after = _running_sums(component, chunks[::-1])[::-1]
    return [added(component, one, other) for one, other in zip(before, after, strict=True)]


def _running_sums(component: families.Component, chunks: Sequence[Floats]) -> list[Floats]:
    """Of each chunk, the sum of those before it."""
    sums = [empty_statistics(component, len(chunks[0]))]
    for chunk in chunks[:-1]:
        sums.append(added(component, sums[-1], chunk))
    return sums
