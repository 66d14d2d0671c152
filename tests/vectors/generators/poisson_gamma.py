"""Poisson-gamma components: columns of counts of events, some cells of which are missing."""

from collections.abc import Iterable, Sequence
from functools import partial
from math import exp, lgamma
from math import log as log_of_double
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
from generators.quadrature import Axis, log_integral

# Huge log-gammas may differ by little: doubles lose what they share.
LARGE, MILLIONS = within(1e-12, 1e-8), within(1e-12, 1e-7)


class Prior(NamedTuple):
    """Column d of a cluster: x ~ Poisson(lambda) and lambda ~ Gamma(a0[d], rate b0[d])."""

    a0: list[float]
    b0: list[float]


def posterior(cluster: Cluster, prior: Prior) -> list[tuple[mpf, mpf]]:
    """A and b of each column: events add to a0, cells to b0."""
    return [
        (a0 + fsum(mpf(w) * row[d] for row, w in seen), b0 + fsum(w for _, w in seen))
        for d, (a0, b0) in enumerate(zip(prior.a0, prior.b0, strict=True))
        for seen in [[each for each in cluster if each.row[d] is not None]]
    ]


def log_predictive(row: Weighted, cluster: Cluster, prior: Prior) -> mpf:
    """The negative binomial; of w equal values, one of w times the exposure and the events."""
    w, total = mpf(row.weight), mpf(0)
    for x, (a, b) in zip(row.row, posterior(cluster, prior), strict=True):
        if x is not None:
            total += log_rising(a, w * x) - w * log_gamma(mpf(x) + 1)
            total += a * log(b / (b + w)) - w * x * log(b + w)
    return total


def log_marginal(cluster: Cluster, prior: Prior) -> mpf:
    """Ratios of the gammas' normalising constants, and the factorials of all cells."""
    after, before = posterior(cluster, prior), posterior([], prior)
    factorials = (
        mpf(w) * log_gamma(mpf(x) + 1) for row, w in cluster for x in row if x is not None
    )
    ratio = fsum(log_constant(*ab) for ab in after) - fsum(log_constant(*ab) for ab in before)
    return ratio - fsum(factorials)


def log_constant(a: mpf, b: mpf) -> mpf:
    return log_gamma(a) - a * log(b)


def log_quadrature(cluster: Cluster, prior: Prior) -> float:
    """Over s = log lambda, column by column."""
    total = 0.0
    for d, (a0, b0) in enumerate(zip(prior.a0, prior.b0, strict=True)):
        cells = [(row[d], w) for row, w in cluster if row[d] is not None]
        events, n = sum(w * x for x, w in cells), sum(w for _, w in cells)
        total += log_rate_integral(events, n, a0, b0) - sum(w * lgamma(x + 1) for x, w in cells)
    return total


def log_rate_integral(events: float, n: float, a0: float, b0: float) -> float:
    """Log of the integral of lambda^events exp(-n lambda) Gamma(lambda; a0, b0)."""

    def log_f(s: float) -> float:
        return (a0 + events) * s - (b0 + n) * exp(s)  # d lambda = lambda ds

    return log_integral(log_f, Axis(-120.0, 12.0, 0.03125)) + a0 * log_of_double(b0) - lgamma(a0)


FAMILY = Family(log_predictive, log_marginal, log_quadrature)


def poisson_gamma() -> dict:
    """Predictives and marginals of counts of events."""
    return vectors(
        "poisson_gamma",
        "Gelman et al. (2013), section 2.6",
        within(1e-12, 1e-11),
        [*ordinary_cases(), *extreme_cases(), *gap_cases(), *weighted_cases()],
    )


def events(rng: Random, n: int, top: float = 12.0) -> list[float]:
    """Counts, small ones more often."""
    return [float(int(rng.random() * rng.random() * top)) for _ in range(n)]


def ordinary_cases() -> Iterable[dict]:
    rng = Random(71)
    for n_columns in (1, 2, 5, 40):
        a0 = [(0.5, 1.0, 2.25, 4.0)[d % 4] for d in range(n_columns)]
        b0 = [(1.0, 0.5, 0.25, 0.1, 3.0)[d % 5] for d in range(n_columns)]
        for n in (0, 1, 2, 10, 30):
            rows = [events(rng, n_columns) for _ in range(n)]
            yield asked(f"D = {n_columns}, n = {n}", Prior(a0, b0), rows, events(rng, n_columns))


PLAIN = Prior([0.5, 1.0, 2.0], [1.0, 0.25, 0.75])


def extreme_cases() -> Iterable[dict]:
    rng = Random(72)
    rows, query = [events(rng, 3) for _ in range(8)], [1.0, 0.0, 7.0]
    yield asked("three columns, to integrate", PLAIN, rows, query, integrate=True)
    for a0, b0 in ((1e-6, 1e-6), (1e6, 1e6), (1e-6, 1e6), (1e6, 0.5)):
        strong = Prior([a0] * 3, [b0] * 3)
        yield asked(f"a0 = {a0}, b0 = {b0}", strong, rows, query, tolerance=LARGE)
    yield asked("no event", PLAIN, [[0.0] * 3] * 20, query)
    yield asked("two hundred duplicates", PLAIN, [query] * 200, query, tolerance=LARGE)
    large = [events(rng, 3, 1e6) for _ in range(8)]
    yield asked("hundreds of thousands of events", PLAIN, large, large[0], tolerance=MILLIONS)


def gap_cases() -> Iterable[dict]:
    rng = Random(73)
    query = [1.0, 0.0, 7.0]
    rows: list[Row] = with_gaps(rng, [events(rng, 3) for _ in range(8)])
    yield asked("missing cells", PLAIN, rows, query)
    yield asked("missing cells in the query too", PLAIN, rows, [None, 0.0, None])
    yield asked("a query without any cell", PLAIN, rows, [None] * 3)
    yield asked("a column that nobody saw", PLAIN, [[None, *row[1:]] for row in rows], query)
    yield asked("a row without any cell among others", PLAIN, [[None] * 3, *rows], query)


def weighted_cases() -> Iterable[dict]:
    rng = Random(74)
    rows: list[Row] = with_gaps(rng, [events(rng, 3) for _ in range(5)])
    given = partial(asked, prior=PLAIN, rows=rows, query=[1.0, 0.0, 7.0])
    yield given("whole weights", weights=[2.0, 1.0, 5.0, 3.0, 7.0])
    yield given("fractional weights", weights=[0.5, 2.25, 0.125, 1.5, 0.7], integrate=True)
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
    """Scores of a cluster; its first row is the other cluster's too, with a row of one event."""
    other = [*rows[:1], [1.0] * len(prior.a0)]
    return component_case(FAMILY, what, prior, rows, other, query, weights, tolerance, integrate)
