"""What is believed: probabilities of partitions and of rows, and their sufficient statistics."""

from typing import TYPE_CHECKING

from dpmlite._implementation import PURE

if TYPE_CHECKING or PURE:
    from dpmlite.models.beta_bernoulli import BetaBernoulli
    from dpmlite.models.component import Component
    from dpmlite.models.concentration import alpha_given_eta, alpha_mode
    from dpmlite.models.crp import (
        GreedyCompletion,
        log_best_completion,
        log_prob,
        log_prob_counts,
        log_prob_multiplicities,
        predictive,
        sample,
        stick_breaking,
    )
    from dpmlite.models.dirichlet_multinomial import DirichletMultinomial
    from dpmlite.models.incomplete_normal_gamma import IncompleteNormalGamma
    from dpmlite.models.mixing import (
        CollapsedDirichlet,
        CollapsedSticks,
        Mixing,
        Sticks,
        unbroken_log_evidence,
    )
    from dpmlite.models.moments import column_moments
    from dpmlite.models.normal_gamma import NormalGamma
    from dpmlite.models.normal_inverse_wishart import NormalInverseWishart
    from dpmlite.models.normal_known_variance import NormalKnownVariance
    from dpmlite.models.partition import Partition
    from dpmlite.models.rows import Rows
    from dpmlite.models.special import (
        digamma,
        log_gamma,
        log_gamma_half_step,
        log_rising,
        multivariate_log_gamma,
    )
else:
    from dpmlite._kernels import (
        BetaBernoulli,
        CollapsedDirichlet,
        CollapsedSticks,
        Component,
        DirichletMultinomial,
        GreedyCompletion,
        IncompleteNormalGamma,
        Mixing,
        NormalGamma,
        NormalInverseWishart,
        NormalKnownVariance,
        Partition,
        Rows,
        Sticks,
        alpha_given_eta,
        alpha_mode,
        column_moments,
        digamma,
        log_best_completion,
        log_gamma,
        log_gamma_half_step,
        log_prob,
        log_prob_counts,
        log_prob_multiplicities,
        log_rising,
        multivariate_log_gamma,
        predictive,
        sample,
        stick_breaking,
        unbroken_log_evidence,
    )

__all__ = [
    "BetaBernoulli",
    "CollapsedDirichlet",
    "CollapsedSticks",
    "Component",
    "DirichletMultinomial",
    "GreedyCompletion",
    "IncompleteNormalGamma",
    "Mixing",
    "NormalGamma",
    "NormalInverseWishart",
    "NormalKnownVariance",
    "Partition",
    "Rows",
    "Sticks",
    "alpha_given_eta",
    "alpha_mode",
    "column_moments",
    "digamma",
    "log_best_completion",
    "log_gamma",
    "log_gamma_half_step",
    "log_prob",
    "log_prob_counts",
    "log_prob_multiplicities",
    "log_rising",
    "multivariate_log_gamma",
    "predictive",
    "sample",
    "stick_breaking",
    "unbroken_log_evidence",
]
