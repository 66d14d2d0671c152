"""Normal components of known variance against covariance matrices, mpmath and the chain rule."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from slots import CLOSE, check_scores, check_scores_of_members, fill, spread

PRIOR = {"m0": [3.0, -1.0], "sigma2": [2.0, 0.5], "tau2": [9.0, 0.1]}


def naive_log_marginal(X, prior):
    """Each column is one draw from a normal whose rows all share the cluster's mean."""
    total = 0.0
    for x, m0, sigma2, tau2 in zip(np.transpose(X), *prior.values(), strict=True):
        covariance = sigma2 * np.eye(len(X)) + tau2
        distance = (x - m0) @ np.linalg.solve(covariance, x - m0)
        total -= 0.5 * (np.linalg.slogdet(2.0 * np.pi * covariance)[1] + distance)
    return total


def naive_log_predictive(x, X, prior):
    """Section 2 to the letter: log N(x | mean_n, tau_n^2 + sigma^2)."""
    total = 0.0
    for d, (m0, sigma2, tau2) in enumerate(zip(*prior.values(), strict=True)):
        mean, variance = m0, tau2
        if len(X):
            w = 1.0 / (1.0 + sigma2 / len(X) / tau2)
            mean, variance = w * X[:, d].mean() + (1.0 - w) * m0, w * sigma2 / len(X)
        variance += sigma2
        total -= 0.5 * (np.log(2.0 * np.pi * variance) + (x[d] - mean) ** 2 / variance)
    return total


@st.composite
def problems(draw, least_rows=1):
    n, d = draw(st.integers(least_rows, 12)), draw(st.integers(1, 3))
    cells = draw(st.lists(st.integers(-9, 9), min_size=n * d, max_size=n * d))
    scales = st.lists(st.sampled_from([0.1, 1.0, 3.7]), min_size=d, max_size=d)
    return 0.5 * np.array(cells, dtype=float).reshape(n, d), {
        "m0": draw(scales),
        "sigma2": draw(scales),
        "tau2": draw(scales),
    }


def build(twin, X, prior, labels, n_slots=3):
    return fill(twin.normal_known_variance.NormalKnownVariance(**prior), X, labels, n_slots)


def filled(twin, X, prior, n_slots=3):
    """A component with the rows of X spread over the slots but the last."""
    return spread(twin.normal_known_variance.NormalKnownVariance(**prior), X, n_slots)


@given(problem=problems())
def test_scores_are_those_of_section_2(twin, problem):
    X, prior = problem
    check_scores(*filled(twin, X, prior), X, prior, naive_log_predictive)


@given(problem=problems())
def test_a_member_is_scored_without_itself(twin, problem):
    X, prior = problem
    check_scores_of_members(*filled(twin, X, prior), X, prior, naive_log_predictive)


def test_any_weight_follows_the_chain_rule(twin):
    x = np.array([4.0, -2.5])
    component = build(twin, [[1.0, 0.5], [5.0, 0.0]], PRIOR, [0, 0])
    component.add(np.array([2.0, 2.0]), 0, 0.7)
    whole = component.log_predictive(x, 0, 2.3)
    first = component.log_predictive(x, 0, 0.9)
    component.add(x, 0, 0.9)
    assert whole == pytest.approx(first + component.log_predictive(x, 0, 1.4), **CLOSE)
    component.add(x, 0, 1.4)
    assert component.log_predictive_member(x, 0, 2.3) == pytest.approx(whole, **CLOSE)


