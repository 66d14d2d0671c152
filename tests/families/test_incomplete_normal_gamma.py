"""Normal-gamma components with missing values, against one column at a time."""

from functools import partial

import naive
import numpy as np
import pytest
from cases import POWERS, empirical_prior, problems
from hypothesis import given, settings
from hypothesis import strategies as st
from slots import CLOSE, check_scores, check_scores_of_members, fill, others_of, spread


def column_prior(prior, d):
    return {**prior, "m0": prior["m0"][d], "b0": prior["b0"][d]}


def by_column(function, x, rows, prior):
    """Sum of a function of naive.py over the columns that are observed in x."""
    total = 0.0
    for d in range(rows.shape[1]):
        seen = rows[~np.isnan(rows[:, d]), d : d + 1]
        if function is naive.log_marginal:
            total += function(seen, column_prior(prior, d))
        elif not np.isnan(x[d]):
            total += function(x[d], seen[:, 0], column_prior(prior, d))
    return total


log_student = partial(by_column, naive.log_student)


@st.composite
def gaps(draw, **sizes):
    """A problem of cases.py with missing cells; whole rows and columns may be missing."""
    X, prior, alpha = draw(problems(**sizes))
    missing = draw(st.lists(st.booleans(), min_size=X.size, max_size=X.size))
    X[np.array(missing).reshape(X.shape)] = np.nan
    return X, prior, alpha


def filled(twin, X, prior, n_slots=3):
    """A component with the rows of X spread over the slots but the last."""
    return spread(twin.incomplete_normal_gamma.IncompleteNormalGamma(**prior), X, n_slots)


@given(problem=gaps())
def test_scores_are_those_of_the_columns_that_are_there(twin, problem):
    X, prior, _ = problem
    check_scores(*filled(twin, X, prior), X, prior, log_student)


@given(problem=gaps())
def test_a_member_is_scored_without_itself(twin, problem):
    X, prior, _ = problem
    check_scores_of_members(*filled(twin, X, prior), X, prior, log_student)


@given(problem=problems(), weight=st.sampled_from([1.0, 0.5]))
def test_without_gaps_it_is_the_normal_gamma(twin, problem, weight):
    X, prior, _ = problem
    component, labels = filled(twin, X, prior)
    complete = fill(twin.normal_gamma.NormalGamma(**prior), X, labels)
    for call in (
        lambda c: c.log_predictive_all(X[0], weight),
        lambda c: c.log_predictive_member(X[0], 0, weight),
        lambda c: [c.log_marginal(k) for k in range(3)],
        lambda c: c.log_marginal_merged(0, 1),
        lambda c: c.posterior(0)["m"],
        lambda c: c.posterior(0)["b"],
    ):
        assert call(component) == pytest.approx(call(complete), **CLOSE)


@pytest.mark.parametrize("n_columns", [1, 7, 8, 9, 33])
@pytest.mark.parametrize("n_slots", [16, 17, 33])
def test_scores_are_right_at_every_width_of_vectors(twin, n_columns, n_slots):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, n_columns)) * 10.0 ** rng.integers(-3, 9, size=n_columns)
    prior = {"m0": X.mean(axis=0), "c0": 0.2, "a0": 1.0, "b0": X.var(axis=0)}
    X[rng.random(X.shape) < 0.3] = np.nan
    component, labels = filled(twin, X[:70], prior, n_slots)
    scores = component.log_predictive_all(X[75])
    for k in range(n_slots):
        expected = log_student(X[75], X[:70][labels == k], prior)
        assert scores[k] == pytest.approx(expected, **CLOSE)
    for i in range(0, 70, 10):
        expected = log_student(X[i], others_of(i, X[:70], labels), prior)
        assert component.log_predictive_member(X[i], labels[i]) == pytest.approx(expected, **CLOSE)


