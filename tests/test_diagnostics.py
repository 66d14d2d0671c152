"""Raftery & Lewis: known lengths, and chains whose transition probabilities are known."""

from math import ceil, log
from statistics import NormalDist

import numpy as np
import pytest

from dpmlite.diagnostics import raftery_lewis


def two_states(n, down, up, seed=0):
    """A Markov chain of 1 (high) and 0 (low)."""
    uniforms = np.random.default_rng(seed).random(n)
    chain = np.empty(n)
    state = 1.0
    for i, u in enumerate(uniforms):
        state = state if u >= (down if state else up) else 1.0 - state
        chain[i] = state
    return chain


@pytest.mark.parametrize(
    ("given", "n_min"),
    [
        ({}, 3746),  # the table of Raftery & Lewis (1992)
        ({"r": 0.0125}, 600),
        ({"q": 0.5, "r": 0.0125}, 6147),
        ({"r": 0.1}, 10),
        ({"q": 0.5, "s": 0.9, "r": 0.05}, 271),
    ],
)
def test_independent_steps(given, n_min):
    found = raftery_lewis(np.random.default_rng(2).normal(size=8000), **given)
    assert found.n_min == n_min
    assert found.thin == 1
    assert found.n_total >= found.burn_in > 0
    assert found.dependence_factor == pytest.approx(found.n_total / n_min)
    assert found.dependence_factor == pytest.approx(1.0, rel=0.25, abs=3.0 / n_min)


@pytest.mark.parametrize(("down", "up"), [(0.05, 0.2), (0.02, 0.03), (0.3, 0.9)])
def test_a_markov_chain_of_two_states(down, up):
    """Its states are those on the two sides of a quantile below the probability of 0."""
    chain = two_states(200_000, down, up)
    p = down / (down + up)
    q = 0.8 * p
    found = raftery_lewis(chain, q=q, r=0.01)
    low = chain == 0.0
    a, b = low[1:][~low[:-1]].mean(), (~low[1:])[low[:-1]].mean()
    z = NormalDist().inv_cdf(0.975)
    m = log(0.001 * (a + b) / max(a, b)) / log(abs(1.0 - a - b))
    n = a * b * (2.0 - a - b) / (a + b) ** 3 * (z / 0.01) ** 2
    assert found.thin == 1
    assert found.burn_in == ceil(m)
    assert found.n_total == ceil(m) + ceil(n)
    assert (a, b) == pytest.approx((down, up), rel=0.05)
    # Variance of the mean of such a chain against that of independent steps at q.
    inflation = (2.0 - a - b) / (a + b) * p * (1.0 - p) / (q * (1.0 - q))
    assert found.n_total - found.burn_in == pytest.approx(inflation * found.n_min, rel=0.05)


def test_lengths_are_in_steps_of_the_unthinned_chain():
    """Every state is held for four steps: a Markov chain only if thinned."""
    held = np.repeat(two_states(50_000, 0.3, 0.3), 4)
    found = raftery_lewis(held, q=0.4, r=0.02)
    assert found.thin == 4
    assert found.burn_in % 4 == 0
    assert found.n_total % 4 == 0
    once = raftery_lewis(held[::4], q=0.4, r=0.02)
    assert (found.burn_in, found.n_total) == (4 * once.burn_in, 4 * once.n_total)


def test_slow_chains_need_more():
    rng = np.random.default_rng(3)
    factors = []
    for rho in (0.0, 0.5, 0.9):
        x, chain = 0.0, []
        for noise in rng.normal(size=20_000):
            x = rho * x + noise
            chain.append(x)
        factors.append(raftery_lewis(chain).dependence_factor)
    assert factors[0] < factors[1] < 2.0 < 4.0 < factors[2]


def test_the_papers_tolerance_takes_short_chains():
    found = raftery_lewis(np.random.default_rng(0).normal(size=100), q=0.025, r=0.1, s=0.95)
    assert (found.n_min, found.thin) == (10, 1)


CHAIN = np.random.default_rng(0).normal(size=5000)


@pytest.mark.parametrize(
    ("chain", "given", "message"),
    [
        (CHAIN[:3000], {}, "at least 3746 values for q=0.025, r=0.005, s=0.95, got 3000"),
        ([], {"r": 0.1}, "chain must have at least 10 values"),
        (np.zeros(5000), {}, "must pass its quantile to and fro, .*, got 0 steps down and 0 up"),
        (np.arange(5000.0), {}, "must pass its quantile to and fro, .*, got 0 steps down and 1 up"),
        ([0.0, 1.0] * 2500, {}, "not at every step, got .* 0 others"),
        (CHAIN.reshape(2, -1), {}, r"chain must be 1-D, got shape \(2, 2500\)"),
        ([0.0, np.nan], {}, "chain must be finite, got nan at step 1"),
        ([0.0, "a"], {}, "chain must be numbers, got 'a' in step 1"),
        ([[0.0, 1.0], [0.0]], {}, "chain must have rows of the same length"),
        (CHAIN, {"q": 1.0}, r"q must be between 0 and 1, got 1\.0"),
        (CHAIN, {"s": 1.5}, r"s must be between 0 and 1, got 1\.5"),
        (np.ma.masked_less(CHAIN, 0.0), {}, "chain must have no masked values"),
        (CHAIN, {"s": 1e-20}, "s must be further from 0 and 1 than rounding, got 1e-20"),
        (CHAIN, {"s": np.nextafter(1.0, 0.0)}, "s must be further from 0 and 1 than rounding"),
        (CHAIN, {"r": 0.0}, r"r must be positive, got 0\.0"),
        (CHAIN, {"epsilon": 0.5}, r"epsilon must be between 0 and 0\.5, got 0\.5"),
        (
            [0, 0, 0, 1, 1, 0, 1, 1, 0, 0],
            {"q": 0.3, "r": 0.3, "s": 0.9},
            "chain must be longer: its 10 values depend",
        ),
    ],
)
def test_errors_state_the_rule_that_is_broken(chain, given, message):
    with pytest.raises(ValueError, match=message):
        raftery_lewis(chain, **given)
