"""Forgetting in streams: the rule of the learners for boards, for all families.

When the components have `memory` rows together, the rows of each are halved, rounded down; one that
had a single row is forgotten. Its statistics are those of its rows, each of which counts what the
rows have become as a part of what they were. So means and variances stay, and shares but for the
rounding; posteriors widen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpmlite.estimators.map_dpm.streaming import FittedClusters


def remembered(clusters: FittedClusters, memory: int | None) -> FittedClusters:
    """What is left of components when they have fewer than `memory` rows, or no memory is given.

    The components themselves if they have fewer.
    """
    while memory is not None and clusters.counts.sum() >= memory:
        clusters = _halved(clusters)
    return clusters


def _halved(clusters: FittedClusters) -> FittedClusters:
    """Components after half of the rows of each are forgotten."""
    counts = clusters.counts // 2
    left = counts > 0
    parts = counts[left] / clusters.counts[left]
    before = clusters.statistics[left]
    statistics = clusters.family.scale_statistics(before, clusters.prior, parts[:, None])
    part = statistics[:, 0].sum() / clusters.statistics[:, 0].sum()
    return replace(
        clusters,
        statistics=statistics,
        counts=counts[left],
        moments=clusters.moments.forgetting(float(part), int(counts.sum())),
        clusters=None if clusters.clusters is None else clusters.clusters[left],
    )
