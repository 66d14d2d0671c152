"""Which components are one cluster: the rule of ``join="auto"`` for columns of numbers.

Where normals describe the rows, clusters are normal, and may overlap: the valleys of the normals
decide. Elsewhere, those in the density of the rows do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.joining.normal_valley import clusters_of_normals
from dpmlite.joining.normality import MAX_ROWS, Misfit
from dpmlite.joining.tree import labels_of_level, level_of
from dpmlite.joining.valley import MAX_LOG_RATIO, MIN_SHARE

if TYPE_CHECKING:
    from dpmlite.joining.normal_components import Floats, Indices, NormalComponents

# Depth of the valley between two clusters in the density of the rows, in nats, from which on they
# are not one: the density falls to little more than half of the lower peak.
# asv_benchmarks/benchmarks/battery.py compares others.
VALLEY_DEPTH = 0.55

# Up to this number of columns people see the density, and what has no valley is one cluster to
# them, unless the rows exclude other shapes than normals. A few hundred rows of a ring are
# distributed as a mixture of normals, too: of its arcs.
MAX_SEEN_COLUMNS = 2

# A normal of fewer of the rows of such a cluster is its tail.
MIN_PART = 0.1


def clusters_by_density(
    components: NormalComponents, tree: Floats, X: Floats, labels: Indices, tiled: bool
) -> tuple[Indices, bool]:
    """The cluster of each component, and whether normals describe all rows.

    Parameters
    ----------
    components : NormalComponents
    tree : ndarray, shape (K - 1, 4)
        In which components join by the density of the rows: see `component_tree`.
    X : ndarray, shape (N, D)
        Rows; NaN is a missing value.
    labels : ndarray of int, shape (N,)
        The component of each row.
    tiled : bool
        Whether components tile a surface. They are few clusters, if more than one.

    Returns
    -------
    clusters : ndarray of int, shape (K,)
    are_normal : bool
    """
    if X.shape[1] > MAX_SEEN_COLUMNS:
        if components.are_at_one_place():
            clusters = labels_of_level(tree, level_of(tree, MAX_LOG_RATIO))
            return with_tails(clusters, components.weights, MIN_SHARE), False
        if not tiled and Misfit.of(components, X).is_chance:
            return clusters_of_normals(components), True
    clusters = labels_of_level(tree, level_of(tree, VALLEY_DEPTH))
    return clusters if tiled else _normals_divided(components, X, labels, clusters), False


def with_tails(clusters: Indices, weights: Floats, min_share: float) -> Indices:
    """Clusters at one place, of which those of a smaller share are tails of the largest."""
    shares = np.bincount(clusters, weights)
    return np.where(shares[clusters] < min_share, np.argmax(shares), clusters)


def _normals_divided(
    components: NormalComponents, X: Floats, labels: Indices, clusters: Indices
) -> Indices:
    """Clusters, of which those whose rows normals describe are divided by these."""
    divided, n_clusters = clusters.copy(), int(clusters.max()) + 1
    for cluster in range(n_clusters):
        members = np.flatnonzero(clusters == cluster)
        if len(members) == 1:
            continue
        rows = np.flatnonzero(np.isin(labels, members))
        part = components.part(members)
        if Misfit.of(part, X[rows[:: -(-len(rows) // MAX_ROWS)]]).excludes_other_shapes:
            parts = with_tails(clusters_of_normals(part), part.weights, MIN_PART)
            divided[members] = divided.max() + 1 + parts
    return divided
