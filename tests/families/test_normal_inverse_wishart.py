"""Normal-inverse-Wishart components against a naive statement, the chain rule and their cousin."""

from math import lgamma, log, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from slots import CLOSE, check_scores, others_of, spread


def log_evidence(rows, m0, kappa0, nu0, psi0, weights=None):
    """Log p(rows) from the normalising constants, statistics computed anew."""
    weights = np.ones(len(rows)) if weights is None else np.asarray(weights)
    n, d = weights.sum(), len(m0)
    if n == 0.0:
        return 0.0
    mean = weights @ rows / n
    scatter = (weights[:, None] * (rows - mean)).T @ (rows - mean)
    psi = psi0 + scatter + kappa0 * n / (kappa0 + n) * np.outer(mean - m0, mean - m0)
    total = -0.5 * n * d * log(pi) + 0.5 * d * log(kappa0 / (kappa0 + n))
    for j in range(d):
        total += lgamma(0.5 * (nu0 + n - j)) - lgamma(0.5 * (nu0 - j))
    total += 0.5 * nu0 * np.linalg.slogdet(psi0)[1]
    return total - 0.5 * (nu0 + n) * np.linalg.slogdet(psi)[1]


def log_student(row, rows, weight=1.0, **prior):
    """Log p(row | rows), by the definition of conditional probability."""
    weights = np.append(np.ones(len(rows)), weight)
    together = log_evidence(np.vstack([rows, row]), weights=weights, **prior)
    return together - log_evidence(rows, **prior)


@st.composite
def problems(draw, max_rows=12, max_columns=4):
    """(X, prior): gridded values with duplicates; the prior's columns vary together or not."""
    n, d = draw(st.integers(1, max_rows)), draw(st.integers(1, max_columns))
    step, grid = draw(st.sampled_from([1.0, 0.1, 3.7])), draw(st.integers(1, 30))
    cells = draw(st.lists(st.integers(-grid, grid), min_size=n * d, max_size=n * d))
    correlation = draw(st.sampled_from([0.0, 0.5, 0.9]))
    psi0 = correlation + (1.0 - correlation) * np.eye(d)
    prior = {
        "m0": np.full(d, draw(st.sampled_from([0.0, 1.5]))),
        "kappa0": draw(st.sampled_from([0.05, 1.0, 10.0])),
        "nu0": d - 1.0 + draw(st.sampled_from([0.3, 1.0, 6.0])),
        "psi0": psi0 * draw(st.sampled_from([0.3, 20.0])),
    }
    return step * np.array(cells, dtype=float).reshape(n, d), prior


