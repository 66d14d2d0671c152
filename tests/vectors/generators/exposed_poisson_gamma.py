"""Poisson-gamma components whose rows have an exposure, the last value of each row."""

from collections.abc import Iterable, Sequence
from functools import partial
from math import lgamma
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
)
from generators.format import vectors, within
from generators.poisson_gamma import PLAIN, Prior, events, log_constant, log_rate_integral

LARGE = within(1e-12, 1e-8)


class Cell(NamedTuple):
    """A count, its exposure, and how many equal ones it stands for."""

    x: float
    e: float
    w: float


def cells(cluster: Cluster, d: int) -> list[Cell]:
    """The cells of column d that are not missing."""
    return [Cell(row[d], row[-1], w) for row, w in cluster if row[d] is not None]


def posterior(cluster: Cluster, prior: Prior) -> list[tuple[mpf, mpf]]:
    """A and b of each column: events add to a0, exposures to b0."""
    return [
        (a0 + fsum(mpf(w) * x for x, _, w in seen), b0 + fsum(mpf(w) * e for _, e, w in seen))
        for d, (a0, b0) in enumerate(zip(prior.a0, prior.b0, strict=True))
        for seen in [cells(cluster, d)]
    ]


def log_predictive(row: Weighted, cluster: Cluster, prior: Prior) -> mpf:
    """The negative binomial; of w equal values, one of w times the exposure and the events."""
    w, e, total = mpf(row.weight), mpf(row.row[-1]), mpf(0)
    for x, (a, b) in zip(row.row[:-1], posterior(cluster, prior), strict=True):
        if x is not None:
            total += log_rising(a, w * x) - w * log_gamma(mpf(x) + 1)
            total += a * log(b / (b + w * e)) + w * x * log(e / (b + w * e))
    return total


def log_marginal(cluster: Cluster, prior: Prior) -> mpf:
    """Ratios of the gammas' normalising constants, and e^x / x! of all cells."""
    after, before = posterior(cluster, prior), posterior([], prior)
    of_cells = (
        mpf(w) * (x * log(mpf(e)) - log_gamma(mpf(x) + 1))
        for d in range(len(prior.a0))
        for x, e, w in cells(cluster, d)
    )
    ratio = fsum(log_constant(*ab) for ab in after) - fsum(log_constant(*ab) for ab in before)
    return ratio + fsum(of_cells)


def log_quadrature(cluster: Cluster, prior: Prior) -> float:
    """Over the logs of rates, column by column."""
    total = 0.0
    for d, (a0, b0) in enumerate(zip(prior.a0, prior.b0, strict=True)):
        seen = cells(cluster, d)
        n_events, exposure = sum(w * x for x, _, w in seen), sum(w * e for _, e, w in seen)
        total += log_rate_integral(n_events, exposure, a0, b0)
        total += sum(w * (x * log_of_double(e) - lgamma(x + 1)) for x, e, w in seen)
    return total


FAMILY = Family(log_predictive, log_marginal, log_quadrature)


def exposed_poisson_gamma() -> dict:
    """Predictives and marginals of counts of events in unlike exposures."""
    return vectors(
        "exposed_poisson_gamma",
        "Gelman et al. (2013), section 2.6",
        within(1e-12, 1e-11),
        [*ordinary_cases(), *extreme_cases(), *gap_cases(), *weighted_cases()],
    )


def exposed(rng: Random, n: int, top: float = 12.0) -> list[float]:
    """Counts, and an exposure from 1/16 to 16."""
    return [*events(rng, n, top), 2.0 ** (8.0 * rng.random() // 1 - 4.0) * (1.0 + rng.random())]


def ordinary_cases() -> Iterable[dict]:
    rng = Random(81)
    for n_columns in (1, 2, 5, 40):
        a0 = [(0.5, 1.0, 2.25, 4.0)[d % 4] for d in range(n_columns)]
        b0 = [(1.0, 0.5, 0.25, 0.1, 3.0)[d % 5] for d in range(n_columns)]
        for n in (0, 1, 10):
            rows = [exposed(rng, n_columns) for _ in range(n)]
            yield asked(f"D = {n_columns}, n = {n}", Prior(a0, b0), rows, exposed(rng, n_columns))


QUERY = [1.0, 0.0, 7.0, 2.5]


def extreme_cases() -> Iterable[dict]:
    rng = Random(82)
    rows = [exposed(rng, 3) for _ in range(8)]
    yield asked("three columns, to integrate", PLAIN, rows, QUERY, integrate=True)
    for a0, b0 in ((1e-6, 1e-6), (1e6, 0.5)):
        strong = Prior([a0] * 3, [b0] * 3)
        yield asked(f"a0 = {a0}, b0 = {b0}", strong, rows, QUERY, tolerance=LARGE)
    yield asked("exposures of 1", PLAIN, [[*row[:3], 1.0] for row in rows], [*QUERY[:3], 1.0])
    for e in (1e-6, 1e6):
        unlike = [[*row[:3], e * row[3]] for row in rows]
        given = [*QUERY[:3], 2.5 * e]
        yield asked(f"exposures about {e:g}", PLAIN, unlike, given, tolerance=LARGE)


def gap_cases() -> Iterable[dict]:
    rng = Random(83)
    rows: list[Row] = [gapped(rng, exposed(rng, 3)) for _ in range(8)]
    yield asked("missing cells", PLAIN, rows, QUERY)
    yield asked("missing cells in the query too", PLAIN, rows, [None, 0.0, None, 2.5])
    yield asked("a query without any count", PLAIN, rows, [None, None, None, 2.5])


def gapped(rng: Random, row: list[float]) -> Row:
    """The row without about a quarter of its counts."""
    return [*(None if rng.random() < 0.25 else x for x in row[:-1]), row[-1]]


def weighted_cases() -> Iterable[dict]:
    rng = Random(84)
    rows: list[Row] = [gapped(rng, exposed(rng, 3)) for _ in range(5)]
    given = partial(asked, prior=PLAIN, rows=rows, query=QUERY)
    yield given("whole weights", weights=[2.0, 1.0, 5.0, 3.0, 7.0])
    yield given("fractional weights", weights=[0.5, 2.25, 0.125, 1.5, 0.7], integrate=True)


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
    other = [*rows[:1], [1.0] * (len(prior.a0) + 1)]
    return component_case(FAMILY, what, prior, rows, other, query, weights, tolerance, integrate)
