"""The multivariate Student-t density against numpy, mpmath and the density of one column."""

from math import lgamma, log, pi

import mpmath
import numpy as np
import pytest

SIZES = (1, 2, 5, 9)


def problem(n):
    """Psi, x - m, and what the twins want of them."""
    rng = np.random.default_rng(n)
    half = rng.normal(size=(n, n + 2))
    psi, e = half @ half.T, rng.normal(size=n)
    L = np.linalg.cholesky(psi)
    unit = L / np.diag(L)
    return psi, e, np.linalg.solve(unit, e).tolist(), (np.diag(L) ** 2).tolist()


@pytest.mark.parametrize("n", SIZES)
def test_the_density_is_that_of_textbooks(twin, n):
    psi, e, z, d = problem(n)
    kappa, nu = 0.7, n + 1.3
    v = nu - n + 1.0
    shape = (kappa + 1.0) / (kappa * v) * psi
    expected = lgamma(0.5 * (v + n)) - lgamma(0.5 * v) - 0.5 * n * log(v * pi)
    expected -= 0.5 * np.linalg.slogdet(shape)[1]
    expected -= 0.5 * (v + n) * log(1.0 + e @ np.linalg.solve(shape, e) / v)
    assert twin.multivariate_t.log_multivariate_t(z, d, kappa, nu) == pytest.approx(
        expected, rel=1e-11
    )


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("weight", [1.0, 3.0, 0.4])
def test_the_peak_is_the_ratio_of_multivariate_gammas(twin, n, weight):
    kappa, nu, log_det = 0.2, n - 0.5, 1.7
    expected = 0.5 * n * log(kappa / (kappa + weight)) - 0.5 * weight * (n * log(pi) + log_det)
    with mpmath.workdps(30):
        for j in range(n):
            top, bottom = mpmath.mpf(nu + weight - j) / 2, mpmath.mpf(nu - j) / 2
            expected += float(mpmath.loggamma(top) - mpmath.loggamma(bottom))
    peak = twin.multivariate_t.log_peak(n, kappa, nu, log_det, weight)
    assert peak == pytest.approx(expected, rel=1e-11)
    d = [np.exp(log_det / n)] * n
    at_mean = twin.multivariate_t.log_multivariate_t([0.0] * n, d, kappa, nu, weight)
    assert at_mean == pytest.approx(peak, rel=1e-12)


@pytest.mark.parametrize("weight", [1.0, 2.5])
def test_one_column_is_the_student_t_density(twin, weight):
    """Sigma ~ IW(psi, nu) is 1 / Sigma ~ Gamma(nu / 2, psi / 2)."""
    ours = twin.multivariate_t.log_multivariate_t([1.5], [0.8], 2.0, 3.0, weight)
    theirs = twin.student_t.log_student_t(1.5, 0.0, 2.0, 0.4, 1.5, weight)
    assert ours == pytest.approx(theirs, rel=1e-12)
