"""Which components are one cluster if the rows are distributed as the normals say.

Then the density of two components is that of their normals, and its valley needs no estimate from
rows. A skewed or heavy-tailed cluster is a mixture of normals, too, but of such as have no valley
between them. Planes of many columns that cross have none either, but hardly a row in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.joining.tree import component_tree, labels_of_level, level_of
from dpmlite.joining.valley import PARTS_OF_LINE, deepest_valley

if TYPE_CHECKING:
    from dpmlite.joining.normal_components import Indices, NormalComponents

# Depth of the valley between two clusters that are normal, in nats, from which on they are not one.
# It is that of two alike at a distance of 2.8 deviations.
NORMAL_VALLEY_DEPTH = 0.3

# Bhattacharyya distance from which on two normals have hardly a row in common: exp(-2.5) / 2 = 4 %
# at most are more probable in the other of two alike (Kailath 1967).
MAX_DISTANCE = 2.5


def clusters_of_normals(components: NormalComponents) -> Indices:
    """The cluster of each component, by the valleys between their normals.

    Parameters
    ----------
    components : NormalComponents

    Returns
    -------
    ndarray of int, shape (K,)
        Clusters are numbered by their first component.
    """
    depths = {(j, k): normal_depth(components, j, k) for j, k in components.neighbours()}
    tree = component_tree(components.log_peaks, depths)
    return labels_of_level(tree, level_of(tree, NORMAL_VALLEY_DEPTH))


def normal_depth(components: NormalComponents, j: int, k: int) -> float:
    """Depth of the valley between two normals on the line of their discriminant, in nats.

    It is infinite if they have hardly a row in common.
    """
    if components.bhattacharyya(j, k) > MAX_DISTANCE:
        return np.inf
    direction = components.discriminant(j, k)
    begin, end = components.means[[j, k]] @ direction
    points = begin + (end - begin) * PARTS_OF_LINE
    density = np.zeros(len(points))
    for component, mean in ((j, begin), (k, end)):
        deviation = components.deviation(component, direction) or 1.0
        peak = components.weights[component] / deviation
        density += peak * np.exp(-0.5 * ((points - mean) / deviation) ** 2)
    return deepest_valley(density)
