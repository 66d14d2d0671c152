"""Normal-gamma components."""

from collections.abc import Iterable, Sequence
from math import exp, lgamma, sqrt
from math import log as log_double
from math import pi as pi_double
from random import Random
from typing import NamedTuple

from mpmath import fdot, fsum, log, mpf, pi

from generators.components import (
    Cluster,
    Family,
    Row,
    Weighted,
    component_case,
    draw,
    log_gamma,
    log_rising,
    total_weight,
)
from generators.format import vectors, within
from generators.quadrature import Axis, log_integral


class Prior(NamedTuple):
    """theta_0 of eq. (8)."""

    m0: list[float]
    c0: float
    a0: float
    b0: list[float]


class Theta(NamedTuple):
    """One column of eq. (13)."""

    m: mpf
    c: mpf
    a: mpf
    b: mpf


def posterior(cluster: Cluster, prior: Prior) -> list[Theta]:
    """Eq. (13) as printed, for every column; a row counts as often as it weighs."""
    n, c0 = total_weight(cluster), mpf(prior.c0)
    weights = [mpf(weight) for _, weight in cluster]
    thetas = []
    for d, (m0, b0) in enumerate(zip(map(mpf, prior.m0), map(mpf, prior.b0), strict=True)):
        xs = [mpf(row[d]) for row, _ in cluster]
        mean = fdot(weights, xs) / n if n else m0
        squares = fdot(weights, [(x - mean) ** 2 for x in xs])
        m = (c0 * m0 + n * mean) / (c0 + n)
        b = b0 + squares / 2 + c0 * n * (mean - m0) ** 2 / (2 * (c0 + n))
        thetas.append(Theta(m, c0 + n, mpf(prior.a0) + n / 2, b))
    return thetas


def log_predictive(row: Weighted, cluster: Cluster, prior: Prior) -> mpf:
    """Eq. (11), and eq. (12) where there are no rows."""
    w = mpf(row.weight)
    columns = zip(row.row, posterior(cluster, prior), strict=True)
    if w == 1:
        return fsum(
            log_student_t(mpf(x), m, a * c / (b * (c + 1)), 2 * a) for x, (m, c, a, b) in columns
        )
    return fsum(log_equal_rows(mpf(x), theta, w) for x, theta in columns)


def log_student_t(x: mpf, mean: mpf, precision: mpf, freedom: mpf) -> mpf:
    """Student-t density with location, precision and degrees of freedom, as in eq. (11)."""
    half = freedom / 2
    norm = log_rising(half, mpf(0.5)) + log(precision / (freedom * pi)) / 2
    return norm - (half + mpf(0.5)) * log(1 + precision * (x - mean) ** 2 / freedom)


def log_equal_rows(x: mpf, theta: Theta, w: mpf) -> mpf:
    """The integral of N(x; mu, tau)^w over the normal-gamma posterior of mu and tau."""
    m, c, a, b = theta
    norm = log_rising(a, w / 2) + log(c / (c + w)) / 2 - w / 2 * log(2 * pi * b)
    return norm - (a + w / 2) * log(1 + w * c * (x - m) ** 2 / (2 * b * (c + w)))


def log_marginal(cluster: Cluster, prior: Prior) -> mpf:
    """Ratio of normalising constants."""
    value = log_constant(posterior(cluster, prior)) - log_constant(posterior([], prior))
    return value - total_weight(cluster) * len(prior.m0) / 2 * log(2 * pi)


def log_constant(thetas: Sequence[Theta]) -> mpf:
    """Log of the integral of the unnormalised normal-gamma density, all columns."""
    return fsum(log_gamma(a) - a * log(b) + log(2 * pi / c) / 2 for _, c, a, b in thetas)


def log_quadrature(cluster: Cluster, prior: Prior) -> float:
    """Over s = log tau and z = (mu - m0) sqrt(c0 tau), of one column."""
    (m0,), c0, a0, (b0,) = prior
    xs = [(row[0], weight) for row, weight in cluster]

    def log_f(s: float, z: float) -> float:
        tau = exp(s)
        mu = m0 + z / sqrt(c0 * tau)
        log_prior = a0 * s - b0 * tau - (z * z + log_double(2.0 * pi_double)) / 2.0
        squares = sum(w * (s - log_double(2.0 * pi_double) - tau * (x - mu) ** 2) for x, w in xs)
        return log_prior + squares / 2.0

    value = log_integral(log_f, Axis(-25.0, 6.0, 0.1), Axis(-10.0, 10.0, 0.1))
    return value + a0 * log_double(b0) - lgamma(a0)


NORMAL_GAMMA = Family(log_predictive, log_marginal, log_quadrature)


def normal_gamma() -> dict:
    """Student-t predictives and marginals."""
    return vectors(
        "normal_gamma",
        "Raykov, Boukouvalas & Little (2014), equations (11), (12), (13) and (16)",
        within(1e-12, 1e-12),
        [*ordinary_cases(), *extreme_cases(), *weighted_cases()],
    )