def test_a_row_of_which_nothing_is_known_weighs_but_says_nothing(twin):
    component = twin.incomplete_normal_gamma.IncompleteNormalGamma([0.0], 1.0, 1.0, [1.0])
    component.resize(2)
    nothing, something = np.array([np.nan]), np.array([2.0])
    component.add(something, 0)
    before = component.statistics(0)
    component.add(nothing, 0)
    component.add(nothing, 1)
    assert component.counts == [2.0, 1.0]
    assert component.statistics(0)[1:] == before[1:]
    assert component.log_predictive_all(nothing) == [0.0, 0.0]
    assert component.log_predictive_member(nothing, 0) == 0.0
    assert component.log_marginal(1) == 0.0
    assert component.remove(something, 0)
    assert component.statistics(0) == component.statistics(1) == [1.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("distance", [1e2, 1e4, 1e8])
def test_a_far_value_is_not_removed_when_rounding_would_show(twin, distance):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 3)), np.full((1, 3), distance)])
    X[::3, 0] = X[-1, 1] = np.nan
    prior = {"m0": np.zeros(3), "c0": 0.1, "a0": 1.0, "b0": np.ones(3)}
    component, _ = filled(twin, X, prior, n_slots=2)
    before = component.statistics(0)
    score = component.log_predictive_member(X[-1], 0)
    if component.remove(X[-1], 0):
        assert score == pytest.approx(log_student(X[-1], X[:-1], prior), rel=1e-11)
    else:
        assert distance > 1e2
        assert np.isnan(score)
        assert component.statistics(0) == before


def test_removals_add_up(twin):
    """Each removal leaves enough of b, but not both together."""
    prior = {"m0": [0.0, 0.0], "c0": 0.1, "a0": 1.0, "b0": [1.0, 1.0]}
    rows = np.array([[0.0, 0.0], [0.5, np.nan], [40.0, 1.0], [900.0, np.nan]])
    component, _ = filled(twin, rows, prior, n_slots=2)
    assert component.remove(rows[3], 0)
    assert np.isnan(component.log_predictive_member(rows[2], 0))
    assert not component.remove(rows[2], 0)
    assert component.remove(rows[1], 0)


def test_posterior_is_eq_13_of_each_column(twin):
    X = 1e6 + 10.0 * np.random.default_rng(1).normal(size=(20, 3))
    prior = {"m0": X.mean(axis=0), "c0": 0.5, "a0": 1.0, "b0": X.var(axis=0)}
    X[3:9, 0] = X[:, 2] = np.nan
    component, _ = filled(twin, X, prior, n_slots=2)
    posterior = component.posterior(0)
    assert posterior["n"] == 20.0
    for d in range(3):
        seen = X[~np.isnan(X[:, d]), d]
        m, c, b, a = naive.posterior(seen, column_prior(prior, d))
        assert (posterior["c"][d], posterior["a"][d]) == (c, a)
        assert posterior["m"][d] == pytest.approx(m, rel=1e-12)
        assert posterior["b"][d] == pytest.approx(b, rel=1e-9)


CALLS = {
    "m0 and b0 must have the same length, got 1 and 2": ([0.0], 1.0, 1.0, [1.0, 1.0]),
    "c0 must be positive, got 0.0": ([0.0], 0.0, 1.0, [1.0]),
    "b0 must be positive, got -1.0": ([0.0], 1.0, 1.0, [-1.0]),
}


@pytest.mark.parametrize("message", CALLS)
def test_errors_state_the_rule_that_is_broken(twin, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        twin.incomplete_normal_gamma.IncompleteNormalGamma(*CALLS[message])
    assert str(caught.value) == message


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_columns=st.sampled_from([1, 3, 8, 9, 20]),
    n_slots=st.sampled_from([2, 15, 40]),
    missing=st.sampled_from([0.02, 0.3, 0.9]),
    spread=st.sampled_from([0.5, 5.0]),
    power=st.sampled_from(POWERS),
)
def test_sweeps_are_those_of_the_plain_twin(
    twins, seed, n_columns, n_slots, missing, spread, power
):
    """The kernel scores rows in few slots: bounds, with one power a slot, rule out others."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_slots, size=120)
    X = spread * rng.normal(size=(n_slots, n_columns))[labels] + rng.normal(size=(120, n_columns))
    prior = empirical_prior(X)
    X[rng.random(X.shape) < missing * rng.random(n_columns)] = np.nan
    labels[rng.random(120) < 0.2] = 0
    found = []
    for twin in twins:
        component = twin.incomplete_normal_gamma.IncompleteNormalGamma(**prior, power=power)
        state = twin.partition.Partition(X, labels.astype(np.intp), component, 1.0)
        moves = [twin.map_dpm.sweep(state) for _ in range(3)]
        found.append((moves, np.array(state.labels).tolist()))
    assert found[0] == found[1]
