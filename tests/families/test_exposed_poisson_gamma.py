"""Counts at unlike exposures: negative binomials of scipy, extreme exposures, removals, weights."""

from math import exp, log

import mpmath
import numpy as np
import pytest
from scipy import stats
from slots import CLOSE, check_scores, check_scores_of_members, fill, spread

NAN = np.nan


def build(twin, X, prior, labels, n_slots=3):
    return fill(twin.exposed_poisson_gamma.ExposedPoissonGamma(**prior), X, labels, n_slots)


def filled(twin, X, prior, n_slots=3):
    return spread(twin.exposed_poisson_gamma.ExposedPoissonGamma(**prior), X, n_slots)


def drawn(rng, n_rows, n_counts, mean=3.0, missing=0.1):
    """Rows of counts, some missing, and of an exposure in the last column."""
    exposures = np.exp(rng.normal(scale=1.5, size=(n_rows, 1)))
    counts = rng.poisson(rng.gamma(0.5, 2.0 * mean, size=(n_rows, n_counts)) * exposures)
    counts = np.where(rng.random(counts.shape) < missing, NAN, counts)
    return np.hstack([counts, exposures])


def drawn_prior(rng, n_counts):
    return {key: rng.gamma(1.0, size=n_counts).tolist() for key in ("a0", "b0")}


def naive_log_predictive(row, rows, prior):
    """Negative binomial probabilities with p = b / (b + e)."""
    total, e = 0.0, row[-1]
    for d, x in enumerate(row[:-1]):
        known = ~np.isnan(rows[:, d])
        a = prior["a0"][d] + rows[known, d].sum()
        b = prior["b0"][d] + rows[known, -1].sum()
        total += 0.0 if np.isnan(x) else stats.nbinom.logpmf(x, a, b / (b + e))
    return total


@pytest.mark.parametrize("n_counts", [1, 3, 8, 9])
@pytest.mark.parametrize("n_slots", [3, 17, 40])
@pytest.mark.parametrize("mean", [0.3, 40.0])
def test_scores_of_many_columns_and_slots(twin, n_counts, n_slots, mean):
    rng = np.random.default_rng(n_counts)
    X, prior = drawn(rng, 60, n_counts, mean), drawn_prior(rng, n_counts)
    component, labels = filled(twin, X, prior, n_slots)
    check_scores(component, labels, X, prior, naive_log_predictive)


def test_members_are_scored_without_themselves(twin):
    rng = np.random.default_rng(1)
    X, prior = drawn(rng, 40, 5), drawn_prior(rng, 5)
    component, labels = filled(twin, X, prior)
    check_scores_of_members(component, labels, X, prior, naive_log_predictive)


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_exposures_of_1_are_none(twin, power):
    rng = np.random.default_rng(2)
    counts, prior = drawn(rng, 30, 4)[:, :-1], drawn_prior(rng, 4)
    plain, labels = spread(twin.poisson_gamma.PoissonGamma(**prior, power=power), counts, 3)
    X = np.column_stack([counts, np.ones(30)])
    exposed = build(twin, X, {**prior, "power": power}, labels)
    for row, counted in zip(X[:5], counts[:5], strict=True):
        expected = plain.log_predictive_all(counted, 2.5)
        assert exposed.log_predictive_all(row, 2.5) == pytest.approx(expected, rel=1e-12)
    assert exposed.log_marginal(0) == pytest.approx(plain.log_marginal(0), rel=1e-12)
    assert exposed.statistics(0) == pytest.approx(plain.statistics(0), rel=1e-12)


def test_the_unit_of_exposures_does_not_matter(twin):
    rng = np.random.default_rng(3)
    X, prior = drawn(rng, 30, 4), drawn_prior(rng, 4)
    days, labels = filled(twin, X, prior)
    in_hours = X * np.append(np.ones(4), 24.0)
    hours = build(twin, in_hours, {**prior, "b0": [24.0 * b for b in prior["b0"]]}, labels)
    for k in range(3):
        assert hours.log_marginal(k) == pytest.approx(days.log_marginal(k), rel=1e-11)
        expected = days.log_predictive(X[0], k)
        assert hours.log_predictive(in_hours[0], k) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("x", [0.0, 1.0, 17.0, 1e5, 1e9, 2.5])