def exact_log_marginal(rows, m0, sigma2, tau2):
    """One column's marginal to 50 digits, from the rows as they are."""
    with mpmath.workdps(50):
        x = [mpmath.mpf(float(value)) - mpmath.mpf(m0) for value in rows]
        n, s, t = len(x), mpmath.mpf(sigma2), mpmath.mpf(tau2)
        squares = sum(v * v for v in x) / s - t * sum(x) ** 2 / (s * (s + n * t))
        logs = n * mpmath.log(2 * mpmath.pi * s) + mpmath.log1p(n * t / s)
        return float(-(logs + squares) / 2)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_neither_offset_nor_scale_costs_digits(twin, offset, scale):
    units = np.round(64.0 * np.random.default_rng(0).normal(size=40)) / 64.0 + 20.0
    X = (scale * (offset + units))[:, None]
    prior = {"m0": [scale * offset], "sigma2": [scale**2], "tau2": [100.0 * scale**2]}
    component = build(twin, X[1:], prior, [0] * 39)
    with_all = exact_log_marginal(X[:, 0], *(values[0] for values in prior.values()))
    without = exact_log_marginal(X[1:, 0], *(values[0] for values in prior.values()))
    # What rounding took from the rows themselves, before they came here.
    close = {"rel": 0.0, "abs": 1e-9 + 1e-13 * offset}
    assert component.log_marginal(0) == pytest.approx(without, **close)
    assert component.log_predictive_all(X[0])[0] == pytest.approx(with_all - without, **close)
    component.add(X[0], 0)
    assert component.log_predictive_member(X[0], 0) == pytest.approx(with_all - without, **close)


@pytest.mark.parametrize("ratio", [1e-30, 1e-9, 1e9, 1e30])
def test_extreme_ratios_of_the_variances(twin, ratio):
    X = np.array([[1.0], [4.0], [4.5]])
    prior = {"m0": [0.0], "sigma2": [1.0], "tau2": [ratio]}
    component = build(twin, X, prior, [0, 0, 1])
    expected = [exact_log_marginal(rows[:, 0], 0.0, 1.0, ratio) for rows in (X, X[:2], X[2:])]
    assert component.log_marginal_merged(0, 1) == pytest.approx(expected[0], **CLOSE)
    assert component.log_marginal(0) == pytest.approx(expected[1], **CLOSE)
    assert component.log_marginal(1) == pytest.approx(expected[2], **CLOSE)
    predictive = component.log_predictive_all(X[2])[0]
    assert predictive == pytest.approx(expected[0] - expected[1], **CLOSE)


def test_the_last_row_leaves_the_prior_exactly(twin):
    component = build(twin, [[1e3, 1.0]], PRIOR, [0], n_slots=2)
    assert component.remove(np.array([1e3, 1.0]), 0)
    assert component.statistics(0) == component.statistics(1) == [0.0] * 4


@pytest.mark.parametrize("distance", [10.0, 300.0, 4000.0])
def test_a_far_row_is_not_removed_when_rounding_would_show(twin, distance):
    X = np.concatenate([np.random.default_rng(0).normal(size=(10, 3)), np.full((1, 3), distance)])
    prior = {"m0": [0.0] * 3, "sigma2": [1.0] * 3, "tau2": [4.0] * 3}
    component = build(twin, X, prior, [0] * 11)
    before = component.statistics(0)
    score = component.log_predictive_member(X[-1], 0)
    if component.remove(X[-1], 0):
        assert distance == 10.0
        assert score == pytest.approx(naive_log_predictive(X[-1], X[:-1], prior), rel=1e-11)
        expected = naive_log_marginal(X[:-1], prior)
        assert component.log_marginal(0) == pytest.approx(expected, rel=1e-11)
    else:
        assert distance > 10.0
        assert np.isnan(score)
        assert component.statistics(0) == before


def test_removals_add_up_and_little_weight_is_not_left(twin):
    X = 40.0 * np.arange(40.0)[:, None]
    prior = {"m0": [800.0], "sigma2": [1.0], "tau2": [4.0]}
    component = build(twin, X, prior, [0] * 40)
    removed = [component.remove(row, 0) for row in X[::-1]]
    assert removed.index(False) > 30  # one at a time, none of them lost much
    component = build(twin, X[:1], prior, [0])
    component.add(X[0], 0, 2000.0)
    assert np.isnan(component.log_predictive_member(X[0], 0, 2000.0))
    assert not component.remove(X[0], 0, 2000.0)


def test_values_far_away_count_as_lying_at_the_edge(twin):
    prior = {"m0": [1.0], "sigma2": [4.0], "tau2": [1.0]}
    component = build(twin, [[0.0]], prior, [0])
    for sign in (-1.0, 1.0):
        edge = component.log_predictive(np.array([1.0 + sign * 2.0 * 4096.0]), 0)
        beyond, before = np.array([sign * 1e300]), np.array([1.0 + sign * 2.0 * 4095.0])
        assert component.log_predictive(beyond, 0) == edge
        assert component.log_predictive_all(beyond)[0] == pytest.approx(edge, rel=1e-15)
        assert edge < component.log_predictive(before, 0)


