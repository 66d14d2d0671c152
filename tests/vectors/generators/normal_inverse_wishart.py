"""Normal-inverse-Wishart components."""

from collections.abc import Iterable, Sequence
from functools import partial
from math import sqrt
from random import Random
from typing import NamedTuple

from mpmath import fsum, log, mpf, pi

from generators import normal_gamma
from generators.components import (
    Cluster,
    Family,
    Row,
    Weighted,
    component_case,
    draw,
    log_gamma,
    total_weight,
)
from generators.format import agree, vectors, within
from generators.linear import Factors, factorise, inner, log_determinant

MATRIX_T_ROWS = 4  # the density of all rows at once is found for so many

# Rows far from m0, or from one another, leave Psi with one direction that dwarfs the others:
# doubles lose of these what the largest rounds off.
FAR, VERY_FAR = within(1e-9, 1e-9), within(1e-6, 1e-6)


class Prior(NamedTuple):
    """Sigma ~ IW(psi0, nu0) and mu | Sigma ~ N(m0, Sigma / kappa0)."""

    m0: list[float]
    kappa0: float
    nu0: float
    psi0: list[list[float]]


class Posterior(NamedTuple):
    """The same parameters, Psi factorised."""

    m: list[mpf]
    kappa: mpf
    nu: mpf
    psi: Factors


def posterior(cluster: Cluster, prior: Prior) -> Posterior:
    """Murphy (2007), section 9, as printed; a row counts as often as it weighs."""
    n, kappa0, columns = total_weight(cluster), mpf(prior.kappa0), range(len(prior.m0))
    m0 = [mpf(m) for m in prior.m0]
    mean = [fsum(w * mpf(row[d]) for row, w in cluster) / n if n else m0[d] for d in columns]
    centred = [([mpf(row[d]) - mean[d] for d in columns], w) for row, w in cluster]
    shift = [x - m for x, m in zip(mean, m0, strict=True)]
    squares = [*centred, (shift, kappa0 * n / (kappa0 + n))]
    psi = [
        [prior.psi0[i][j] + fsum(w * e[i] * e[j] for e, w in squares) for j in columns[: i + 1]]
        for i in columns
    ]
    m = [(kappa0 * m_d + n * x) / (kappa0 + n) for m_d, x in zip(m0, mean, strict=True)]
    return Posterior(m, kappa0 + n, mpf(prior.nu0) + n, factorise(psi))


def log_predictive(row: Weighted, cluster: Cluster, prior: Prior) -> mpf:
    """Multivariate Student-t density; of w equal rows, the integral of their likelihood."""
    m, kappa, nu, psi = posterior(cluster, prior)
    w, n_columns = mpf(row.weight), len(m)
    shift = [mpf(x) - m_d for x, m_d in zip(row.row, m, strict=True)]
    t = kappa * w / (kappa + w) * inner(shift, psi, shift)
    norm = log_gamma_d((nu + w) / 2, n_columns) - log_gamma_d(nu / 2, n_columns)
    norm += n_columns * (log(kappa / (kappa + w)) - w * log(pi)) / 2
    return norm - w / 2 * log_determinant(psi) - (nu + w) / 2 * log(1 + t)


def log_gamma_d(x: mpf, n_columns: int) -> mpf:
    """Multivariate log-gamma but for its constant, which cancels."""
    return fsum(log_gamma(x - mpf(j) / 2) for j in range(n_columns))


def log_marginal(cluster: Cluster, prior: Prior) -> mpf:
    """Ratio of normalising constants; few rows must be matrix-t, one column normal-gamma."""
    after, before, n_columns = posterior(cluster, prior), posterior([], prior), len(prior.m0)
    if len(cluster) <= MATRIX_T_ROWS:
        log_det = log_determinant(before.psi) + log_matrix_t(cluster, prior, before.psi)
        agree(log_determinant(after.psi), log_det)
    value = log_constant(after) - log_constant(before)
    value -= total_weight(cluster) * n_columns / 2 * log(pi)
    if n_columns == 1:
        (b0,) = (mpf(psi) / 2 for (psi,) in prior.psi0)
        column = normal_gamma.Prior(prior.m0, prior.kappa0, mpf(prior.nu0) / 2, [b0])
        agree(value, normal_gamma.log_marginal(cluster, column))
    return value


def log_constant(theta: Posterior) -> mpf:
    """Log of what the unnormalised density integrates to, but for powers of 2 and of pi."""
    _, kappa, nu, psi = theta
    n_columns = len(theta.m)
    log_det = log_determinant(psi)
    return log_gamma_d(nu / 2, n_columns) - nu / 2 * log_det - mpf(n_columns) / 2 * log(kappa)


def log_matrix_t(cluster: Cluster, prior: Prior, psi0: Factors) -> mpf:
    """Log of |A + Y psi0^-1 Y^T| / |A|: Y has the rows less m0, A = diag(1 / w) + 1 / kappa0."""
    shifts = [[mpf(x) - m for x, m in zip(row, prior.m0, strict=True)] for row, _ in cluster]
    a = [[1 / mpf(prior.kappa0) for _ in cluster] for _ in cluster]
    for i, (_, weight) in enumerate(cluster):
        a[i][i] += 1 / mpf(weight)
    together = [
        [a_ij + inner(x, psi0, y) for a_ij, y in zip(row, shifts, strict=True)]
        for row, x in zip(a, shifts, strict=True)
    ]
    return log_determinant(factorise(together)) - log_determinant(factorise(a))


