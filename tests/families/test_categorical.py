"""Dirichlet-categorical components: levels, missing cells, priors, rows that come and go."""

from math import exp, log

import mpmath
import numpy as np
import pytest
from slots import CLOSE, check_scores, check_scores_of_members, fill, spread

NAN = np.nan


def build(twin, X, prior, labels, n_slots=3):
    return fill(twin.categorical.Categorical(**prior), X, labels, n_slots)


def filled(twin, X, prior, n_slots=3):
    return spread(twin.categorical.Categorical(**prior), X, n_slots)


def drawn(rng, n_rows, n_levels, missing=0.1):
    X = np.array([rng.integers(n, size=n_rows) for n in n_levels], dtype=float).T
    X[rng.random(X.shape) < missing] = NAN
    return np.ascontiguousarray(X)


def drawn_prior(rng, n_levels, scale=1.0):
    return {"beta0": [(scale * rng.gamma(1.0, size=n)).tolist() for n in n_levels]}


def naive_log_predictive(row, rows, prior):
    """Shares of levels, cell by cell."""
    total = 0.0
    for d, beta0 in enumerate(prior["beta0"]):
        if not np.isnan(row[d]):
            same = (rows[:, d] == row[d]).sum()
            there = (~np.isnan(rows[:, d])).sum()
            total += log(beta0[int(row[d])] + same) - log(sum(beta0) + there)
    return total


N_LEVELS = [2, 5, 1, 3, 12]


@pytest.mark.parametrize("n_columns", [1, 5, 8, 9, 128, 129])
@pytest.mark.parametrize("n_slots", [3, 17, 40])
def test_scores_of_many_columns_and_slots(twin, n_columns, n_slots):
    rng = np.random.default_rng(n_columns)
    n_levels = rng.integers(1, 7, size=n_columns)
    X, prior = drawn(rng, 90, n_levels), drawn_prior(rng, n_levels)
    component, labels = filled(twin, X, prior, n_slots)
    check_scores(component, labels, X, prior, naive_log_predictive)


def test_members_are_scored_without_themselves(twin):
    rng = np.random.default_rng(1)
    X, prior = drawn(rng, 40, N_LEVELS), drawn_prior(rng, N_LEVELS)
    component, labels = filled(twin, X, prior)
    check_scores_of_members(component, labels, X, prior, naive_log_predictive)


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_rows_that_come_and_go_leave_what_is_built_anew(twin, power):
    """Scores are renewed for the cells of such a row alone."""
    rng = np.random.default_rng(2)
    X, prior = drawn(rng, 60, N_LEVELS, 0.2), drawn_prior(rng, N_LEVELS)
    component = twin.categorical.Categorical(**prior, power=power)
    component.resize(2)
    inside = []
    for i in rng.integers(60, size=300):
        if i in inside:
            assert component.remove(X[i], 0)
            inside.remove(i)
        else:
            component.add(X[i], 0)
            inside.append(i)
    anew = fill(component.like(), X[inside], [0] * len(inside), 2)
    assert component.statistics(0) == anew.statistics(0)
    for i, row in enumerate(X):
        assert component.log_predictive(row, 0) == pytest.approx(
            anew.log_predictive(row, 0), **CLOSE
        )
        if i in inside:
            expected = anew.log_predictive_member(row, 0)
            assert component.log_predictive_member(row, 0) == pytest.approx(expected, **CLOSE)
    assert component.log_marginal(0) == pytest.approx(anew.log_marginal(0), **CLOSE)


def test_a_missing_cell_is_summed_over_its_levels(twin):
    rng = np.random.default_rng(3)
    X, prior = drawn(rng, 20, N_LEVELS), drawn_prior(rng, N_LEVELS)
    component = build(twin, X, prior, [0] * 20)
    for d, n in enumerate(N_LEVELS):
        row = X[4].copy()
        row[d] = NAN
        total = 0.0
        for level in range(n):
            full = row.copy()
            full[d] = level
            total += exp(component.log_predictive(full, 0))
        assert exp(component.log_predictive(row, 0)) == pytest.approx(total, rel=1e-12)
    before = component.statistics(0), component.log_marginal(0)
    component.add(np.full(5, NAN), 0)
    assert component.counts[0] == 21.0
    assert (component.statistics(0)[1:], component.log_marginal(0)) == (before[0][1:], before[1])


