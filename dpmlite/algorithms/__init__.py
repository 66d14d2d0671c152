"""Algorithms beside the sweeps: trees, variational inference, DP-means, search, enumeration."""

from typing import TYPE_CHECKING

from dpmlite.core.implementation import PURE

if TYPE_CHECKING or PURE:
    from dpmlite.algorithms.alternative_trees import log_increments
    from dpmlite.algorithms.bhc import Forest
    from dpmlite.algorithms.dp_means import farthest_first, fit_centres, squared_distances
    from dpmlite.algorithms.exact import sum_over_partitions
    from dpmlite.algorithms.mixing import (
        CollapsedDirichlet,
        CollapsedSticks,
        Mixing,
        Sticks,
        unbroken_log_evidence,
    )
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
    from dpmlite.algorithms._mixing import (
        CollapsedDirichlet,
        CollapsedSticks,
        Mixing,
        Sticks,
        unbroken_log_evidence,
    )
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
    "PrefixSearch",
    "Sticks",
    "absorb",
    "cut",
    "farthest_first",
    "fit_centres",
    "hold",
    "log_density",
    "log_increments",
    "log_mixture_density",
    "log_node_weights",
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