def ordinary_cases() -> Iterable[dict]:
    rng = Random(1)
    strengths = [(0.1, 1.0), (1.0, 2.5), (0.05, 0.5), (10.0, 1.0)]
    for n_columns, (c0, a0) in zip((1, 2, 5, 40), strengths, strict=True):
        m0 = draw(rng, n_columns)
        b0 = [0.5 + abs(x) for x in draw(rng, n_columns)]
        for n in (0, 1, 2, 10, 200):
            rows = [draw(rng, n_columns) for _ in range(n)]
            yield asked(f"D = {n_columns}, n = {n}", Prior(m0, c0, a0, b0), rows)


def extreme_cases() -> Iterable[dict]:
    rng = Random(2)
    rows = [draw(rng, 2) for _ in range(10)]
    plain = Prior([0.25, -1.0], 0.1, 1.0, [1.5, 0.75])
    for c0, a0 in ((0.001, 1.0), (1000.0, 1.0), (0.1, 0.01), (0.1, 500.0), (0.001, 0.01)):
        yield asked(f"c0 = {c0}, a0 = {a0}", plain._replace(c0=c0, a0=a0), rows)
    yield asked("a prior far narrower than the rows", plain._replace(b0=[1e-9, 1e-6]), rows)
    yield asked("a prior far wider than the rows", plain._replace(b0=[1e24, 1e12]), rows)
    for offset in (1e8, -1e8):
        there = [[x + offset for x in row] for row in rows]
        moved = plain._replace(m0=[m + offset for m in plain.m0])
        yield asked(f"rows and m0 at {offset}", moved, there)
        yield asked(f"rows at {offset}, m0 is not", plain, there)
    for scales in ((1e-12, 1e-12), (1e12, 1e12), (1e-12, 1e12)):
        yield scaled_case(plain, rows, scales)
    yield asked("ten duplicates", plain, [[2.0, -0.5]] * 10)
    yield asked("two hundred duplicates, all at m0", plain, [plain.m0] * 200)
    for distance in (1e2, 1e4, 1e6, 1e8):
        outlier = [distance, -distance]
        yield asked(f"a row outside at {distance}", plain, rows, query=outlier)
        yield asked(f"the last member at {distance}", plain, [*rows, outlier])
    wide = Prior([0.0] * 40, 0.1, 1.0, [1.0] * 40)
    rows = [draw(rng, 40) for _ in range(10)]
    yield asked("D = 40, a row outside at 4e8", wide, rows, query=[4e8] * 40)
    yield asked("D = 40, every row at 1e8", wide, [[x + 1e8 for x in row] for row in rows])


def scaled_case(prior: Prior, rows: list[list[float]], scales: Sequence[float]) -> dict:
    """The same rows in other units."""
    m0 = [m * s for m, s in zip(prior.m0, scales, strict=True)]
    b0 = [b * s * s for b, s in zip(prior.b0, scales, strict=True)]
    scaled = [[x * s for x, s in zip(row, scales, strict=True)] for row in rows]
    return asked(f"columns in units of {scales}", prior._replace(m0=m0, b0=b0), scaled)


def weighted_cases() -> Iterable[dict]:
    rng = Random(4)
    rows = [draw(rng, 2) for _ in range(6)]
    plain = Prior([0.25, -1.0], 0.1, 1.0, [1.5, 0.75])
    line, column = Prior([0.5], 0.5, 2.0, [1.25]), [[-1.0], [2.5], [0.75]]
    yield asked("two rows, to integrate", line, column[:2], integrate=True)
    yield asked("fractional weights", line, column, weights=[0.5, 2.25, 0.125], integrate=True)
    yield asked("whole weights", plain, rows, weights=[1.0, 2.0, 5.0, 1.0, 7.0, 3.0])
    yield asked("weights near 0", plain, rows, weights=[1e-6, 1e-3, 1e-9, 1e-6, 0.01, 1e-6])
    yield asked("weights of a million", plain, rows, weights=[1e6, 2e6, 3.5e5, 1.0, 1e6, 4e5])
    yield asked(
        "weights from small to large", plain, rows, weights=[1e-3, 1.0, 1e3, 50.0, 0.1, 7.0]
    )
    there = [[x + 1e6 for x in row] for row in rows]
    moved = plain._replace(m0=[m + 1e6 for m in plain.m0])
    yield asked(
        "weights, rows and m0 at 1e6", moved, there, weights=[0.3, 1.7, 2.0, 9.0, 0.25, 4.0]
    )
    far = [1e5, -1e5]
    yield asked("weights, a row outside", plain, rows, far, [3.0, 0.5, 1.0, 2.0, 8.0, 2.5])
    yield asked("weights of duplicates", plain, [[2.0, -0.5]] * 4, weights=[0.1, 0.2, 3.0, 12.0])


def asked(
    what: str,
    prior: Prior,
    rows: list[list[float]],
    query: Row = (),
    weights: Sequence[float] = (),
    integrate: bool = False,
) -> dict:
    """Scores of a cluster; its first row is the other cluster's too, with the prior mean."""
    query = list(query) or [m + sqrt(b) / 2 for m, b in zip(prior.m0, prior.b0, strict=True)]
    other = [*rows[:1], prior.m0, prior.m0]
    return component_case(
        NORMAL_GAMMA, what, prior, rows, other, query, weights, integrate=integrate
    )
