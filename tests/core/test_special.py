"""Special functions against mpmath, and their identities."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

mpmath.mp.dps = 40
ARGUMENTS = [1e-8, 0.01, 0.5, 1.0, 1.5, 2.0, 9.99, 10.0, 55.5, 1e3, 5e8, 1e15, 1e40]


@pytest.mark.parametrize("x", ARGUMENTS)
def test_values_are_those_of_many_digits(twin, x):
    exact = mpmath.mpf(x)
    step = mpmath.loggamma(exact + mpmath.mpf(1) / 2) - mpmath.loggamma(exact)
    close = {"rel": 8e-15, "abs": 8e-15}
    assert twin.special.log_gamma(x) == pytest.approx(float(mpmath.loggamma(exact)), **close)
    assert twin.special.digamma(x) == pytest.approx(float(mpmath.digamma(exact)), **close)
    assert twin.special.trigamma(x) == pytest.approx(float(mpmath.psi(1, exact)), rel=8e-15)
    with mpmath.workdps(100):
        step = mpmath.loggamma(exact + mpmath.mpf(1) / 2) - mpmath.loggamma(exact)
    assert twin.special.log_gamma_half_step(x) == pytest.approx(float(step), **close)


@given(x=st.floats(1e-6, 1e12))
def test_functions_satisfy_their_recurrences(twin, x):
    special = twin.special
    assert special.log_gamma(x + 1.0) - special.log_gamma(x) == pytest.approx(
        np.log(x), rel=1e-12, abs=2e-14 * max(1.0, abs(special.log_gamma(x)))
    )
    two_steps = special.log_gamma_half_step(x) + special.log_gamma_half_step(x + 0.5)
    assert two_steps == pytest.approx(np.log(x), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("x", [1e-6, 0.3, 1.0, 9.5, 40.0, 1e6, 1e15])
@pytest.mark.parametrize("n", [0.0, 1e-3, 0.5, 1.0, 17.0, 1e6, 1e12])
def test_log_rising_is_the_difference_of_log_gammas(twin, x, n):
    with mpmath.workdps(80):
        expected = mpmath.loggamma(mpmath.mpf(x) + n) - mpmath.loggamma(x)
    close = {"rel": 4e-15, "abs": 4e-15 * (1.0 + n * abs(np.log(x + n)))}
    assert twin.special.log_rising(x, n) == pytest.approx(float(expected), **close)


def test_multivariate_log_gamma(twin):
    value = twin.special.multivariate_log_gamma(7.25, 4)
    exact = 3 * mpmath.log(mpmath.pi) + sum(
        mpmath.loggamma(7.25 - mpmath.mpf(j) / 2) for j in range(4)
    )
    assert value == pytest.approx(float(exact), rel=1e-14)
    assert twin.special.multivariate_log_gamma(2.5, 1) == twin.special.log_gamma(2.5)


@pytest.mark.parametrize("name", ["log_gamma", "log_gamma_half_step", "digamma", "trigamma"])
@pytest.mark.parametrize("x", [0.0, -1.0, float("nan")])
def test_arguments_must_be_positive(twin, name, x):
    with pytest.raises(ValueError, match=f"x must be positive, got {x}"):
        getattr(twin.special, name)(x)


def test_multivariate_arguments(twin):
    with pytest.raises(ValueError, match="p must be at least 1, got 0"):
        twin.special.multivariate_log_gamma(1.0, 0)
    with pytest.raises(ValueError, match=r"x must be above \(p - 1\) / 2 = 1\.0, got 1\.0"):
        twin.special.multivariate_log_gamma(1.0, 3)


@pytest.mark.parametrize(("many", "one"), [("log_gammas", "log_gamma"), ("digammas", "digamma")])
def test_many_values_are_those_of_one(twin, many, one):
    x, found = np.array(ARGUMENTS), np.empty(len(ARGUMENTS))
    getattr(twin.special, many)(x, found)
    assert found.tolist() == [getattr(twin.special, one)(each) for each in ARGUMENTS]
    with pytest.raises(ValueError, match=r"x must be positive, got -1\.0"):
        getattr(twin.special, many)(np.array([1.0, -1.0]), np.empty(2))
    with pytest.raises(ValueError, match="out must have the length of x, 2, got 3"):
        getattr(twin.special, many)(np.ones(2), np.empty(3))
