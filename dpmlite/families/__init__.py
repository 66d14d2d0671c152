"""Families of components: conjugate priors, sufficient statistics, predictive densities."""

from typing import TYPE_CHECKING

from dpmlite.core.implementation import PURE

if TYPE_CHECKING or PURE:
    from dpmlite.families.beta_bernoulli import BetaBernoulli
    from dpmlite.families.categorical import Categorical
    from dpmlite.families.component import Component
    from dpmlite.families.dirichlet_multinomial import DirichletMultinomial
    from dpmlite.families.exposed_poisson_gamma import ExposedPoissonGamma
    from dpmlite.families.incomplete_normal_gamma import IncompleteNormalGamma
    from dpmlite.families.normal_gamma import NormalGamma
    from dpmlite.families.normal_inverse_wishart import NormalInverseWishart
    from dpmlite.families.normal_known_variance import NormalKnownVariance
    from dpmlite.families.poisson_gamma import PoissonGamma
    from dpmlite.families.product import Product
else:
    from dpmlite.families._beta_bernoulli import BetaBernoulli
    from dpmlite.families._categorical import Categorical
    from dpmlite.families._component import Component
    from dpmlite.families._dirichlet_multinomial import DirichletMultinomial
    from dpmlite.families._exposed_poisson_gamma import ExposedPoissonGamma
    from dpmlite.families._incomplete_normal_gamma import IncompleteNormalGamma
    from dpmlite.families._normal_gamma import NormalGamma
    from dpmlite.families._normal_inverse_wishart import NormalInverseWishart
    from dpmlite.families._normal_known_variance import NormalKnownVariance
    from dpmlite.families._poisson_gamma import PoissonGamma
    from dpmlite.families._product import Product

__all__ = [
    "BetaBernoulli",
    "Categorical",
    "Component",
    "DirichletMultinomial",
    "ExposedPoissonGamma",
    "IncompleteNormalGamma",
    "NormalGamma",
    "NormalInverseWishart",
    "NormalKnownVariance",
    "PoissonGamma",
    "Product",
]
