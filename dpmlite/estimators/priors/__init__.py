"""Priors and posteriors of each component family in the terms of users: one file a family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpmlite.estimators.priors.base import Family
from dpmlite.estimators.priors.beta_bernoulli import BetaBernoulliFamily
from dpmlite.estimators.priors.dirichlet_multinomial import DirichletMultinomialFamily
from dpmlite.estimators.priors.mixed import MixedFamily
from dpmlite.estimators.priors.normal_gamma import NormalGammaFamily
from dpmlite.estimators.priors.normal_inverse_wishart import NormalInverseWishartFamily
from dpmlite.estimators.priors.normal_known_variance import NormalKnownVarianceFamily
from dpmlite.estimators.priors.poisson_gamma import PoissonGammaFamily
from dpmlite.estimators.priors.zero_inflated import ZeroInflatedFamily

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpmlite.estimators.inputs.columns import Columns

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

# Families of single columns of a mixed table.
_SEPARATE = {
    **FAMILIES,
    "poisson-gamma": PoissonGammaFamily(),
    "zero-inflated": ZeroInflatedFamily(),
}


def mixed_family(columns: Columns) -> MixedFamily:
    """The family of a table whose columns have different ones."""
    return MixedFamily(columns, _SEPARATE)


def family_of_keys(prior: Mapping[str, Any]) -> Family:
    """The first family whose prior has all given keys; the first of all if none has.

    Some keys are of several families: the first is the one that a user most likely means.
    """
    keys = set(prior)
    fitting = (family for family in FAMILIES.values() if keys <= set(family.prior_keys))
    return next(fitting, FAMILIES["normal-gamma"])


#: The values of the parameter `component`.
COMPONENTS = tuple(FAMILIES)

__all__ = ["COMPONENTS", "FAMILIES", "Family", "family_of_keys", "mixed_family"]
