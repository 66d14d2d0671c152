"""How components become clusters: a tree of components, and the level at which it is cut.

A cluster that is not normal is fitted by several components. Between two parts of one cluster the
rows are as dense as within the parts; between two clusters they are less dense. Where normals
describe the rows, the valley between two of them is known from the normals themselves.

===================  =============================================================================
file                 has
===================  =============================================================================
`density_clusters`   the rule: which components are one cluster, by all that follows
`normal_components`  the components of a mixture as normals
`normality`          whether a mixture of normals describes the rows
`normal_valley`      which normals are one cluster, where it does
`valley`             how deep the valley in the density of the rows between two components is
`tree`               the tree in which components join in order of these depths, and its levels
`surface`            whether components tile a curved surface, and are no clusters for that
`weak_evidence`      which small components join nevertheless: weak evidence holds them apart
`joint_tree`         the tree of components that are not normal, by what a union loses of the joint
===================  =============================================================================
"""

from dpmlite.joining.density_clusters import VALLEY_DEPTH, clusters_by_density
from dpmlite.joining.joint_tree import tree_by_joint
from dpmlite.joining.normal_components import NormalComponents
from dpmlite.joining.surface import columns_of_surface
from dpmlite.joining.tree import component_tree, joined_to_limit, labels_of_level, level_of
from dpmlite.joining.valley import pair_depths
from dpmlite.joining.weak_evidence import weak_joins

__all__ = [
    "VALLEY_DEPTH",
    "NormalComponents",
    "clusters_by_density",
    "columns_of_surface",
    "component_tree",
    "joined_to_limit",
    "labels_of_level",
    "level_of",
    "pair_depths",
    "tree_by_joint",
    "weak_joins",
]