def test_a_column_of_one_level_tells_nothing(twin):
    component = build(twin, [np.array([0.0])], {"beta0": [[0.7]]}, [0])
    assert component.log_predictive(np.array([0.0]), 0) == pytest.approx(0.0, abs=1e-15)
    assert component.log_marginal(0) == pytest.approx(0.0, abs=1e-15)


def test_two_levels_are_a_bit(twin):
    """Dirichlet-categorical of two levels is beta-Bernoulli."""
    rng = np.random.default_rng(4)
    X = drawn(rng, 30, [2, 2, 2])
    zeros, ones = rng.gamma(1.0, size=(2, 3))
    bits, _ = spread(twin.beta_bernoulli.BetaBernoulli(ones, zeros), X)
    levels, _ = filled(twin, X, {"beta0": np.column_stack([zeros, ones]).tolist()})
    for weight in (1.0, 0.4, 3.0):
        found = levels.log_predictive_all(X[0], weight)
        assert found == pytest.approx(bits.log_predictive_all(X[0], weight), **CLOSE)
        expected = bits.expected_log_density(X[0], 1, weight)
        assert levels.expected_log_density(X[0], 1, weight) == pytest.approx(expected, **CLOSE)
    assert levels.log_marginal_merged(0, 1) == pytest.approx(
        bits.log_marginal_merged(0, 1), **CLOSE
    )


def test_a_value_that_is_no_level_is_clipped(twin):
    prior = {"beta0": [[1.0, 2.0], [1.0, 1.0, 3.0]]}
    component = build(twin, [np.array([7.0, -4.0]), np.array([1.9, 0.5])], prior, [0, 0])
    assert component.statistics(0) == [2.0, 0.0, 2.0, 2.0, 0.0, 0.0]
    far, near = np.array([1e300, -np.inf]), np.array([1.0, 0.0])
    assert component.log_predictive_all(far) == component.log_predictive_all(near)


@pytest.mark.parametrize("beta", [(1e-12, 1e12), (1e-3, 1e-3), (1e12, 1e12), (0.5, 1e-9)])
def test_extreme_priors_lose_no_digits(twin, beta):
    X = np.array([[0.0], [1.0], [0.0], [0.0]])
    component = build(twin, X, {"beta0": [beta]}, [0] * 4)
    with mpmath.workdps(40):
        a, b = (mpmath.mpf(value) for value in beta)
        marginal = mpmath.log(mpmath.rf(a, 3) * mpmath.rf(b, 1) / mpmath.rf(a + b, 4))
        predictive = mpmath.log((b + 1) / (a + b + 4))
        member = mpmath.log(b / (a + b + 3))
    assert component.log_marginal(0) == pytest.approx(float(marginal), rel=1e-12, abs=1e-11)
    scores = component.log_predictive_all(X[1])
    assert scores[0] == pytest.approx(float(predictive), rel=1e-12, abs=1e-12)
    score = component.log_predictive_member(X[1], 0)
    assert score == pytest.approx(float(member), rel=1e-12, abs=1e-12)


def test_large_counts_lose_no_digits(twin):
    component = twin.categorical.Categorical([[0.5, 2.0, 1.0]])
    component.resize(2)
    component.load(0, [3e6, 1e6, 2e6, 0.0])
    component.load(1, [5e6, 3e6, 2e6, 0.0])
    for counts, found in (
        ((1e6, 2e6), component.log_marginal(0)),
        ((4e6, 4e6), component.log_marginal_merged(0, 1)),
    ):
        with mpmath.workdps(40):
            a, b = counts
            expected = mpmath.log(
                mpmath.rf(mpmath.mpf(0.5), a) * mpmath.rf(2, b) / mpmath.rf(mpmath.mpf(3.5), a + b)
            )
        assert found == pytest.approx(float(expected), rel=1e-13)


