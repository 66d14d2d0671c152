"""Algorithms beside the sweeps: trees, variational inference, DP-means, hyperparameters, ..."""

from typing import TYPE_CHECKING

from dpmlite.core.implementation import PURE

if TYPE_CHECKING or PURE:
    from dpmlite.algorithms.alternative_trees import log_increments
    from dpmlite.algorithms.bhc import Forest
    from dpmlite.algorithms.dp_means import farthest_first, fit_centres, squared_distances
    from dpmlite.algorithms.exact import sum_over_partitions
    from dpmlite.algorithms.line_density import density_on_line
    from dpmlite.algorithms.minimise import minimise
    from dpmlite.algorithms.mixing import (
        CollapsedDirichlet,
        CollapsedSticks,
        Mixing,
        Sticks,
        unbroken_log_evidence,
    )
    from dpmlite.algorithms.normal_gamma_joint import NormalGammaJoint
    from dpmlite.algorithms.normal_inverse_wishart_joint import NormalInverseWishartJoint
    from dpmlite.algorithms.prediction import (
        log_density,
        log_mixture_density,
        mixture_responsibilities,
        neg_log_loo,
        own_costs,
        responsibilities,
    )
    from dpmlite.algorithms.prefix_search import PrefixSearch, prior_log_densities
    from dpmlite.algorithms.trees import cut, hold, log_node_weights
    from dpmlite.algorithms.variational import absorb, step
else:
    from dpmlite.algorithms._alternative_trees import log_increments
    from dpmlite.algorithms._bhc import Forest
    from dpmlite.algorithms._dp_means import farthest_first, fit_centres, squared_distances
    from dpmlite.algorithms._exact import sum_over_partitions
    from dpmlite.algorithms._line_density import density_on_line
    from dpmlite.algorithms._minimise import minimise
    from dpmlite.algorithms._mixing import (
        CollapsedDirichlet,
        CollapsedSticks,
        Mixing,
        Sticks,
        unbroken_log_evidence,
    )
    from dpmlite.algorithms._normal_gamma_joint import NormalGammaJoint
    from dpmlite.algorithms._normal_inverse_wishart_joint import NormalInverseWishartJoint
    from dpmlite.algorithms._prediction import (
        log_density,
        log_mixture_density,
        mixture_responsibilities,
        neg_log_loo,
        own_costs,
        responsibilities,
    )
    from dpmlite.algorithms._prefix_search import PrefixSearch, prior_log_densities
    from dpmlite.algorithms._trees import cut, hold, log_node_weights
    from dpmlite.algorithms._variational import absorb, step

__all__ = [
    "CollapsedDirichlet",
    "CollapsedSticks",
    "Forest",
    "Mixing",
    "NormalGammaJoint",
    "NormalInverseWishartJoint",
    "PrefixSearch",
    "Sticks",
    "absorb",
    "cut",
    "density_on_line",
    "farthest_first",
    "fit_centres",
    "hold",
    "log_density",
    "log_increments",
    "log_mixture_density",
    "log_node_weights",
    "minimise",
    "mixture_responsibilities",
    "neg_log_loo",
    "own_costs",
    "prior_log_densities",
    "responsibilities",
    "squared_distances",
    "step",
    "sum_over_partitions",
    "unbroken_log_evidence",
]
