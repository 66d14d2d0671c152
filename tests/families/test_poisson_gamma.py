"""Poisson-gamma components: counts small and large, missing cells, extreme priors, removals."""

from math import exp, lgamma, log, log1p

import mpmath
import numpy as np
import pytest
from families import CASES
from slots import CLOSE, check_scores, check_scores_of_members, fill, spread

NAN = np.nan


def build(twin, X, prior, labels, n_slots=3):
    return fill(twin.poisson_gamma.PoissonGamma(**prior), X, labels, n_slots)


def filled(twin, X, prior, n_slots=3):
    return spread(twin.poisson_gamma.PoissonGamma(**prior), X, n_slots)


def drawn(rng, n_rows, n_columns, mean=3.0, missing=0.1):
    X = rng.poisson(rng.gamma(0.5, 2.0 * mean, size=(n_rows, n_columns))).astype(float)
    X[rng.random(X.shape) < missing] = NAN
    return X


def drawn_prior(rng, n_columns):
    return {key: rng.gamma(1.0, size=n_columns).tolist() for key in ("a0", "b0")}


def naive_log_predictive(row, rows, prior):
    """Negative binomial densities."""
    total = 0.0
    for d, x in enumerate(row):
        if not np.isnan(x):
            a = prior["a0"][d] + np.nansum(rows[:, d])
            b = prior["b0"][d] + (~np.isnan(rows[:, d])).sum()
            total += lgamma(a + x) - lgamma(a) - lgamma(x + 1.0)
            total -= a * log1p(1.0 / b) + x * log(b + 1.0)
    return total


@pytest.mark.parametrize("n_columns", [1, 3, 8, 9, 128, 129])
@pytest.mark.parametrize("n_slots", [3, 17, 40])
@pytest.mark.parametrize("mean", [0.3, 5.0, 40.0])
def test_scores_of_many_columns_and_slots(twin, n_columns, n_slots, mean):
    rng = np.random.default_rng(n_columns)
    X, prior = drawn(rng, 90, n_columns, mean), drawn_prior(rng, n_columns)
    component, labels = filled(twin, X, prior, n_slots)
    check_scores(component, labels, X, prior, naive_log_predictive)


def test_members_are_scored_without_themselves(twin):
    rng = np.random.default_rng(1)
    X, prior = drawn(rng, 40, 5), drawn_prior(rng, 5)
    component, labels = filled(twin, X, prior)
    check_scores_of_members(component, labels, X, prior, naive_log_predictive)


@pytest.mark.parametrize("x", [0.0, 1.0, 15.0, 16.0, 17.0, 40.0, 1023.0, 1024.0, 1e5, 1e9, 2.5])
@pytest.mark.parametrize("a0", [1e-12, 0.7, 1e6, 1e12])
def test_counts_of_any_size_and_extreme_priors(twin, x, a0):
    b0, others = 0.3, [4.0, 0.0, 7.0]
    component = build(twin, np.array([others]).T, {"a0": [a0], "b0": [b0]}, [0] * 3)
    with mpmath.workdps(50):
        a, b = mpmath.mpf(a0) + 11, mpmath.mpf(b0) + 3
        rising = mpmath.loggamma(a + x) - mpmath.loggamma(a) - mpmath.loggamma(mpmath.mpf(x) + 1)
        expected = rising + a * mpmath.log(b / (b + 1)) - x * mpmath.log(b + 1)
        scale = max(x, a0, 1.0) * 30.0
    row = np.array([x])
    for found in (component.log_predictive(row, 0), component.log_predictive_all(row)[0]):
        assert found == pytest.approx(float(expected), rel=1e-13, abs=1e-15 * scale)


def test_large_statistics(twin):
    component = twin.poisson_gamma.PoissonGamma([0.5], [2.0])
    component.resize(1)
    component.load(0, [3e6, 4e6, 3e6, 123.0])
    with mpmath.workdps(40):
        a, b = mpmath.mpf(0.5), mpmath.mpf(2)
        expected = mpmath.loggamma(a + 4e6) - mpmath.loggamma(a) - 123
        expected += a * mpmath.log(b) - (a + 4e6) * mpmath.log(b + 3e6)
        at_3 = mpmath.rf(a + 4e6, 3) / 6 / (b + 3e6 + 1) ** 3
        at_3 *= (1 - 1 / (b + 3e6 + 1)) ** (a + 4e6)
    assert component.log_marginal(0) == pytest.approx(float(expected), rel=1e-10)
    score = component.log_predictive_all(np.array([3.0]))[0]
    assert score == pytest.approx(float(mpmath.log(at_3)), rel=1e-12)


def test_probabilities_of_all_counts_sum_to_one(twin):
    component = build(twin, np.array([[2.0], [5.0]]), {"a0": [0.4], "b0": [0.7]}, [0, 0])
    total = sum(exp(component.log_predictive(np.array([float(x)]), 0)) for x in range(400))
    assert total == pytest.approx(1.0, rel=1e-12)


