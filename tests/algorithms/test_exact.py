"""Exact sums over partitions, against a list of all partitions."""

import naive
import numpy as np
import pytest
from cases import blobs, empirical_prior, problems
from hypothesis import given, settings
from hypothesis import strategies as st

import dpmlite
from dpmlite import exact_posterior


def posterior(twin, X, prior, alpha, weights=None, discount=0.0):
    """labels, -log joint, log evidence, P(K), P(z_i = z_j): what the twin finds."""
    n = len(X)
    rows = twin.rows.Rows(X, weights)
    labels, proba, together = np.zeros(n, dtype=np.intp), np.empty(n), np.empty((n, n))
    log_evidence, joint = twin.exact.sum_over_partitions(
        rows, twin.normal_gamma.NormalGamma(**prior), alpha, labels, proba, together, discount
    )
    return labels.tolist(), joint, log_evidence, proba, together


def listed(X, prior, alpha, copies=None):
    """The same from a list of partitions; row i is there `copies[i]` times, under one label."""
    n = len(X)
    copies = np.ones(n, dtype=int) if copies is None else copies
    partitions = [np.array(labels) for labels in naive.partitions(n)]
    joints = np.array(
        [
            naive.neg_log_joint(X.repeat(copies, axis=0), z.repeat(copies), alpha, prior)
            for z in partitions
        ]
    )
    weights = np.exp(joints.min() - joints)
    proba, together = np.zeros(n), np.zeros((n, n))
    for z, weight in zip(partitions, weights / weights.sum(), strict=True):
        proba[z.max()] += weight
        together += weight * (z[:, None] == z)
    return joints.min(), np.log(weights.sum()) - joints.min(), proba, together


def assert_same(found, expected, atol=1e-9):
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=atol)


@settings(max_examples=25, deadline=None)
@given(problem=problems(max_rows=6))
def test_sums_are_those_of_a_list(twin, problem):
    X, prior, alpha = problem
    labels, *found = posterior(twin, X, prior, alpha)
    assert_same(found, listed(X, prior, alpha))
    assert labels == naive.canonical(labels)
    joint = naive.neg_log_joint(X, labels, alpha, prior)
    assert found[0] == pytest.approx(joint, rel=1e-9, abs=1e-9)


def test_seven_rows_have_the_posterior_of_all_partitions_listed(twin):
    X, _ = blobs(n_rows=7)
    _, *found = posterior(twin, X, empirical_prior(X), 0.7)
    assert_same(found, listed(X, empirical_prior(X), 0.7))


@settings(max_examples=15, deadline=None)
@given(problem=problems(max_rows=5), data=st.data())
def test_a_weight_is_so_many_rows_under_one_label(twin, problem, data):
    X, prior, alpha = problem
    copies = data.draw(st.lists(st.integers(1, 4), min_size=len(X), max_size=len(X)))
    _, *found = posterior(twin, X, prior, alpha, np.array(copies, dtype=float))
    assert_same(found, listed(X, prior, alpha, np.array(copies)))


def test_rows_are_exchangeable(twin):
    X, _ = blobs(n_rows=8, seed=3)
    prior, order = empirical_prior(X), np.random.default_rng(0).permutation(8)
    labels, *found = posterior(twin, X, prior, 1.3)
    permuted, *again = posterior(twin, X[order], prior, 1.3)
    assert naive.canonical(np.array(labels)[order]) == permuted
    assert_same(again[:3], found[:3])
    assert_same(again[3:], [found[3][np.ix_(order, order)]])


def test_one_row_has_one_partition(twin):
    X = np.array([[3.0, -1.0]])
    prior = {"m0": np.zeros(2), "c0": 0.5, "a0": 2.0, "b0": np.ones(2)}
    labels, joint, log_evidence, proba, together = posterior(twin, X, prior, 0.3)
    density = naive.log_student(X[0], X[:0], prior)
    assert (labels, proba.tolist(), together.tolist()) == ([0], [1.0], [[1.0]])
    assert log_evidence == pytest.approx(density, rel=1e-12)
    assert joint == pytest.approx(-density, rel=1e-12)