@pytest.mark.parametrize("weight", [0.3, 0.999, 2.0, 3.0, 17.0, 40.5])
def test_heavy_rows_are_not_ruled_out_where_they_belong(twins, weight):
    rng = np.random.default_rng(5)
    shares = rng.dirichlet([0.3] * 4, size=(6, 8))[rng.integers(6, size=120)]
    X = (shares.cumsum(axis=2) < rng.random((120, 8, 1))).sum(axis=2).astype(float)
    X[rng.random(X.shape) < 0.05] = NAN
    weights = np.where(rng.random(120) < 0.5, weight, 1.0)
    found = []
    for twin in twins:
        family = twin.categorical.Categorical([[0.4] * 4] * 8)
        labels = np.arange(120, dtype=np.intp) % 15
        state = twin.partition.Partition(twin.rows.Rows(X, weights), labels, family, 1.0)
        moves = [twin.map_dpm.sweep(state) for _ in range(4)]
        found.append((moves, np.asarray(state.labels).tolist(), state.neg_log_joint))
    assert found[0][:2] == found[1][:2]
    assert found[0][2] == pytest.approx(found[1][2], **CLOSE)
    assert found[0][0][0] > 20


def test_fractions_of_weights_leave_no_dust(twin):
    """0.3 - (0.1 + 0.2) is not 0, but such a level must not differ from one without a row."""
    component = build(twin, [np.array([0.0])], {"beta0": [[1.0, 1e-9]]}, [0])
    one = np.array([1.0])
    component.add(one, 0, 0.1)
    component.add(one, 0, 0.2)
    component.remove(one, 0, 0.3)
    assert component.statistics(0) == [1.0, 1.0, 0.0]
    assert component.log_predictive(one, 0) == pytest.approx(log(1e-9 / 2.0), rel=1e-8)


def test_little_weight_is_not_left(twin):
    component = build(twin, [np.array([1.0])], {"beta0": [[1.0, 1.0]]}, [0])
    zero = np.array([0.0])
    component.add(zero, 0, 2000.0)
    before = component.statistics(0)
    assert np.isnan(component.log_predictive_member(zero, 0, 2000.0))
    assert not component.remove(zero, 0, 2000.0)
    assert component.statistics(0) == before


def test_posterior_adds_counts_to_the_prior(twin):
    prior = {"beta0": [[0.5, 2.0], [1.0, 3.0, 1.0]]}
    X = np.array([[1.0, 0.0], [1.0, NAN], [0.0, 2.0]])
    component = build(twin, X, prior, [0] * 3)
    assert component.posterior(0) == {"n": 3.0, "beta": [[1.5, 4.0], [2.0, 3.0, 2.0]]}
    assert component.posterior(1) == {"n": 0.0, "beta": prior["beta0"]}
    assert component.beta0 == prior["beta0"]


CALLS = {
    "beta0 must be positive, got -1.0": lambda family: family([[1.0], [2.0, -1]]),
    "beta0 must be positive, got nan": lambda family: family([[NAN]]),
    "beta0 must have a level in every column, got none in column 1": lambda family: family(
        [[1.0], []]
    ),
    "power must be above 0 and at most 1, got 0.0": lambda family: family([[1.0]], 0.0),
    "power must be 1 for expected log densities, got 0.5": lambda family: fill(
        family([[1.0]], 0.5), [], []
    ).expected_log_density(np.zeros(1), 0),
}


@pytest.mark.parametrize("message", CALLS)
def test_errors_state_the_rule_that_is_broken(twin, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        CALLS[message](twin.categorical.Categorical)
    assert str(caught.value) == message