def test_a_missing_cell_adds_nothing(twin):
    rng = np.random.default_rng(3)
    X, prior = drawn(rng, 20, 3), drawn_prior(rng, 3)
    component = build(twin, X, prior, [0] * 20)
    before = component.statistics(0), component.log_marginal(0)
    row = np.full(3, NAN)
    assert component.log_predictive_all(row) == pytest.approx([0.0] * 3, abs=1e-12)
    component.add(row, 0)
    assert (component.statistics(0)[1:], component.log_marginal(0)) == (before[0][1:], before[1])
    assert component.counts[0] == 21.0


def test_a_number_below_0_counts_as_0(twin):
    component = build(twin, [np.array([-3.0])], {"a0": [1.0], "b0": [1.0]}, [0])
    assert component.statistics(0) == [1.0, 0.0, 1.0, 0.0]
    zero = component.log_predictive_all(np.array([0.0]))
    assert component.log_predictive_all(np.array([-1e300])) == zero


def test_statistics_are_sums_and_the_posterior_adds_them_to_the_prior(twin):
    prior = {"a0": [0.5, 2.0], "b0": [1.0, 3.0]}
    X = np.array([[1.0, 0.0], [4.0, NAN], [0.0, 2.0]])
    component = build(twin, X, prior, [0] * 3)
    *sums, log_factorials = component.statistics(0)
    assert sums == [3.0, 5.0, 2.0, 3.0, 2.0]
    assert log_factorials == pytest.approx(log(24.0) + log(2.0), rel=1e-14)
    assert component.posterior(0) == {"n": 3.0, "a": [5.5, 4.0], "b": [4.0, 5.0]}
    assert component.posterior(1) == {"n": 0.0, **{key[0]: prior[key] for key in prior}}


def test_a_count_that_hides_the_others_is_not_removed(twin):
    """0.1 + 1e16 - 1e16 is not 0.1."""
    component = build(twin, np.array([[1.0], [1e16], [0.0]]), {"a0": [0.1], "b0": [1.0]}, [0] * 3)
    huge, before = np.array([1e16]), component.statistics(0)
    assert np.isnan(component.log_predictive_member(huge, 0))
    assert not component.remove(huge, 0)
    assert component.statistics(0) == before
    assert component.remove(np.array([0.0]), 0)
    assert component.log_predictive_member(np.array([1.0]), 0) < -1.0


@pytest.mark.parametrize("weight", [0.3, 0.999, 2.0, 17.0, 40.5])
def test_heavy_rows_are_not_ruled_out_where_they_belong(twins, weight):
    rng = np.random.default_rng(5)
    X = rng.poisson(rng.gamma(0.4, 10.0, size=(6, 8))[rng.integers(6, size=120)]).astype(float)
    X[rng.random(X.shape) < 0.05] = NAN
    weights = np.where(rng.random(120) < 0.5, weight, 1.0)
    found = []
    for twin in twins:
        family = twin.poisson_gamma.PoissonGamma([0.5] * 8, [0.1] * 8)
        labels = np.arange(120, dtype=np.intp) % 15
        state = twin.partition.Partition(twin.rows.Rows(X, weights), labels, family, 1.0)
        moves = [twin.map_dpm.sweep(state) for _ in range(4)]
        found.append((moves, np.asarray(state.labels).tolist(), state.neg_log_joint))
    assert found[0][:2] == found[1][:2]
    assert found[0][2] == pytest.approx(found[1][2], **CLOSE)
    assert found[0][0][0] > 20


def test_bounds_of_predictives_are_refused(twin):
    component = CASES["poisson-gamma"].component(twin, {"a0": [1.0], "b0": [1.0]})
    with pytest.raises(ValueError, match="no bound of log predictives is known for PoissonGamma"):
        component.bound_over(twin.rows.Rows(np.zeros((1, 1))))


CALLS = {
    "a0 must be positive, got -1.0": lambda family: family([-1], [1.0]),
    "b0 must be positive, got 0.0": lambda family: family([1.0], [0.0]),
    "a0 must be positive, got nan": lambda family: family([NAN], [-1.0]),
    "a0 and b0 must have the same length, got 1 and 2": lambda family: family([-1.0], [1.0, 1.0]),
    "power must be above 0 and at most 1, got 1.5": lambda family: family([1.0], [1.0], 1.5),
    "power must be 1 for expected log densities, got 0.5": lambda family: fill(
        family([1.0], [1.0], 0.5), [], []
    ).expected_log_density(np.zeros(1), 0),
}


@pytest.mark.parametrize("message", CALLS)
def test_errors_state_the_rule_that_is_broken(twin, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        CALLS[message](twin.poisson_gamma.PoissonGamma)
    assert str(caught.value) == message