def problem_of(n_rows, n_columns, seed=0):
    """Rows whose columns vary together, and a prior of the same kind."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) @ rng.normal(size=(n_columns, n_columns)) + 1.0
    half = rng.normal(size=(n_columns, n_columns))
    psi0 = half @ half.T + 0.1 * np.eye(n_columns)
    prior = {"m0": rng.normal(size=n_columns), "kappa0": 0.3, "nu0": n_columns + 1.5}
    return X, {**prior, "psi0": 0.5 * (psi0 + psi0.T)}


def filled(twin, X, prior, n_slots=3):
    """A component with the rows of X spread over the slots but the last."""
    return spread(twin.normal_inverse_wishart.NormalInverseWishart(**prior), X, n_slots)


@given(problem=problems())
def test_scores_are_conditional_probabilities(twin, problem):
    X, prior = problem
    component, labels = filled(twin, X, prior)
    check_scores(component, labels, X, prior, lambda x, rows, prior: log_student(x, rows, **prior))


@given(problem=problems())
def test_a_member_is_scored_without_itself(twin, problem):
    X, prior = problem
    component, labels = filled(twin, X, prior)
    before = [component.statistics(k) for k in range(3)]
    for i, row in enumerate(X):
        others = others_of(i, X, labels)
        score = component.log_predictive_member(row, labels[i])
        assert score == pytest.approx(log_student(row, others, **prior), nan_ok=True, **CLOSE) or (
            np.isnan(score) and not component.remove(row, labels[i])
        )
    assert [component.statistics(k) for k in range(3)] == before


def test_any_weight_will_do(twin):
    X, prior = problem_of(6, 5)
    component, _ = filled(twin, X, prior, n_slots=2)
    expected = log_student(X[0], X, 0.7, **prior)
    assert component.log_predictive(X[0], 0, 0.7) == pytest.approx(expected, **CLOSE)
    component.add(X[0], 0, 0.7)
    assert component.log_predictive_member(X[0], 0, 0.7) == pytest.approx(expected, **CLOSE)
    together = log_evidence(np.vstack([X, X[0]]), weights=[1.0] * 6 + [0.7], **prior)
    assert component.log_marginal(0) == pytest.approx(together, **CLOSE)


@given(
    values=st.lists(st.integers(-50, 50), min_size=2, max_size=12),
    nu0=st.sampled_from([0.4, 2.0, 9.0]),
    psi0=st.sampled_from([1e-3, 1.0, 80.0]),
)
def test_one_column_is_normal_gamma(twin, values, nu0, psi0):
    """Sigma ~ IW(psi0, nu0) is 1 / Sigma ~ Gamma(nu0 / 2, psi0 / 2)."""
    ours = twin.normal_inverse_wishart.NormalInverseWishart([1.0], 0.5, nu0, [[psi0]])
    theirs = twin.normal_gamma.NormalGamma([1.0], 0.5, 0.5 * nu0, [0.5 * psi0])
    for component in (ours, theirs):
        component.resize(3)
        for i, x in enumerate(values):
            component.add(np.array([float(x)]), i % 2, 1.0 + i % 3)
    row = np.array([float(values[0])])
    for call in (
        lambda c: c.log_marginal(0),
        lambda c: c.log_marginal_merged(0, 1),
        lambda c: c.log_predictive(row, 1, 2.5),
        lambda c: c.log_predictive_member(row, 0),
        lambda c: c.log_predictive_all(row),
    ):
        assert call(ours) == pytest.approx(call(theirs), nan_ok=True, **CLOSE)
    assert ours.remove(row, 0) == theirs.remove(row, 0)


def test_the_last_row_leaves_the_prior_exactly(twin):
    component = twin.normal_inverse_wishart.NormalInverseWishart(
        [3.0, 1.0], 0.1, 2.0, [[2.0, 0.3], [0.3, 1.0]]
    )
    component.resize(2)
    component.add(np.array([1e6, 7.0]), 0)
    component.remove(np.array([1e6, 7.0]), 0)
    assert component.statistics(0) == component.statistics(1) == [0.0] * 3 + [1.0] * 2 + [0.0] * 4


@pytest.mark.parametrize("distance", [1e2, 1e4, 1e8])
@pytest.mark.parametrize("n_columns", [1, 3, 9])
def test_a_far_row_is_not_removed_when_rounding_would_show(twin, distance, n_columns):
    X = np.random.default_rng(0).normal(size=(51, n_columns))
    X[-1] = distance
    eye = np.eye(n_columns)
    prior = {"m0": np.zeros(n_columns), "kappa0": 0.1, "nu0": n_columns + 1.0, "psi0": eye}
    component, _ = filled(twin, X, prior, n_slots=2)
    before = component.statistics(0)
    score = component.log_predictive_member(X[-1], 0)
    if component.remove(X[-1], 0):
        assert score == pytest.approx(log_student(X[-1], X[:-1], **prior), rel=1e-10)
        left = component.log_marginal(0)
        assert left == pytest.approx(log_evidence(X[:-1], **prior), rel=1e-10)
    else:
        assert distance > 1e2 or n_columns > 3
        assert np.isnan(score)
        assert component.statistics(0) == before


@pytest.mark.parametrize("n_columns", [2, 9])
def test_most_rows_can_be_removed_one_by_one(twin, n_columns):
    """What counts is what is left in each direction, not the determinant."""
    X, prior = problem_of(60, n_columns)
    component, _ = filled(twin, X, prior, n_slots=2)
    assert all(component.remove(row, 0) for row in X[:45])
    assert component.log_marginal(0) == pytest.approx(log_evidence(X[45:], **prior), rel=1e-9)


def test_removals_are_refused_when_they_add_up(twin):
    """Each leaves a hundredth of the scatter, which could be spared once."""
    X = np.array([[1e5], [1e4], [1e3], [1e2], [1e1]])
    prior = {"m0": [0.0], "kappa0": 0.1, "nu0": 1.0, "psi0": [[1e-3]]}
    component, _ = filled(twin, X[1:], prior, n_slots=2)
    assert component.remove(X[1], 0)
    component, _ = filled(twin, X, prior, n_slots=2)
    assert component.remove(X[0], 0)
    assert np.isnan(component.log_predictive_member(X[1], 0))
    assert not component.remove(X[1], 0)


def test_posterior_in_the_units_of_the_data(twin):
    X, prior = problem_of(20, 3)
    X, prior["m0"] = X + 1e6, prior["m0"] + 1e6
    component, _ = filled(twin, X, prior, n_slots=2)
    posterior, mean, kappa = component.posterior(0), X.mean(axis=0), prior["kappa0"] + 20.0
    assert (posterior["n"], posterior["kappa"], posterior["nu"]) == (20.0, kappa, 24.5)
    expected = (prior["kappa0"] * prior["m0"] + 20.0 * mean) / kappa
    np.testing.assert_allclose(posterior["m"], expected, rtol=1e-14)
    gap = mean - prior["m0"]
    psi = prior["psi0"] + (X - mean).T @ (X - mean) + 6.0 / kappa * np.outer(gap, gap)
    np.testing.assert_allclose(posterior["psi"], psi, rtol=1e-8)
    np.testing.assert_allclose(component.posterior(1)["m"], prior["m0"], rtol=1e-15)
    np.testing.assert_allclose(component.posterior(1)["psi"], prior["psi0"], rtol=1e-12)


@pytest.mark.parametrize("n_columns", [1, 2, 5, 17, 40])
def test_scores_are_right_at_every_width_of_vectors(twin, n_columns):
    X, prior = problem_of(22, n_columns)
    component, labels = filled(twin, X[:20], prior, n_slots=21)
    scores = component.log_predictive_all(X[21])
    for k in range(21):
        expected = log_student(X[21], X[:20][labels == k], **prior)
        assert scores[k] == pytest.approx(expected, **CLOSE)
    for row in X:
        component.add(row, 0)
    rows = np.vstack([X[:1], X])
    assert component.log_marginal(0) == pytest.approx(log_evidence(rows, **prior), **CLOSE)
    expected = log_evidence(np.vstack([rows, X[1:2]]), **prior)
    assert component.log_marginal_merged(0, 1) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_a_change_of_coordinates_adds_its_log_determinant(twin, scale):
    X, prior = problem_of(15, 4)
    mix = scale * (np.eye(4) + 0.3 * np.random.default_rng(5).normal(size=(4, 4)))
    moved = {**prior, "m0": mix @ prior["m0"] + scale, "psi0": mix @ prior["psi0"] @ mix.T}
    one, _ = filled(twin, X, prior)
    other, _ = filled(twin, X @ mix.T + scale, moved)
    per_row = np.linalg.slogdet(mix)[1]
    assert other.log_marginal(0) + 8 * per_row == pytest.approx(one.log_marginal(0), rel=1e-9)
    scores = np.add(other.log_predictive_all(X[0] @ mix.T + scale), per_row)
    np.testing.assert_allclose(scores, one.log_predictive_all(X[0]), rtol=1e-9)


def test_an_offset_costs_nothing(twin):
    X = np.round(64.0 * problem_of(30, 3)[0]) / 64.0
    psi0 = np.diag(X.var(axis=0))
    scores = []
    for offset in (0.0, 2.0**27):
        component, _ = filled(twin, X + offset, {"m0": [1.0 + offset] * 3, "kappa0": 0.3,
                                                 "nu0": 5.0, "psi0": psi0})  # fmt: skip
        scores.append([*component.log_predictive_all(X[0] + offset), component.log_marginal(0)])
    assert scores[0] == scores[1]


def test_duplicates_only(twin):
    X = np.full((30, 2), 3.0)
    prior = {"m0": np.full(2, 3.0), "kappa0": 0.1, "nu0": 3.0, "psi0": np.diag([1e-12, 1e12])}
    component, _ = filled(twin, X, prior)
    assert component.log_predictive(X[0], 0) == pytest.approx(
        log_student(X[0], X[:15], **prior), **CLOSE
    )
    assert component.remove(X[0], 0)
    assert component.log_marginal(0) == pytest.approx(log_evidence(X[:14], **prior), **CLOSE)


def joint_of(X, weights, labels, prior):
    """Minus log of data and labels, alpha = 1: eq. (1) and the evidence of each cluster."""
    total = lgamma(1.0 + weights.sum())
    for k in np.unique(labels):
        total -= lgamma(weights[labels == k].sum())
        total -= log_evidence(X[labels == k], weights=weights[labels == k], **prior)
    return total


@pytest.mark.parametrize("n_columns", [1, 2, 6, 11])
def test_whole_searches_agree(twins, n_columns):
    """Also where the kernel leaves slots early, has bounds for costs, and pads its columns."""
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(40, n_columns)) + 5.0 * rng.integers(-1, 2, size=(40, 1))
    X[20:25] = X[:5]
    psi0 = np.diag(X.var(axis=0)) / 4.0
    prior = {"m0": X.mean(axis=0), "kappa0": 0.2, "nu0": n_columns + 2.0, "psi0": psi0}
    results = []
    for twin in twins:
        labels = np.arange(40) if n_columns < 6 else np.zeros(40, dtype=np.intp)
        weights = 1.0 + np.arange(40) % 2 if n_columns == 2 else np.ones(40)
        family = twin.normal_inverse_wishart.NormalInverseWishart(**prior)
        partition = twin.partition.Partition(twin.rows.Rows(X, weights), labels, family, 1.0)
        uniforms, trace = np.random.default_rng(0), []
        for _ in range(3):
            trace.append(twin.map_dpm.sweep(partition))
            trace.append(twin.merges.merge(partition))
            shape = (partition.component.n_slots, 2, 2)
            trace.append(twin.splits.split(partition, uniforms.random(shape)))
        exact = partition.exact_neg_log_joint()
        assert partition.neg_log_joint == pytest.approx(exact, rel=1e-9)
        results.append((labels.tolist(), trace))
        assert exact == pytest.approx(joint_of(X, weights, labels, prior), rel=1e-9)
    assert results[0] == results[1]
    assert partition.n_clusters > 1


PRIORS = {
    "m0 and psi0 must have the same length, got 1 and 2": ([0.0], 1.0, 3.0, np.eye(2)),
    "psi0 must have 2 values in row 0, got 3": ([0.0, 0.0], 1.0, 3.0, np.ones((2, 3))),
    "kappa0 must be positive, got -1.0": ([0.0], -1.0, 3.0, np.eye(1)),
    "nu0 must be above D - 1 = 1, got 1.0": ([0.0, 0.0], 1.0, 1.0, np.eye(2)),
    "psi0 must be positive definite, got 0.0 at (1, 1)": (
        [0.0, 0.0],
        1.0,
        3.0,
        [[1.0, 0.0], [0.0, 0.0]],
    ),
    "psi0 must be positive definite, got [2.0, 2.0] at the start of row 1": (
        [0.0, 0.0, 0.0],
        1.0,
        3.0,
        [[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 1.0]],
    ),
    "psi0 must be symmetric, got 0.5 at (1, 0) and 0.4 at (0, 1)": (
        [0.0, 0.0],
        1.0,
        3.0,
        [[1.0, 0.4], [0.5, 1.0]],
    ),
}


@pytest.mark.parametrize("message", PRIORS)
def test_priors_that_cannot_be(twin, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        twin.normal_inverse_wishart.NormalInverseWishart(*PRIORS[message])
    assert str(caught.value) == message
