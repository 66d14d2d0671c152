"""Normal components of known variance."""

from collections.abc import Iterable, Sequence
from functools import partial
from math import sqrt
from random import Random
from typing import NamedTuple

from mpmath import fsum, log, mpf, pi

from generators.components import (
    Cluster,
    Family,
    Row,
    Weighted,
    component_case,
    draw,
    total_weight,
)
from generators.format import agree, vectors, within
from generators.linear import factorise, inner, log_determinant

JOINT_ROWS = 4  # the density of all rows at once is found for so many


class Prior(NamedTuple):
    """Column d of a cluster: x ~ N(theta, sigma2[d]) and theta ~ N(m0[d], tau2[d])."""

    m0: list[float]
    sigma2: list[float]
    tau2: list[float]


def columns(prior: Prior) -> Iterable[tuple[mpf, mpf, mpf]]:
    """m0, sigma2 and tau2 of each."""
    return zip(*(map(mpf, values) for values in prior), strict=True)


def log_predictive(row: Weighted, cluster: Cluster, prior: Prior) -> mpf:
    """N(x; m, sigma2 + tau2_n) of each column; of w equal rows, what `log_power` makes of it.

    The posterior of theta, N(m, tau2_n), has the precision 1 / tau2 + n / sigma2.
    """
    n, total, weight = total_weight(cluster), mpf(0), mpf(row.weight)
    for d, (m0, sigma2, tau2) in enumerate(columns(prior)):
        tau2_n = 1 / (1 / tau2 + n / sigma2)
        m = tau2_n * (m0 / tau2 + fsum(w * mpf(x[d]) for x, w in cluster) / sigma2)
        total += log_normal(mpf(row.row[d]) - m, sigma2 / weight + tau2_n)
        total += log_power(sigma2, weight)
    return total


def log_normal(x: mpf, variance: mpf) -> mpf:
    return -(log(2 * pi * variance) + x**2 / variance) / 2


def log_power(sigma2: mpf, w: mpf) -> mpf:
    """Log of N(x; theta, sigma2)^w / N(x; theta, sigma2 / w), a constant."""
    return ((1 - w) * log(2 * pi * sigma2) - log(w)) / 2


def log_marginal(cluster: Cluster, prior: Prior) -> mpf:
    """By completing the square in theta; few rows must be jointly normal."""
    n, total = total_weight(cluster), mpf(0)
    for d, (m0, sigma2, tau2) in enumerate(columns(prior)):
        shifts = [(mpf(row[d]) - m0, mpf(w)) for row, w in cluster]
        first, second = fsum(w * x for x, w in shifts), fsum(w * x**2 for x, w in shifts)
        value = -(n * log(2 * pi * sigma2) + log(1 + n * tau2 / sigma2) + second / sigma2) / 2
        value += (first / sigma2) ** 2 / (1 / tau2 + n / sigma2) / 2
        if 0 < len(cluster) <= JOINT_ROWS:
            agree(value, log_joint(shifts, sigma2, tau2))
        total += value
    return total


def log_joint(shifts: Sequence[tuple[mpf, mpf]], sigma2: mpf, tau2: mpf) -> mpf:
    """Normal density of all values of a column: covariance diag(sigma2 / w) + tau2."""
    covariance = [[tau2] * len(shifts) for _ in shifts]
    for i, (_, w) in enumerate(shifts):
        covariance[i][i] += sigma2 / w
    factors, xs = factorise(covariance), [x for x, _ in shifts]
    value = len(xs) * log(2 * pi) + log_determinant(factors) + inner(xs, factors, xs)
    return fsum(log_power(sigma2, w) for _, w in shifts) - value / 2


FAMILY = Family(log_predictive, log_marginal)


def normal_known_variance() -> dict:
    """Normal predictives and marginals."""
    return vectors(
        "normal_known_variance",
        "Notes on Gibbs Sampling for Dirichlet Process Mixtures, section 2",
        within(1e-12, 1e-12),
        [*ordinary_cases(), *extreme_cases(), *weighted_cases()],
    )


