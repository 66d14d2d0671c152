"""Partitions of rows, their exact joint, and the Chinese restaurant process."""

from typing import TYPE_CHECKING

from dpmlite.core.implementation import PURE

if TYPE_CHECKING or PURE:
    from dpmlite.partition.concentration import alpha_given_eta, alpha_mode
    from dpmlite.partition.crp import (
        GreedyCompletion,
        log_best_completion,
        log_best_growth,
        log_best_sizes,
        log_prob,
        log_prob_counts,
        log_prob_multiplicities,
        predictive,
        sample,
        stick_breaking,
    )
    from dpmlite.partition.partition import Partition
else:
    from dpmlite.partition._concentration import alpha_given_eta, alpha_mode
    from dpmlite.partition._crp import (
        GreedyCompletion,
        log_best_completion,
        log_best_growth,
        log_best_sizes,
        log_prob,
        log_prob_counts,
        log_prob_multiplicities,
        predictive,
        sample,
        stick_breaking,
    )
    from dpmlite.partition._partition import Partition

__all__ = [
    "GreedyCompletion",
    "Partition",
    "alpha_given_eta",
    "alpha_mode",
    "log_best_completion",
    "log_best_growth",
    "log_best_sizes",
    "log_prob",
    "log_prob_counts",
    "log_prob_multiplicities",
    "predictive",
    "sample",
    "stick_breaking",
]
