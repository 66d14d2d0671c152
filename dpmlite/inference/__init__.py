"""How labels are found: each algorithm moves a Partition, reads one, or does without."""

from typing import TYPE_CHECKING

from dpmlite._implementation import PURE

if TYPE_CHECKING or PURE:
    from dpmlite.inference.alternative_trees import log_increments
    from dpmlite.inference.assignment import assign
    from dpmlite.inference.bhc import Forest
    from dpmlite.inference.division import members_of
    from dpmlite.inference.dp_means import farthest_first, fit_centres, squared_distances
    from dpmlite.inference.exact import sum_over_partitions
    from dpmlite.inference.exchanges import exchange
    from dpmlite.inference.gibbs import gibbs_sweep
    from dpmlite.inference.jain_neal import propose_split_merge
    from dpmlite.inference.map_dpm import converge, sweep
    from dpmlite.inference.merges import merge, merge_change
    from dpmlite.inference.normality import all_look_normal
    from dpmlite.inference.prediction import (
        log_density,
        log_mixture_density,
        mixture_responsibilities,
        neg_log_loo,
        own_costs,
        responsibilities,
    )
    from dpmlite.inference.screening import screen
    from dpmlite.inference.search import PrefixSearch, prior_log_densities
    from dpmlite.inference.seeds import two_of
    from dpmlite.inference.splits import split
    from dpmlite.inference.trees import cut, hold, log_node_weights
    from dpmlite.inference.variational import absorb, step
else:
    from dpmlite._kernels import (
        Forest,
        PrefixSearch,
        absorb,
        all_look_normal,
        assign,
        converge,
        cut,
        exchange,
        farthest_first,
        fit_centres,
        gibbs_sweep,
        hold,
        log_density,
        log_increments,
        log_mixture_density,
        log_node_weights,
        members_of,
        merge,
        merge_change,
        mixture_responsibilities,
        neg_log_loo,
        own_costs,
        prior_log_densities,
        propose_split_merge,
        responsibilities,
        screen,
        split,
        squared_distances,
        step,
        sum_over_partitions,
        sweep,
        two_of,
    )

__all__ = [
    "Forest",
    "PrefixSearch",
    "absorb",
    "all_look_normal",
    "assign",
    "converge",
    "cut",
    "exchange",
    "farthest_first",
    "fit_centres",
    "gibbs_sweep",
    "hold",
    "log_density",
    "log_increments",
    "log_mixture_density",
    "log_node_weights",
    "members_of",
    "merge",
    "merge_change",
    "mixture_responsibilities",
    "neg_log_loo",
    "own_costs",
    "prior_log_densities",
    "propose_split_merge",
    "responsibilities",
    "screen",
    "split",
    "squared_distances",
    "step",
    "sum_over_partitions",
    "sweep",
    "two_of",
]