def test_posterior_is_in_the_units_of_the_data(twin):
    X = 1e6 + 10.0 * np.random.default_rng(1).normal(size=(20, 2))
    prior = {"m0": [1e6, 1e6 - 5.0], "sigma2": [100.0, 25.0], "tau2": [900.0, 1.0]}
    posterior = build(twin, X, prior, [0] * 20).posterior(0)
    assert posterior["n"] == 20.0
    for d, (m0, sigma2, tau2) in enumerate(zip(*prior.values(), strict=True)):
        precision = 1.0 / tau2 + 20.0 / sigma2
        assert posterior["tau2"][d] == pytest.approx(1.0 / precision, rel=1e-12)
        mean = (m0 / tau2 + X[:, d].sum() / sigma2) / precision
        assert posterior["m"][d] == pytest.approx(mean, rel=1e-14)
    empty = build(twin, X, prior, [0] * 20).posterior(1)
    assert empty == {"n": 0.0, "m": prior["m0"], "tau2": prior["tau2"]}


@pytest.mark.parametrize("n_columns", [1, 7, 8, 9, 16, 33, 200])
@pytest.mark.parametrize("n_slots", [3, 17, 40, 70])
def test_scores_are_right_at_every_width_of_vectors(twin, n_columns, n_slots):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, n_columns))
    prior = {
        "m0": rng.normal(size=n_columns),
        "sigma2": rng.gamma(1.0, size=n_columns),
        "tau2": rng.gamma(1.0, size=n_columns),
    }
    component, labels = filled(twin, X, prior, n_slots)
    scores = component.log_predictive_all(X[3])
    for k in range(0, n_slots, 5):
        expected = naive_log_predictive(X[3], X[labels == k], prior)
        assert scores[k] == pytest.approx(expected, rel=1e-11)
        both = naive_log_marginal(X[(labels == k) | (labels == 1)], prior)
        if k != 1:
            assert component.log_marginal_merged(1, k) == pytest.approx(both, rel=1e-11)


def test_many_slots_leave_early_with_the_same_labels(twins):
    """Blocks of slots whose bounds reach the cost of staying are not scored to the end."""
    rng = np.random.default_rng(4)
    X = np.repeat(6.0 * rng.normal(size=(50, 20)), 3, axis=0) + rng.normal(size=(150, 20))
    prior = {"m0": np.zeros(20), "sigma2": np.ones(20), "tau2": np.full(20, 30.0)}
    results = []
    for twin in twins:
        labels = np.arange(150, dtype=np.intp) % 60
        family = twin.normal_known_variance.NormalKnownVariance(**prior)
        partition = twin.partition.Partition(X, labels, family, 1.0)
        twin.map_dpm.converge(partition, 20)
        results.append((labels.tolist(), partition.n_clusters))
        expected = partition.exact_neg_log_joint()
        assert partition.neg_log_joint == pytest.approx(expected, rel=1e-9)
    assert results[0] == results[1]
    assert results[0][1] > 32


CALLS = {
    "sigma2 must be positive, got -1.0": lambda family: family([0.0], [-1.0], [1.0]),
    "tau2 must be positive, got 0.0": lambda family: family([0.0], [1.0], [0]),
    "sigma2 must be positive, got nan": lambda family: family([0.0], [np.nan], [0.0]),
    "m0 and sigma2 must have the same length, got 1 and 2": lambda family: family(
        [0.0], [1.0, 1.0], [1.0, 1.0]
    ),
    "m0 and tau2 must have the same length, got 2 and 1": lambda family: family(
        [0.0, 0.0], [1.0, 1.0], [1.0]
    ),
}


@pytest.mark.parametrize("message", CALLS)
def test_errors_state_the_rule_that_is_broken(twin, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        CALLS[message](twin.normal_known_variance.NormalKnownVariance)
    assert str(caught.value) == message
