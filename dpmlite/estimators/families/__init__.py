"""Component families as users meet them: one file each, and the table of all of them."""

from dpmlite.estimators.families.base import Family
from dpmlite.estimators.families.beta_bernoulli import BetaBernoulliFamily
from dpmlite.estimators.families.dirichlet_multinomial import DirichletMultinomialFamily
from dpmlite.estimators.families.normal_gamma import NormalGammaFamily
from dpmlite.estimators.families.normal_inverse_wishart import NormalInverseWishartFamily
from dpmlite.estimators.families.normal_known_variance import NormalKnownVarianceFamily

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

#: Values of the parameter `component`.
COMPONENTS = tuple(FAMILIES)

__all__ = ["COMPONENTS", "FAMILIES", "Family"]
