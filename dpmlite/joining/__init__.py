"""How components become clusters: a tree of components, and the level at which it is cut.

A cluster that is not normal is fitted by several components. Between two parts of one cluster the
rows are as dense as within the parts; between two clusters they are less dense. Where normals
describe all rows of more than two columns, each component is a cluster, but for stray rows.

===============  =================================================================================
file             has
===============  =================================================================================
`normality`      whether a mixture of normals describes the rows, so that none need be joined
`weak_evidence`  which small components join nevertheless: weak evidence holds them apart
`surface`        whether components tile a curved surface, and are no clusters for that
`valley`         how deep the valley in the density of the rows between two components is
`tree`           the tree in which components join in order of these depths, and its levels
`joint_tree`     the tree of components that are not normal, by what a union loses of the joint
===============  =================================================================================
"""

from dpmlite.joining.joint_tree import tree_by_joint
from dpmlite.joining.normality import fits_normals
from dpmlite.joining.surface import columns_of_surface
from dpmlite.joining.tree import component_tree, joined_to_limit, labels_of_level, level_of
from dpmlite.joining.valley import MAX_LOG_RATIO, NormalComponents, pair_depths
from dpmlite.joining.weak_evidence import weak_joins

__all__ = [
    "MAX_LOG_RATIO",
    "NormalComponents",
    "columns_of_surface",
    "component_tree",
    "fits_normals",
    "joined_to_limit",
    "labels_of_level",
    "level_of",
    "pair_depths",
    "tree_by_joint",
    "weak_joins",
]
