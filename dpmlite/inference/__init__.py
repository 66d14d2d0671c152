"""How labels are found: each algorithm moves a Partition, reads one, or does without."""

from typing import TYPE_CHECKING

from dpmlite._implementation import PURE

if TYPE_CHECKING or PURE:
    from dpmlite.inference.dp_means import farthest_first, fit_centres, squared_distances
    from dpmlite.inference.exact import sum_over_partitions
    from dpmlite.inference.map_dpm import converge, sweep
    from dpmlite.inference.prediction import assign, log_density, neg_log_loo, responsibilities
    from dpmlite.inference.split_merge import exchange, merge, merge_change, split
else:
    from dpmlite.inference._dp_means import farthest_first, fit_centres, squared_distances
    from dpmlite.inference._exact import sum_over_partitions
    from dpmlite.inference._map_dpm import converge, sweep
    from dpmlite.inference._prediction import assign, log_density, neg_log_loo, responsibilities
    from dpmlite.inference._split_merge import exchange, merge, merge_change, split

__all__ = [
    "assign",
    "converge",
    "exchange",
    "farthest_first",
    "fit_centres",
    "log_density",
    "merge",
    "merge_change",
    "neg_log_loo",
    "responsibilities",
    "split",
    "squared_distances",
    "sum_over_partitions",
    "sweep",
]
