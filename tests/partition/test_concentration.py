"""The concentration given the number of clusters, against quadrature."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def log_density(alpha, n_clusters, n_rows, shape, rate):
    """p(alpha | K, n), not normalised: the gamma prior times eq. (1)'s terms with alpha."""
    return (
        (shape - 1.0 + n_clusters) * mpmath.log(alpha)
        - rate * alpha
        + mpmath.loggamma(alpha)
        - mpmath.loggamma(alpha + n_rows)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_clusters", "n_rows", "shape", "rate"),
    [(4, 100.0, 1.0, 1.0), (1, 7.5, 0.5, 2.0), (30, 60.0, 3.0, 0.1), (1, 0.4, 2.0, 1.0)],
)
def test_the_long_run_is_the_posterior(twin, n_clusters, n_rows, shape, rate):
    rng, alpha, draws = np.random.default_rng(0), 1.0, []
    for _ in range(20_000):
        log_eta = np.log(rng.beta(alpha + 1.0, n_rows))
        a, b = twin.concentration.alpha_given_eta(
            n_clusters, n_rows, shape, rate, log_eta, rng.random()
        )
        alpha = rng.gamma(a, 1.0 / b)
        draws.append(alpha)
    cuts = np.exp(np.linspace(-12.0, 9.0, 4_001))
    logs = np.array(
        [float(log_density(c, n_clusters, n_rows, shape, rate)) + np.log(c) for c in cuts]
    )
    mass = np.exp(logs - logs.max())
    cdf = np.cumsum(mass) / mass.sum()
    for level in (0.05, 0.25, 0.5, 0.75, 0.95):
        cut = cuts[np.searchsorted(cdf, level)]
        assert np.mean(np.array(draws) <= cut) == pytest.approx(level, abs=0.02)


@settings(max_examples=25, deadline=None)
@given(
    n_clusters=st.integers(1, 50),
    n_rows=st.floats(0.1, 1e4),
    shape=st.floats(0.1, 10.0),
    rate=st.floats(0.01, 10.0),
    eta=st.floats(1e-4, 0.999),
)
def test_the_mixture_is_the_conditional(twin, n_clusters, n_rows, shape, rate, eta):
    """alpha^(a + K - 2) (alpha + n) e^(-alpha (b - log eta)), whose two terms are its parts."""
    a, b = shape + n_clusters, rate - np.log(eta)
    first = mpmath.gamma(a) / mpmath.mpf(b) ** a
    second = n_rows * mpmath.gamma(a - 1.0) / mpmath.mpf(b) ** (a - 1.0)
    part = float(first / (first + second))
    for uniform, expected in ((part * (1.0 - 1e-9), a), (part * (1.0 + 1e-9), a - 1.0)):
        if uniform < 1.0:
            got = twin.concentration.alpha_given_eta(
                n_clusters, n_rows, shape, rate, np.log(eta), uniform
            )
            assert got == pytest.approx((expected, b), rel=1e-12)


GOOD = {
    "n_clusters": 1,
    "n_rows": 1.0,
    "shape": 1.0,
    "rate": 1.0,
    "log_eta": -1.0,
    "uniform": 0.5,
}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_clusters", 0, "n_clusters must be at least 1, got 0"),
        ("n_rows", 0.0, "n_rows must be positive and finite, got 0.0"),
        ("shape", -1.0, "shape must be positive and finite, got -1.0"),
        ("rate", float("inf"), "rate must be positive and finite, got inf"),
        ("log_eta", 0.5, "log_eta must be finite and not above 0, got 0.5"),
        ("log_eta", float("-inf"), "log_eta must be finite and not above 0, got -inf"),
        ("uniform", 1.0, "uniform must be in [0, 1), got 1.0"),
        ("uniform", float("nan"), "uniform must be in [0, 1), got nan"),
    ],
)
def test_errors_state_the_rule_that_is_broken(twin, name, value, message):
    with pytest.raises(ValueError, match="must") as caught:
        twin.concentration.alpha_given_eta(**{**GOOD, name: value})
    assert str(caught.value) == message


def log_mode_density(u, n_clusters, n_rows, power, rate, inverse_rate):
    """The log density of log alpha, not normalised, with many digits."""
    alpha = mpmath.exp(u)
    likelihood = n_clusters * u + mpmath.loggamma(alpha) - mpmath.loggamma(alpha + n_rows)
    return likelihood + power * u - rate * alpha - inverse_rate / alpha


GAMMA_PRIORS = [(1.0, 1.0, 0.0), (0.5, 0.01, 0.0), (4.0, 30.0, 0.0)]
RASMUSSEN = (-0.5, 0.0, 0.5)


@pytest.mark.parametrize("prior", [*GAMMA_PRIORS, RASMUSSEN])
@pytest.mark.parametrize(
    ("n_clusters", "n_rows"),
    [
        *((1, 2.0), (1, 1e7), (5, 12.5), (12, 600.0), (100, 1e6), (40, 40.0), (3000, 1e7)),
        *((10**6, 1e6), (10**7, 1e7), (10**6, 1e6 + 0.5), (10**7 - 1, 1e7)),
    ],
)
def test_the_mode_is_where_the_density_is_flat(twin, prior, n_clusters, n_rows):
    found = twin.concentration.alpha_mode(n_clusters, n_rows, *prior)
    with mpmath.workdps(50):

        def slope(u):
            return mpmath.diff(lambda v: log_mode_density(v, n_clusters, n_rows, *prior), u)

        at = mpmath.log(found)
        assert slope(at - mpmath.mpf("1e-9")) > 0.0 > slope(at + mpmath.mpf("1e-9"))


@settings(max_examples=50, deadline=None)
@given(
    n_clusters=st.integers(1, 10_000),
    more_rows=st.floats(1.0, 1e9),
    shape=st.floats(1e-3, 1e3),
    rate=st.floats(1e-6, 1e6),
)
def test_the_mode_is_found_from_anywhere(twin, n_clusters, more_rows, shape, rate):
    n_rows = n_clusters + more_rows
    found = twin.concentration.alpha_mode(n_clusters, n_rows, shape, rate, 0.0)
    with mpmath.workdps(40):
        best = log_mode_density(mpmath.log(found), n_clusters, n_rows, shape, rate, 0.0)
        for away in ("-0.5", "-1e-5", "1e-5", "0.5"):
            u = mpmath.log(found) + mpmath.mpf(away)
            assert log_mode_density(u, n_clusters, n_rows, shape, rate, 0.0) < best


MODE_ERRORS = {
    "n_clusters must be at least 1, got 0": (0, 5.0, 1.0, 1.0, 0.0),
    "n_rows must be positive and finite, got 0.0": (1, 0.0, 1.0, 1.0, 0.0),
    "rate must be finite and not negative, got -1.0": (1, 5.0, 1.0, -1.0, 0.0),
    "inverse_rate must be finite and not negative, got inf": (1, 5.0, 1.0, 1.0, np.inf),
    "n_clusters \\+ power must be above 1, got 1.0": (1, 5.0, 0.0, 1.0, 0.0),
    "n_clusters \\+ power must be below n_rows = 2.0, got 2.5": (3, 2.0, -0.5, 0.0, 0.5),
}


@pytest.mark.parametrize("message", MODE_ERRORS)
def test_modes_that_are_not_there(twin, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        twin.concentration.alpha_mode(*MODE_ERRORS[message])