@pytest.mark.parametrize("a0", [1e-12, 0.7, 1e12])
@pytest.mark.parametrize("e", [1e-12, 1e-3, 365.0, 1e12])
def test_extreme_counts_priors_and_exposures(twin, x, a0, e):
    rows = np.array([[4.0, 0.2], [0.0, 3.0], [7.0, 11.0]])
    component = build(twin, rows, {"a0": [a0], "b0": [0.3]}, [0] * 3)
    with mpmath.workdps(60):
        a, b, e_ = mpmath.mpf(a0) + 11, mpmath.mpf(0.3) + mpmath.mpf(0.2) + 14, mpmath.mpf(e)
        rising = mpmath.loggamma(a + x) - mpmath.loggamma(a) - mpmath.loggamma(mpmath.mpf(x) + 1)
        expected = rising + a * mpmath.log(b / (b + e_)) + x * mpmath.log(e_ / (b + e_))
        scale = max(x, a0, 1.0) * 60.0
    row = np.array([x, e])
    for found in (component.log_predictive(row, 0), component.log_predictive_all(row)[0]):
        assert found == pytest.approx(float(expected), rel=1e-12, abs=1e-15 * scale)


def test_probabilities_of_all_counts_sum_to_one(twin):
    X = np.array([[2.0, 0.5], [5.0, 3.0]])
    component = build(twin, X, {"a0": [0.4], "b0": [0.7]}, [0, 0])
    for e in (0.1, 4.0):
        total = sum(exp(component.log_predictive(np.array([x, e]), 0)) for x in np.arange(400.0))
        assert total == pytest.approx(1.0, rel=1e-12)


def test_statistics_are_sums_and_the_posterior_adds_them_to_the_prior(twin):
    prior = {"a0": [0.5, 2.0], "b0": [1.0, 3.0]}
    X = np.array([[1.0, 0.0, 2.0], [4.0, NAN, 0.5], [0.0, 2.0, 8.0]])
    component = build(twin, X, prior, [0] * 3)
    *sums, log_factorials = component.statistics(0)
    assert sums == [3.0, 5.0, 2.0, 10.5, 10.0]
    expected = log(24.0) + log(2.0) - log(2.0) - 4.0 * log(0.5) - 2.0 * log(8.0)
    assert log_factorials == pytest.approx(expected, rel=1e-14)
    assert component.posterior(0) == {"n": 3.0, "a": [5.5, 4.0], "b": [11.5, 13.0]}
    assert component.posterior(1) == {"n": 0.0, **{key[0]: prior[key] for key in prior}}


@pytest.mark.parametrize("row", [[NAN, NAN, 3.0], [1.0, 2.0, NAN], [1.0, 2.0, 0.0]])
def test_a_row_without_counts_or_exposure_adds_nothing(twin, row):
    rng = np.random.default_rng(4)
    X, prior = drawn(rng, 20, 2), drawn_prior(rng, 2)
    component, row = build(twin, X, prior, [0] * 20), np.array(row)
    before = component.statistics(0), component.log_marginal(0)
    assert component.log_predictive_all(row) == pytest.approx([0.0] * 3, abs=1e-12)
    assert component.log_predictive(row, 0) == pytest.approx(0.0, abs=1e-12)
    assert component.expected_log_density(row, 0) == pytest.approx(0.0, abs=1e-12)
    component.add(row, 0)
    assert component.statistics(0) == [21.0, *before[0][1:]]
    assert component.log_marginal(0) == before[1]
    assert component.remove(row, 0)
    assert component.statistics(0) == before[0]


