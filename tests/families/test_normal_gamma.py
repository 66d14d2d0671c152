"""Normal-gamma components against a naive statement, the chain rule and quadrature."""

import naive
import numpy as np
import pytest
from cases import POWERS, empirical_prior, problems
from hypothesis import given
from slots import check_scores, check_scores_of_members, fill, spread


def filled(twin, X, prior, n_slots=3):
    """A component with the rows of X spread over the slots but the last."""
    return spread(twin.normal_gamma.NormalGamma(**prior), X, n_slots)


@given(problem=problems(powers=POWERS))
def test_scores_are_those_of_eq_11(twin, problem):
    X, prior, _ = problem
    check_scores(*filled(twin, X, prior), X, prior, naive.log_student)


@given(problem=problems(powers=POWERS))
def test_a_member_is_scored_without_itself(twin, problem):
    X, prior, _ = problem
    check_scores_of_members(*filled(twin, X, prior), X, prior, naive.log_student)


def test_the_last_row_leaves_the_prior_exactly(twin):
    prior = {"m0": [3.0], "c0": 0.1, "a0": 1.0, "b0": [2.0]}
    component = twin.normal_gamma.NormalGamma(**prior)
    component.resize(2)
    component.add(np.array([1e6]), 0)
    component.remove(np.array([1e6]), 0)
    assert component.statistics(0) == component.statistics(1) == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("distance", [1e2, 1e4, 1e8])
def test_a_far_row_is_not_removed_when_rounding_would_show(twin, distance):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 3)), np.full((1, 3), distance)])
    prior = {"m0": np.zeros(3), "c0": 0.1, "a0": 1.0, "b0": np.ones(3)}
    component = fill(twin.normal_gamma.NormalGamma(**prior), X, [0] * 51, n_slots=1)
    before = component.statistics(0)
    expected = naive.log_student(X[-1], X[:-1], prior)
    score = component.log_predictive_member(X[-1], 0)
    if component.remove(X[-1], 0):
        assert score == pytest.approx(expected, rel=1e-11)
        assert component.log_marginal(0) == pytest.approx(
            naive.log_marginal(X[:-1], prior), rel=1e-11
        )
    else:
        assert distance > 1e2
        assert np.isnan(score)
        assert component.statistics(0) == before


def test_posterior_is_eq_13_in_the_units_of_the_data(twin):
    X = 1e6 + 10.0 * np.random.default_rng(1).normal(size=(20, 3))
    prior = empirical_prior(X)
    component, _ = filled(twin, X, prior, n_slots=2)
    m, c, b, a = naive.posterior(X, prior)
    posterior = component.posterior(0)
    assert posterior["n"] == 20.0
    assert (posterior["c"], posterior["a"]) == (c, a)
    np.testing.assert_allclose(posterior["m"], m, rtol=1e-12)
    np.testing.assert_allclose(posterior["b"], b, rtol=1e-9)
    np.testing.assert_allclose(component.posterior(1)["m"], prior["m0"], rtol=1e-15)


@pytest.mark.parametrize("n_columns", [1, 7, 8, 9, 16, 33, 300])
def test_scores_are_right_at_every_width_of_vectors(twin, n_columns):
    """Products of factors are rescaled in time, and every width of vectors is met."""
    X = np.random.default_rng(2).normal(size=(40, n_columns)) * 10.0 ** np.arange(40)[:, None]
    prior = {"m0": np.zeros(n_columns), "c0": 0.2, "a0": 1.0, "b0": np.full(n_columns, 1e44)}
    component, labels = filled(twin, X[:20], prior, n_slots=21)
    scores = component.log_predictive_all(X[30])
    for k in range(21):
        expected = naive.log_student(X[30], X[:20][labels == k], prior)
        assert scores[k] == pytest.approx(expected, rel=1e-9)


def test_a_power_leaves_no_expected_log_density(twin):
    component = twin.normal_gamma.NormalGamma([0.0], 1.0, 1.0, [1.0], 0.5)
    component.resize(1)
    with pytest.raises(ValueError, match=r"power must be 1 for expected log densities, got 0\.5"):
        component.expected_log_density(np.zeros(1), 0)


def test_errors_state_the_rule_that_is_broken(twin):
    for name, prior in (("c0", (0.0, 1.0, [1.0])), ("a0", (1.0, 0.0, [1.0])), ("b0", (1, 1, [0]))):
        with pytest.raises(ValueError, match=rf"{name} must be positive, got 0\.0"):
            twin.normal_gamma.NormalGamma([0.0], *prior)
    with pytest.raises(ValueError, match="m0 and b0 must have the same length, got 1 and 2"):
        twin.normal_gamma.NormalGamma([0.0], 1.0, 1.0, [1.0, 1.0])
