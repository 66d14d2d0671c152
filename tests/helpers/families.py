"""Every component family for tests: a prior, random rows, and its marginal as plainly as can be."""

from dataclasses import dataclass
from itertools import cycle

import naive
import numpy as np
from family_models import (
    beta_bernoulli_log_marginal,
    beta_bernoulli_prior,
    binary_rows,
    binary_with_gaps,
    categorical_log_marginal,
    categorical_prior,
    counts_rows,
    counts_with_gaps,
    dirichlet_multinomial_log_marginal,
    dirichlet_multinomial_prior,
    exposed_poisson_gamma_log_marginal,
    exposed_poisson_gamma_prior,
    exposed_with_gaps,
    incomplete_log_marginal,
    levels_rows,
    levels_with_gaps,
    normal_gamma_prior,
    normal_inverse_wishart_log_marginal,
    normal_inverse_wishart_prior,
    normal_known_variance_log_marginal,
    normal_known_variance_prior,
    poisson_gamma_log_marginal,
    poisson_gamma_prior,
    real_rows,
    real_with_gaps,
)


@dataclass(frozen=True)
class Case:
    """One family: how tests build it and judge it.

    `log_marginal(rows, prior)` is log p(rows | theta_0); `draw(rng, n_rows, n_columns)` draws
    rows with some structure; `prior(rng, n_columns)` draws a prior.
    """

    name: str
    module: str
    constructor: str
    log_marginal: object
    prior: object
    draw: object

    def component(self, twin, prior):
        return getattr(getattr(twin, self.module), self.constructor)(**prior)

    def neg_log_joint(self, X, labels, alpha, prior):
        """The objective."""
        labels = np.asarray(labels)
        data = sum(self.log_marginal(X[labels == k], prior) for k in np.unique(labels))
        power = prior.get("power", 1.0)
        return -naive.log_crp(labels, alpha, power) / power - data


@dataclass(frozen=True)
class ProductCase(Case):
    """A product of families, each of which has some columns.

    Its prior holds those of the parts, which do not have the power.
    """

    kinds: tuple  # names of the parts' families and their columns, again and again

    def parts(self, n_columns):
        """The family of each part, and its columns, as a slice."""
        first = 0
        for name, width in cycle(self.kinds):
            yield CASES[name], slice(first, min(first + width, n_columns))
            first += width
            if first >= n_columns:
                return

    def component(self, twin, prior):
        parts = zip(self.parts(prior["n_columns"]), priors_of_parts(prior), strict=True)
        return twin.product.Product([case.component(twin, part) for (case, _), part in parts])


def priors_of_parts(prior):
    """The priors of a product's parts, with its power."""
    power = {"power": prior["power"]} if "power" in prior else {}
    return [part | power for part in prior["parts"]]


def product_of(name, *kinds, power=False):
    """A case of a product of families."""

    def prior(rng, n_columns):
        parts = [part.prior(rng, d.stop - d.start) for part, d in case.parts(n_columns)]
        return {"n_columns": n_columns, "parts": parts}

    def draw(rng, n_rows, n_columns):
        parts = case.parts(n_columns)
        return np.hstack([part.draw(rng, n_rows, d.stop - d.start) for part, d in parts])

    def log_marginal(rows, prior):
        parts = zip(case.parts(prior["n_columns"]), priors_of_parts(prior), strict=True)
        return sum(part.log_marginal(rows[:, d], own) for (part, d), own in parts)

    made = coarsened(prior) if power else prior
    case = ProductCase(name, "product", "Product", log_marginal, made, draw, kinds)
    return case


def coarsened(prior):
    """The priors that a function draws, with a power of the likelihood."""
    return lambda rng, n_columns: prior(rng, n_columns) | {"power": float(rng.choice([0.05, 0.4]))}


