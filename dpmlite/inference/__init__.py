"""How labels are found: each algorithm moves a Partition, or reads one."""

from typing import TYPE_CHECKING

from dpmlite._implementation import PURE

if TYPE_CHECKING or PURE:
    from dpmlite.inference.map_dpm import converge, sweep
    from dpmlite.inference.prediction import assign, log_density, neg_log_loo, responsibilities
    from dpmlite.inference.split_merge import exchange, merge, merge_change, split
else:
    from dpmlite.inference._map_dpm import converge, sweep
    from dpmlite.inference._prediction import assign, log_density, neg_log_loo, responsibilities
    from dpmlite.inference._split_merge import exchange, merge, merge_change, split

__all__ = [
    "assign",
    "converge",
    "exchange",
    "log_density",
    "merge",
    "merge_change",
    "neg_log_loo",
    "responsibilities",
    "split",
    "sweep",
]
