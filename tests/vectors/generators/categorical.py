"""Categorical components: columns of levels, some cells of which are missing."""

from collections.abc import Iterable, Sequence
from functools import partial
from random import Random
from typing import NamedTuple

from mpmath import fsum, log, mpf

from generators.components import (
    Cluster,
    Family,
    Row,
    Weighted,
    component_case,
    log_gamma,
    log_rising,
    with_gaps,
)
from generators.format import vectors, within
from generators.quadrature import log_beta_integral

# Huge log-gammas may differ by little: doubles lose what they share.
MILLIONS = within(1e-12, 1e-8)


class Prior(NamedTuple):
    """Column d of a cluster: x ~ Categorical(p) and p ~ Dirichlet(beta0[d]), over its levels."""

    beta0: list[list[float]]


def posterior(cluster: Cluster, prior: Prior) -> list[list[mpf]]:
    """Beta of each level of each column: cells add their weights."""
    return [
        [b + fsum(w for row, w in cluster if row[d] == level) for level, b in enumerate(beta0)]
        for d, beta0 in enumerate(prior.beta0)
    ]


def log_predictive(row: Weighted, cluster: Cluster, prior: Prior) -> mpf:
    """Beta of the level over the sum of all; w equal values one after the other."""
    w, total = mpf(row.weight), mpf(0)
    for x, beta in zip(row.row, posterior(cluster, prior), strict=True):
        if x is not None:
            own, both = beta[int(x)], fsum(beta)
            total += log(own / both) if w == 1 else log_rising(own, w) - log_rising(both, w)
    return total


def log_marginal(cluster: Cluster, prior: Prior) -> mpf:
    """Ratios of the Dirichlets' normalising constants."""
    after, before = posterior(cluster, prior), posterior([], prior)
    return fsum(log_constant(beta) for beta in after) - fsum(log_constant(beta) for beta in before)


def log_constant(beta: list[mpf]) -> mpf:
    return fsum(log_gamma(b) for b in beta) - log_gamma(fsum(beta))


def log_quadrature(cluster: Cluster, prior: Prior) -> float:
    """Over p of the first of two levels, column by column."""
    betas = zip(posterior(cluster, prior), posterior([], prior), strict=True)
    return sum(
        log_beta_integral(float(a - a0), float(b - b0), float(a0), float(b0))
        for (a, b), (a0, b0) in betas
    )


FAMILY = Family(log_predictive, log_marginal, log_quadrature)


def categorical() -> dict:
    """Predictives and marginals of levels."""
    return vectors(
        "categorical",
        "Gelman et al. (2013), section 3.4, for a multinomial of one cell",
        within(1e-12, 1e-11),
        [*ordinary_cases(), *extreme_cases(), *gap_cases(), *weighted_cases()],
    )


def levels(rng: Random, prior: Prior) -> list[float]:
    """A level of each column; low ones are drawn more often."""
    return [float(int(rng.random() * rng.random() * len(beta0))) for beta0 in prior.beta0]


def ordinary_cases() -> Iterable[dict]:
    rng = Random(61)
    strengths = (0.5, 1.0, 2.25, 0.1, 3.0)
    for n_columns in (1, 2, 5, 20):
        n_levels = [1 + (3 * d + 2) % 7 for d in range(n_columns)]
        prior = Prior([[strengths[(d + i) % 5] for i in range(n)] for d, n in enumerate(n_levels)])
        for n in (0, 1, 2, 10, 30):
            rows = [levels(rng, prior) for _ in range(n)]
            yield asked(f"D = {n_columns}, n = {n}", prior, rows, levels(rng, prior))


PLAIN = Prior([[0.5, 1.0], [1.0, 1.0, 0.25, 2.0], [0.75, 2.0, 1.0]])


def extreme_cases() -> Iterable[dict]:
    rng = Random(62)
    two_levels = Prior([[0.5, 1.0], [1.0, 1.0], [2.0, 0.75]])
    rows = [levels(rng, two_levels) for _ in range(8)]
    yield asked("two levels, to integrate", two_levels, rows, [1.0, 0.0, 1.0], integrate=True)
    rows, query = [levels(rng, PLAIN) for _ in range(8)], [1.0, 3.0, 0.0]
    for beta in (1e-12, 1e-6, 1e6, 1e12):
        strong = Prior([[beta] * len(beta0) for beta0 in PLAIN.beta0])
        yield asked(f"beta0 = {beta}", strong, rows, query)
    yield asked("two hundred duplicates", PLAIN, [query] * 200, query)
    yield asked("a level that no row has", PLAIN, [[0.0, 0.0, 0.0]] * 20, query)
    many = Prior([[0.5] * 300])
    yield asked("three hundred levels", many, [levels(rng, many) for _ in range(40)], [299.0])


def gap_cases() -> Iterable[dict]:
    rng = Random(63)
    query = [1.0, 3.0, 0.0]
    rows: list[Row] = with_gaps(rng, [levels(rng, PLAIN) for _ in range(8)])
    yield asked("missing cells", PLAIN, rows, query)
    yield asked("missing cells in the query too", PLAIN, rows, [None, 3.0, None])
    yield asked("a query without any cell", PLAIN, rows, [None] * 3)
    yield asked("a column that nobody saw", PLAIN, [[None, *row[1:]] for row in rows], query)
    yield asked("a row without any cell among others", PLAIN, [[None] * 3, *rows], query)


def weighted_cases() -> Iterable[dict]:
    rng = Random(64)
    rows: list[Row] = with_gaps(rng, [levels(rng, PLAIN) for _ in range(5)])
    given = partial(asked, prior=PLAIN, rows=rows, query=[1.0, 3.0, 0.0])
    yield given("whole weights", weights=[2.0, 1.0, 5.0, 3.0, 7.0])
    yield given("fractional weights", weights=[0.5, 2.25, 0.125, 1.5, 0.7])
    yield given("weights near 0", weights=[1e-6, 1e-3, 0.01, 1e-9, 1e-6])
    yield given("weights of a million", weights=[1e6, 2e6, 3.5e5, 1.0, 4e5], tolerance=MILLIONS)


def asked(
    what: str,
    prior: Prior,
    rows: Sequence[Row],
    query: Row,
    weights: Sequence[float] = (),
    tolerance: dict | None = None,
    integrate: bool = False,
) -> dict:
    """Scores of a cluster; its first row is the other cluster's too, with a row of first levels."""
    other = [*rows[:1], [0.0] * len(prior.beta0)]
    return component_case(FAMILY, what, prior, rows, other, query, weights, tolerance, integrate)