CASES = {
    case.name: case
    for case in (
        Case(
            "normal-gamma",
            "normal_gamma",
            "NormalGamma",
            lambda rows, prior: naive.log_marginal(rows, prior) if len(rows) else 0.0,
            normal_gamma_prior,
            real_rows,
        ),
        Case(
            "incomplete normal-gamma",
            "incomplete_normal_gamma",
            "IncompleteNormalGamma",
            incomplete_log_marginal,
            normal_gamma_prior,
            real_with_gaps,
        ),
        Case(
            "normal-inverse-wishart",
            "normal_inverse_wishart",
            "NormalInverseWishart",
            normal_inverse_wishart_log_marginal,
            normal_inverse_wishart_prior,
            real_rows,
        ),
        Case(
            "coarsened normal-gamma",
            "normal_gamma",
            "NormalGamma",
            lambda rows, prior: naive.log_marginal(rows, prior) if len(rows) else 0.0,
            coarsened(normal_gamma_prior),
            real_rows,
        ),
        Case(
            "coarsened incomplete normal-gamma",
            "incomplete_normal_gamma",
            "IncompleteNormalGamma",
            incomplete_log_marginal,
            coarsened(normal_gamma_prior),
            real_with_gaps,
        ),
        Case(
            "coarsened normal-inverse-wishart",
            "normal_inverse_wishart",
            "NormalInverseWishart",
            normal_inverse_wishart_log_marginal,
            coarsened(normal_inverse_wishart_prior),
            real_rows,
        ),
        Case(
            "normal-known-variance",
            "normal_known_variance",
            "NormalKnownVariance",
            normal_known_variance_log_marginal,
            normal_known_variance_prior,
            real_rows,
        ),
        Case(
            "dirichlet-multinomial",
            "dirichlet_multinomial",
            "DirichletMultinomial",
            dirichlet_multinomial_log_marginal,
            dirichlet_multinomial_prior,
            counts_rows,
        ),
        Case(
            "beta-bernoulli",
            "beta_bernoulli",
            "BetaBernoulli",
            beta_bernoulli_log_marginal,
            beta_bernoulli_prior,
            binary_rows,
        ),
        Case(
            "incomplete beta-bernoulli",
            "beta_bernoulli",
            "BetaBernoulli",
            beta_bernoulli_log_marginal,
            beta_bernoulli_prior,
            binary_with_gaps,
        ),
        Case(
            "categorical",
            "categorical",
            "Categorical",
            categorical_log_marginal,
            categorical_prior,
            levels_rows,
        ),
        Case(
            "incomplete categorical",
            "categorical",
            "Categorical",
            categorical_log_marginal,
            categorical_prior,
            levels_with_gaps,
        ),
        Case(
            "coarsened categorical",
            "categorical",
            "Categorical",
            categorical_log_marginal,
            coarsened(categorical_prior),
            levels_with_gaps,
        ),
        Case(
            "poisson-gamma",
            "poisson_gamma",
            "PoissonGamma",
            poisson_gamma_log_marginal,
            poisson_gamma_prior,
            counts_rows,
        ),
        Case(
            "incomplete poisson-gamma",
            "poisson_gamma",
            "PoissonGamma",
            poisson_gamma_log_marginal,
            poisson_gamma_prior,
            counts_with_gaps,
        ),
        Case(
            "incomplete exposed poisson-gamma",
            "exposed_poisson_gamma",
            "ExposedPoissonGamma",
            exposed_poisson_gamma_log_marginal,
            exposed_poisson_gamma_prior,
            exposed_with_gaps,
        ),
        Case(
            "coarsened exposed poisson-gamma",
            "exposed_poisson_gamma",
            "ExposedPoissonGamma",
            exposed_poisson_gamma_log_marginal,
            coarsened(exposed_poisson_gamma_prior),
            exposed_with_gaps,
        ),
        Case(
            "coarsened poisson-gamma",
            "poisson_gamma",
            "PoissonGamma",
            poisson_gamma_log_marginal,
            coarsened(poisson_gamma_prior),
            counts_with_gaps,
        ),
        product_of(
            "product",
            ("normal-gamma", 1),
            ("incomplete categorical", 2),
            ("incomplete poisson-gamma", 1),
            ("normal-inverse-wishart", 2),
            ("incomplete normal-gamma", 1),
            ("incomplete beta-bernoulli", 1),
        ),
        product_of("product with bounds", ("categorical", 2), ("normal-known-variance", 1)),
        product_of("product of numbers and levels", ("normal-gamma", 2), ("categorical", 1)),
        product_of(
            "coarsened product",
            ("incomplete categorical", 1),
            ("normal-gamma", 1),
            ("incomplete poisson-gamma", 1),
            ("incomplete normal-gamma", 1),
            ("normal-inverse-wishart", 2),
            power=True,
        ),
    )
}

COARSENED_NAMES = tuple(name for name in CASES if name.startswith("coarsened "))

FAMILY_NAMES = tuple(name for name in CASES if name not in COARSENED_NAMES)

# Families with a proven bound of what other rows do to a predictive density.
BOUNDED_FAMILY_NAMES = (
    "normal-known-variance",
    "dirichlet-multinomial",
    "beta-bernoulli",
    "incomplete beta-bernoulli",
    "categorical",
    "incomplete categorical",
    "product with bounds",
)