def test_equal_rows_are_a_row_of_that_weight(twin):
    rng = np.random.default_rng(5)
    X, prior = drawn(rng, 6, 3), drawn_prior(rng, 3)
    component = build(twin, X, prior, [0] * 6, n_slots=1)
    weighted = component.log_predictive(X[0], 0, 3.0)
    assert component.log_predictive_all(X[0], 3.0)[0] == pytest.approx(weighted, rel=1e-12)
    copies = 0.0
    for _ in range(3):
        copies += component.log_predictive(X[0], 0)
        component.add(X[0], 0)
    assert weighted == pytest.approx(copies, rel=1e-12)
    assert component.remove(X[0], 0, 3.0)
    once_more = build(twin, X, prior, [0] * 6, n_slots=1)
    assert component.log_marginal(0) == pytest.approx(once_more.log_marginal(0), rel=1e-11)


def test_an_exposure_that_hides_the_others_is_not_removed(twin):
    X = np.array([[1.0, 1.0], [0.0, 1e9], [2.0, 3.0]])
    component = build(twin, X, {"a0": [1.0], "b0": [0.1]}, [0] * 3)
    before = component.statistics(0)
    assert np.isnan(component.log_predictive_member(X[1], 0))
    assert not component.remove(X[1], 0)
    assert component.statistics(0) == before
    assert component.remove(X[0], 0)


def test_statistics_are_checked(twin):
    component = build(twin, np.empty((0, 2)), {"a0": [1.0], "b0": [1.0]}, [])
    component.load(0, [2.0, 5.0, 0.25, -17.0])
    assert component.statistics(0) == [2.0, 5.0, 0.25, -17.0]
    with pytest.raises(ValueError, match="statistics must have exposures from 0 to"):
        component.load(0, [2.0, 5.0, -0.25, -17.0])


@pytest.mark.parametrize("beside_levels", [False, True])
@pytest.mark.parametrize("weight", [0.3, 17.0])
def test_twins_sweep_heavy_rows_alike(twins, weight, beside_levels):
    rng = np.random.default_rng(6)
    rates, group = rng.gamma(0.4, 10.0, size=(6, 8)), rng.integers(6, size=120)
    exposures = np.exp(rng.normal(size=(120, 1)))
    X = np.hstack([rng.poisson(rates[group] * exposures).astype(float), exposures])
    X = np.column_stack([X, group % 2.0]) if beside_levels else X
    weights = np.where(rng.random(120) < 0.5, weight, 1.0)
    found = []
    for twin in twins:
        family = twin.exposed_poisson_gamma.ExposedPoissonGamma([0.5] * 8, [0.1] * 8)
        if beside_levels:
            levels = twin.categorical.Categorical([[1.0, 1.0]])
            family = twin.product.Product([family, levels])
        labels = np.arange(120, dtype=np.intp) % 15
        state = twin.partition.Partition(twin.rows.Rows(X, weights), labels, family, 1.0)
        moves = [twin.map_dpm.sweep(state) for _ in range(4)]
        found.append((moves, np.asarray(state.labels).tolist(), state.neg_log_joint))
    assert found[0][:2] == found[1][:2]
    assert found[0][2] == pytest.approx(found[1][2], **CLOSE)
    assert found[0][0][0] > 20


CALLS = {
    "a0 must be positive, got -1.0": lambda family: family([-1], [1.0]),
    "a0 and b0 must have the same length, got 1 and 2": lambda family: family([1.0], [1.0, 1.0]),
    "power must be above 0 and at most 1, got 1.5": lambda family: family([1.0], [1.0], 1.5),
    "row must have 2 values, got 1": lambda family: fill(family([1.0], [1.0]), [], []).add(
        np.zeros(1), 0
    ),
    "power must be 1 for expected log densities, got 0.5": lambda family: fill(
        family([1.0], [1.0], 0.5), [], []
    ).expected_log_density(np.ones(2), 0),
}


@pytest.mark.parametrize("message", CALLS)
def test_errors_state_the_rule_that_is_broken(twin, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        CALLS[message](twin.exposed_poisson_gamma.ExposedPoissonGamma)
    assert str(caught.value) == message
