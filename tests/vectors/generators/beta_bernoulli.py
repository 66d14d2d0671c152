"""Beta-Bernoulli components."""

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
MILLIONS, BILLIONS = within(1e-12, 1e-8), within(1e-12, 1e-5)


class Prior(NamedTuple):
    """Column d of a cluster: x ~ Bernoulli(p) and p ~ Beta(a0[d], b0[d])."""

    a0: list[float]
    b0: list[float]


def posterior(cluster: Cluster, prior: Prior) -> list[tuple[mpf, mpf]]:
    """A and b of each column: ones and zeros come to a0 and b0 as often as they weigh."""
    return [
        (
            a0 + fsum(w for row, w in cluster if row[d] == 1),
            b0 + fsum(w for row, w in cluster if row[d] == 0),
        )
        for d, (a0, b0) in enumerate(zip(prior.a0, prior.b0, strict=True))
    ]


def log_predictive(row: Weighted, cluster: Cluster, prior: Prior) -> mpf:
    """The rule of succession, a / (a + b) or b / (a + b); w equal values one after the other."""
    w, total = mpf(row.weight), mpf(0)
    for x, (a, b) in zip(row.row, posterior(cluster, prior), strict=True):
        if x is not None:
            own = a if x else b
            total += log(own / (a + b)) if w == 1 else log_rising(own, w) - log_rising(a + b, w)
    return total


def log_marginal(cluster: Cluster, prior: Prior) -> mpf:
    """Ratios of beta functions."""
    after, before = posterior(cluster, prior), posterior([], prior)
    return fsum(log_beta(*ab) for ab in after) - fsum(log_beta(*ab) for ab in before)


def log_beta(a: mpf, b: mpf) -> mpf:
    return log_gamma(a) + log_gamma(b) - log_gamma(a + b)


def log_quadrature(cluster: Cluster, prior: Prior) -> float:
    """Over p, column by column."""
    counts = zip(posterior(cluster, prior), prior.a0, prior.b0, strict=True)
    return sum(log_beta_integral(float(a - a0), float(b - b0), a0, b0) for (a, b), a0, b0 in counts)


FAMILY = Family(log_predictive, log_marginal, log_quadrature)


def beta_bernoulli() -> dict:
    """The rule of succession."""
    return vectors(
        "beta_bernoulli",
        "Laplace (1774), the rule of succession; Gelman et al. (2013), section 2.4",
        within(1e-12, 1e-11),
        [*ordinary_cases(), *extreme_cases(), *gap_cases(), *weighted_cases()],
    )


def bits(rng: Random, n: int) -> list[float]:
    return [float(rng.random() < 0.4) for _ in range(n)]


def ordinary_cases() -> Iterable[dict]:
    rng = Random(51)
    for n_columns in (1, 2, 5, 100):
        a0 = [(0.5, 1.0, 2.25, 0.1)[d % 4] for d in range(n_columns)]
        b0 = [(1.0, 0.5, 4.0, 0.1, 3.0)[d % 5] for d in range(n_columns)]
        for n in (0, 1, 2, 10, 50):
            rows = [bits(rng, n_columns) for _ in range(n)]
            yield asked(f"D = {n_columns}, n = {n}", Prior(a0, b0), rows, bits(rng, n_columns))


def extreme_cases() -> Iterable[dict]:
    rng = Random(52)
    rows, query = [bits(rng, 3) for _ in range(8)], [1.0, 0.0, 1.0]
    plain = Prior([0.5, 1.0, 2.0], [1.0, 1.0, 0.75])
    yield asked("three columns, to integrate", plain, rows, query, integrate=True)
    for a0, b0 in ((1e-6, 1e-6), (1e-12, 1e-12), (1e6, 1e6), (1e12, 1e12), (1e-6, 1e6), (1e6, 0.5)):
        yield asked(f"a0 = {a0}, b0 = {b0}", Prior([a0] * 3, [b0] * 3), rows, query)
    for x in (0.0, 1.0):
        yield asked(f"every value is {x}", plain, [[x] * 3] * 20, [1.0 - x] * 3)
        tiny = Prior([1e-9] * 3, [1e-9] * 3)
        yield asked(f"every value is {x}, hardly a prior", tiny, [[x] * 3] * 20, [1.0 - x] * 3)
    yield asked("two hundred duplicates", plain, [query] * 200, query)


def gap_cases() -> Iterable[dict]:
    rng = Random(53)
    query = [1.0, 0.0, 1.0]
    rows: list[Row] = with_gaps(rng, [bits(rng, 3) for _ in range(8)])
    plain = Prior([0.5, 1.0, 2.0], [1.0, 1.0, 0.75])
    yield asked("missing cells", plain, rows, query)
    yield asked("missing cells in the query too", plain, rows, [None, 0.0, None])
    yield asked("a query without any cell", plain, rows, [None] * 3)
    yield asked("a column that nobody saw", plain, [[None, *row[1:]] for row in rows], query)
    yield asked("rows without any cell", plain, [[None] * 3] * 4, query)
    yield asked("a row without any cell among others", plain, [[None] * 3, *rows], query)


def weighted_cases() -> Iterable[dict]:
    rng = Random(54)
    rows: list[Row] = with_gaps(rng, [bits(rng, 3) for _ in range(5)])
    plain, query = Prior([0.5, 1.0, 2.0], [1.0, 1.0, 0.75]), [1.0, 0.0, 1.0]
    given = partial(asked, prior=plain, rows=rows, query=query)
    yield given("whole weights", weights=[2.0, 1.0, 5.0, 3.0, 7.0])
    yield given("fractional weights", weights=[0.5, 2.25, 0.125, 1.5, 0.7], integrate=True)
    yield given("weights near 0", weights=[1e-6, 1e-3, 0.01, 1e-9, 1e-6])
    millions, billions = [1e6, 2e6, 3.5e5, 1.0, 4e5], [1e9, 2e9, 3.5e8, 1e9, 4e8]
    yield given("weights of a million", weights=millions, tolerance=MILLIONS)
    yield given("weights of a billion", weights=billions, tolerance=BILLIONS)


def asked(
    what: str,
    prior: Prior,
    rows: Sequence[Row],
    query: Row,
    weights: Sequence[float] = (),
    tolerance: dict | None = None,
    integrate: bool = False,
) -> dict:
    """Scores of a cluster; its first row is the other cluster's too, with a row of ones."""
    other = [*rows[:1], [1.0] * len(prior.a0)]
    return component_case(FAMILY, what, prior, rows, other, query, weights, tolerance, integrate)