def ordinary_cases() -> Iterable[dict]:
    rng = Random(31)
    for n_columns in (1, 2, 5, 40):
        sigma2 = [0.25 + abs(x) for x in draw(rng, n_columns)]
        tau2 = [0.5 + 4 * abs(x) for x in draw(rng, n_columns)]
        prior = Prior(draw(rng, n_columns), sigma2, tau2)
        for n in (0, 1, 2, 10, 100 if n_columns < 40 else 30):
            rows = [draw(rng, n_columns) for _ in range(n)]
            yield asked(f"D = {n_columns}, n = {n}", prior, rows)


def extreme_cases() -> Iterable[dict]:
    rng = Random(32)
    rows = [draw(rng, 2) for _ in range(10)]
    plain = Prior([0.25, -1.0], [1.5, 0.75], [4.0, 10.0])
    for tau2 in ([1e-9, 1e-6], [1e12, 1e6], [1e-12, 1e12]):
        yield asked(f"tau2 = {tau2}", plain._replace(tau2=tau2), rows)
    yield asked("sigma2 far below tau2", plain._replace(sigma2=[1e-5, 2e-6]), rows)
    yield asked("sigma2 far above tau2", plain._replace(sigma2=[1e12, 1e24]), rows)
    for offset in (1e6, -1e8):
        there = [[x + offset for x in row] for row in rows]
        moved = plain._replace(m0=[m + offset for m in plain.m0])
        yield asked(f"rows and m0 at {offset}", moved, there)
    there = [[x + 3000.0 for x in row] for row in rows]
    yield asked("rows at 3000, m0 is not", plain, there)
    for scales in ((2.0**-40, 2.0**-40), (2.0**40, 2.0**40), (2.0**-40, 2.0**40)):
        yield scaled_case(plain, rows, scales)
    yield asked("ten duplicates", plain, [[2.0, -0.5]] * 10)
    yield asked("two hundred duplicates, all at m0", plain, [plain.m0] * 200)
    for distance in (1e2, 3000.0):
        outlier = [distance, -distance]
        yield asked(f"a row outside at {distance}", plain, rows, outlier)
        yield asked(f"the last member at {distance}", plain, [*rows, outlier])


def scaled_case(prior: Prior, rows: list[list[float]], scales: Sequence[float]) -> dict:
    """The same rows in other units."""
    m0 = [m * s for m, s in zip(prior.m0, scales, strict=True)]
    sigma2 = [x * s * s for x, s in zip(prior.sigma2, scales, strict=True)]
    tau2 = [x * s * s for x, s in zip(prior.tau2, scales, strict=True)]
    scaled = [[x * s for x, s in zip(row, scales, strict=True)] for row in rows]
    return asked(f"columns in units of {scales}", Prior(m0, sigma2, tau2), scaled)


def weighted_cases() -> Iterable[dict]:
    rng = Random(33)
    rows = [draw(rng, 3) for _ in range(4)]
    prior = Prior([0.25, -1.0, 0.0], [1.5, 0.75, 2.0], [4.0, 10.0, 0.5])
    given = partial(asked, prior=prior, rows=rows)
    yield given("whole weights", weights=[2.0, 1.0, 5.0, 3.0])
    yield given("fractional weights", weights=[0.5, 2.25, 0.125, 1.5])
    yield given("weights near 0", weights=[1e-6, 1e-3, 0.01, 1e-6])
    yield given("weights of a million", weights=[1e6, 2e6, 3.5e5, 4e5])
    there = [[x + 1e6 for x in row] for row in rows]
    moved = prior._replace(m0=[m + 1e6 for m in prior.m0])
    yield asked("weights at 1e6", moved, there, weights=[0.5, 7.0, 1.0, 3.0])


def asked(
    what: str,
    prior: Prior,
    rows: list[list[float]],
    query: Row = (),
    weights: Sequence[float] = (),
) -> dict:
    """Scores of a cluster; its first row is the other cluster's too, with the prior mean."""
    query = list(query) or [m + sqrt(s) / 2 for m, s in zip(prior.m0, prior.sigma2, strict=True)]
    other = [*rows[:1], prior.m0, prior.m0]
    return component_case(FAMILY, what, prior, rows, other, query, weights)
