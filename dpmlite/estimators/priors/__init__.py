"""Priors and posteriors of each component family in the terms of users: one file a family."""

from dpmlite.estimators.priors.base import Family
from dpmlite.estimators.priors.beta_bernoulli import BetaBernoulliFamily
from dpmlite.estimators.priors.dirichlet_multinomial import DirichletMultinomialFamily
from dpmlite.estimators.priors.normal_gamma import NormalGammaFamily
from dpmlite.estimators.priors.normal_inverse_wishart import NormalInverseWishartFamily
from dpmlite.estimators.priors.normal_known_variance import NormalKnownVarianceFamily

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        NormalGammaFamily(),
        NormalInverseWishartFamily(),
        NormalKnownVarianceFamily(),
        DirichletMultinomialFamily(),
        BetaBernoulliFamily(),
    )
}

#: The values of the parameter `component`.
COMPONENTS = tuple(FAMILIES)

__all__ = ["COMPONENTS", "FAMILIES", "Family"]