FAMILY = Family(log_predictive, log_marginal)


def normal_inverse_wishart() -> dict:
    """Multivariate Student-t predictives and marginals."""
    return vectors(
        "normal_inverse_wishart",
        "Murphy (2007), Conjugate Bayesian analysis of the Gaussian distribution, section 9",
        within(1e-11, 1e-11),
        [*ordinary_cases(), *extreme_cases(), *weighted_cases()],
    )


def ordinary_cases() -> Iterable[dict]:
    rng = Random(21)
    strengths = [(0.1, 2.0), (1.0, 2.5), (0.05, 4.5), (10.0, 22.0)]
    for n_columns, (kappa0, nu0) in zip((1, 2, 5, 20), strengths, strict=True):
        prior = Prior(draw(rng, n_columns), kappa0, nu0, square(rng, n_columns))
        for n in (0, 1, 2, 10, *([] if n_columns == 20 else [50])):
            rows = [draw(rng, n_columns) for _ in range(n)]
            yield asked(f"D = {n_columns}, n = {n}", prior, rows)


def square(rng: Random, n_columns: int) -> list[list[float]]:
    """I + R R^T, every element exact."""
    root = [draw(rng, n_columns) for _ in range(n_columns)]
    return [[sum(a * b for a, b in zip(x, y, strict=True)) + (x is y) for y in root] for x in root]


def extreme_cases() -> Iterable[dict]:
    rng = Random(22)
    rows = [draw(rng, 2) for _ in range(10)]
    plain = Prior([0.25, -1.0], 0.1, 3.0, [[1.5, 0.5], [0.5, 0.75]])
    for kappa0, nu0 in ((0.001, 3.0), (1000.0, 3.0), (0.1, 1.0009765625), (0.1, 500.0)):
        changed = plain._replace(kappa0=kappa0, nu0=nu0)
        yield asked(f"kappa0 = {kappa0}, nu0 = {nu0}", changed, rows)
    yield asked("a prior far narrower than the rows", scaled(plain, (1e-4, 1e-3)), rows)
    yield asked("a prior far wider than the rows", scaled(plain, (1e12, 1e6)), rows)
    tied = plain._replace(psi0=[[1.0, 0.9990234375], [0.9990234375, 1.0]])
    yield asked("a prior whose columns nearly depend", tied, rows)
    yield asked("rows on a line, D = 2", plain, [[x, 2 * x - 1] for x, _ in rows])
    for offset in (1e6, -1e8):
        there = [[x + offset for x in row] for row in rows]
        moved = plain._replace(m0=[m + offset for m in plain.m0])
        yield asked(f"rows and m0 at {offset}", moved, there)
        yield asked(f"rows at {offset}, m0 is not", plain, there, other=there[:3], tolerance=FAR)
    for scales in ((2.0**-40, 2.0**-40), (2.0**40, 2.0**40), (2.0**-40, 2.0**40)):
        units = [[x * s for x, s in zip(row, scales, strict=True)] for row in rows]
        m0 = [m * s for m, s in zip(plain.m0, scales, strict=True)]
        moved = scaled(plain._replace(m0=m0), scales)
        yield asked(f"columns in units of {scales}", moved, units)
    yield asked("ten duplicates", plain, [[2.0, -0.5]] * 10)
    yield asked("two hundred duplicates, all at m0", plain, [plain.m0] * 200)
    for distance, tolerance in ((1e2, None), (1e4, FAR), (1e6, VERY_FAR)):
        outlier = [distance, -distance]
        yield asked(f"a row outside at {distance}", plain, rows, outlier)
        yield asked(f"the last member at {distance}", plain, [*rows, outlier], tolerance=tolerance)


def scaled(prior: Prior, scales: Sequence[float]) -> Prior:
    """The prior covariance in other units."""
    rows = zip(prior.psi0, scales, strict=True)
    psi0 = [[x * r * s for x, s in zip(row, scales, strict=True)] for row, r in rows]
    return prior._replace(psi0=psi0)


def weighted_cases() -> Iterable[dict]:
    rng = Random(23)
    rows = [draw(rng, 3) for _ in range(4)]
    prior = Prior([0.25, -1.0, 0.0], 0.1, 3.5, square(rng, 3))
    given = partial(asked, prior=prior, rows=rows)
    line = Prior([0.5], 0.5, 4.0, [[2.5]])
    yield asked("D = 1, fractional weights", line, [[-1.0], [2.5]], weights=[0.5, 2.25])
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
    other: Sequence[Row] = (),
    tolerance: dict | None = None,
) -> dict:
    """Scores of a cluster; its first row is the other cluster's too, with the prior mean."""
    spread = [sqrt(row[d]) / 2 for d, row in enumerate(prior.psi0)]
    query = list(query) or [m + s for m, s in zip(prior.m0, spread, strict=True)]
    other = other or [*rows[:1], prior.m0, prior.m0]
    return component_case(FAMILY, what, prior, rows, other, query, weights, tolerance)