def test_sums_neither_overflow_nor_underflow(twin):
    """Partitions differ by thousands of nats, from 1e8 prior scales away."""
    X = np.repeat([[0.0], [1.0], [-1.0]], 2, axis=0) * np.full(400, 1e6) + 1e8
    prior = {"m0": np.full(400, 1e8), "c0": 1e-3, "a0": 1.0, "b0": np.ones(400)}
    labels, joint, log_evidence, proba, together = posterior(twin, X, prior, 1.0)
    assert labels == [0, 0, 1, 1, 2, 2]
    assert -joint > 1e3 or joint > 1e3
    assert log_evidence == pytest.approx(-joint, abs=1e-6)
    np.testing.assert_allclose(proba, [0, 0, 1, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(together, np.equal.outer(labels, labels), atol=1e-9)


@pytest.mark.parametrize(("factor", "labels"), [(1.0, [0, 0]), (1.0001, [0, 1]), (0.9999, [0, 0])])
@pytest.mark.parametrize("rounding", [-1e-12, 0.0, 1e-12])
def test_of_equals_the_first_row_has_company(twin, factor, labels, rounding):
    """For this alpha, one cluster and two are equally probable."""
    X = np.array([[0.0], [1.5]])
    prior = empirical_prior(X)
    apart = sum(naive.log_marginal(row[None], prior) for row in X)
    alpha = np.exp(naive.log_marginal(X, prior) - apart) * factor * (1.0 + rounding)
    found, *_ = posterior(twin, X, prior, alpha)
    assert found == labels


def test_twins_agree_on_many_rows(twins):
    X = np.random.default_rng(5).normal(size=(10, 3)).round(1)
    prior = {"m0": np.zeros(3), "c0": 0.1, "a0": 1.0, "b0": np.full(3, 0.05)}
    plain, kernel = (posterior(twin, X, prior, 1.0) for twin in twins)
    assert plain[0] == kernel[0]
    assert_same(kernel[1:], plain[1:], atol=1e-12)


CALLS = {
    "no row": (0, {}),
    "too many rows": (14, {}),
    "alpha": (2, {"alpha": -1.0}),
    "wide rows": (2, {"n_columns": 3}),
    "labels": (2, {"n_labels": 3}),
    "probabilities": (2, {"n_proba": 1}),
    "matrix": (2, {"shape": (2, 3)}),
}
MESSAGES = {
    "no row": "X must have from 1 to 13 rows, got 0",
    "too many rows": "X must have from 1 to 13 rows, got 14",
    "alpha": "alpha must be positive, got -1.0",
    "wide rows": "row must have 2 values, got 3",
    "labels": "labels must have 2 values, got 3",
    "probabilities": "n_clusters_proba must have 2 values, got 1",
    "matrix": "co_clustering must have shape (2, 2), got (2, 3)",
}


@pytest.mark.parametrize("call", CALLS)
def test_errors_state_the_rule_that_is_broken(twin, call):
    n, given = CALLS[call]
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        twin.exact.sum_over_partitions(
            np.zeros((n, given.get("n_columns", 2))),
            twin.normal_gamma.NormalGamma([0.0, 0.0], 1.0, 1.0, [1.0, 1.0]),
            given.get("alpha", 1.0),
            np.zeros(given.get("n_labels", n), dtype=np.intp),
            np.zeros(given.get("n_proba", n)),
            np.zeros(given.get("shape", (n, n))),
        )
    assert str(caught.value) == MESSAGES[call]


@pytest.mark.usefixtures("estimator")  # on both implementations
def test_the_function_for_people():
    X = np.array([[9.0], [0.0], [0.1], [0.2]])
    prior = {"m0": 0.0, "c0": 0.01, "a0": 1.0, "b0": 0.1}
    found = exact_posterior(X, alpha=1.0, prior=prior)
    assert found.labels.tolist() == [1, 0, 0, 0]  # the largest cluster first
    joint = dpmlite.neg_log_joint(X, found.labels, alpha=1.0, prior=prior)
    assert found.neg_log_joint == pytest.approx(joint, rel=1e-12)
    full = {"m0": np.zeros(1), "c0": 0.01, "a0": 1.0, "b0": np.full(1, 0.1)}
    _, log_evidence, proba, together = listed(X, full, 1.0)
    assert found.log_evidence == pytest.approx(log_evidence, rel=1e-12)
    np.testing.assert_allclose(found.n_clusters_proba, proba, rtol=1e-9)
    np.testing.assert_allclose(found.co_clustering, together, rtol=1e-9)


@pytest.mark.parametrize(
    ("n_rows", "given", "message"),
    [
        (14, {}, "X must have from 1 to 13 rows, got 14"),
        (2, {"alpha": 0.0}, r"alpha must be positive, got 0\.0"),
        (2, {"component": "gamma"}, "component must be one of 'normal-gamma'.*, got 'gamma'"),
        (2, {"prior": {"c0": -1.0}}, r"prior c0 must be positive, got -1\.0"),
    ],
)
def test_the_function_states_its_rules(n_rows, given, message):
    X = np.arange(float(n_rows))[:, None]
    with pytest.raises(ValueError, match=message):
        exact_posterior(X, **{"alpha": 1.0, **given})


@pytest.mark.parametrize("alpha", [1e-6, 20.0])
@pytest.mark.parametrize("discount", [0.3, 0.7])
def test_sums_under_a_discount_are_those_of_a_list(twin, discount, alpha):
    X, _ = blobs(n_rows=5 if twin.implementation == "python" else 7)
    prior, n = empirical_prior(X), len(X)
    joints = {
        tuple(z): naive.neg_log_joint(X, z, alpha, prior, discount) for z in naive.partitions(n)
    }
    least = min(joints.values())
    total = sum(np.exp(least - joint) for joint in joints.values())
    proba, together = np.zeros(n), np.zeros((n, n))
    for z, joint in joints.items():
        weight = np.exp(least - joint) / total
        proba[max(z)] += weight
        together += weight * np.equal.outer(z, z)
    labels, *found = posterior(twin, X, prior, alpha, discount=discount)
    assert_same(found, (least, np.log(total) - least, proba, together))
    assert joints[tuple(labels)] == pytest.approx(least, rel=1e-12)
