"""Prediction: eq. (16), (17) and (18) against naive statements and quadrature."""

from math import exp, log

import naive
import numpy as np
import pytest
from cases import blobs, build, empirical_prior, needs_kernels, problems
from hypothesis import given
from hypothesis import strategies as st

from dpmlite import crp_sample


def mixture(twin, X, labels, prior):
    component = twin.normal_gamma.NormalGamma(**prior)
    component.resize(int(labels.max()) + 2)
    for row, k in zip(X, labels, strict=True):
        component.add(row, k)
    return component


def naive_terms(x, X, labels, alpha, prior):
    """The K + 1 terms of eq. (17)."""
    total = alpha + len(X)
    clusters = [X[labels == k] for k in range(labels.max() + 1)]
    terms = [len(rows) / total * exp(naive.log_student(x, rows, prior)) for rows in clusters]
    return [*terms, alpha / total * exp(naive.log_student(x, X[:0], prior))]


def test_density_labels_and_responsibilities(twin):
    X, labels = blobs(n_rows=30, seed=1)
    prior, alpha = empirical_prior(X), 0.8
    component = mixture(twin, X, labels, prior)
    new = np.concatenate([X[:5] + 0.3, [[60.0, -60.0]]])
    terms = np.array([naive_terms(x, X, labels, alpha, prior) for x in new])

    density, assigned = np.empty(6), np.empty(6, dtype=np.intp)
    probabilities = np.empty((6, 4))
    twin.prediction.log_density(new, component, alpha, density)
    twin.assignment.assign(new, component, alpha, assigned)
    twin.prediction.responsibilities(new, component, alpha, probabilities)
    np.testing.assert_allclose(density, np.log(terms.sum(axis=1)), rtol=1e-10)
    np.testing.assert_allclose(probabilities, terms / terms.sum(axis=1, keepdims=True), rtol=1e-8)
    best = terms.argmax(axis=1)
    assert assigned.tolist() == np.where(best == 3, -1, best).tolist()
    assert assigned[-1] == -1


@given(problem=problems(), data=st.data())
def test_each_row_is_assigned_to_the_first_of_the_cheapest_slots(twin, problem, data):
    """As many rows as are screened together, and more, or some of them: too few for threads."""
    X, prior, alpha = problem
    labels = data.draw(st.lists(st.integers(0, 5), min_size=len(X), max_size=len(X)))
    component = mixture(twin, X, np.array(labels), prior)
    n, spread = data.draw(st.integers(1, 200)), data.draw(st.sampled_from([1.0, 10.0]))
    new = spread * X[np.random.default_rng(n).integers(len(X), size=n)]
    if data.draw(st.booleans()):
        new = np.asfortranarray(new)
    rows = data.draw(st.none() | st.just(np.arange(n, dtype=np.intp)[::-2].copy()))
    found = np.empty(n if rows is None else len(rows), dtype=np.intp)
    twin.assignment.assign(new, component, alpha, found, data.draw(st.integers(1, 3)), rows)
    counts = np.array(component.counts)
    log_n = np.log(np.where(counts > 0, counts, alpha))
    for i, k in zip(range(n) if rows is None else rows, found, strict=True):
        costs = -log_n - np.array(component.log_predictive_all(new[i].copy()))
        best = int(np.argmax(costs <= costs.min() + 1e-8))
        assert k == (best if counts[best] else -1)


@needs_kernels
@pytest.mark.parametrize("n_columns", [1, 3, 20])
def test_rows_between_large_clusters_are_assigned_exactly(kernel, n_columns):
    """Many of them are almost as near to another cluster: bounds must not be taken for costs."""
    rng = np.random.default_rng(n_columns)
    labels = np.repeat(np.arange(4), 1000)
    X = rng.normal(size=(4000, n_columns)) + 0.5 * labels[:, None] / n_columns**0.5
    component = mixture(kernel, X, labels, empirical_prior(X))
    new = 0.5 * (X + rng.permutation(X))
    found, probabilities = np.empty(4000, dtype=np.intp), np.empty((4000, 5))
    kernel.assignment.assign(new, component, 1.0, found)
    kernel.prediction.responsibilities(new, component, 1.0, probabilities)
    least, second = np.sort(-np.log(probabilities[:, :4]), axis=1)[:, :2].T
    assert np.mean(second - least < 0.1) > 0.1
    clear = second - least > 1e-7
    assert np.array_equal(found[clear], probabilities.argmax(axis=1)[clear])


def test_rows_to_assign_are_rows_of_the_table(twin):
    component = mixture(twin, np.eye(2), np.zeros(2, dtype=int), empirical_prior(np.eye(2)))
    for n, rows in ((2, [0, 2]), (1, [-1])):
        with pytest.raises(IndexError, match=rf"rows must be in 0\.\.1, got {rows[-1]}"):
            twin.assignment.assign(
                np.eye(2), component, 1.0, np.empty(n, np.intp), 1, np.array(rows, np.intp)
            )


@pytest.mark.parametrize("order", ["C", "F"])
def test_how_badly_rows_fit_where_they_are(twin, order):
    X, labels = blobs(n_rows=30, seed=1)
    X = np.asarray(X, order=order)
    labels[7] = 3  # alone
    prior, alpha = empirical_prior(X), 0.8
    partition = build(twin, X, labels, prior, alpha)
    costs, weights = np.empty(30), np.empty(30)
    twin.prediction.own_costs(partition, costs, weights)
    assert (weights == 1.0).all()
    for i, cost in enumerate(costs):
        others = X[(labels == labels[i]) & (np.arange(30) != i)]
        weight = len(others) if len(others) else alpha
        expected = -log(weight) - naive.log_student(X[i], others, prior)
        expected -= 0.5 * np.log(prior["b0"]).sum()  # in units of the prior
        assert cost == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("n_rows", [1, 2, 7, 50])
def test_the_density_is_one_in_one_dimension(twin, n_rows):
    """Substituting x = m + s tan(v) makes Student-t tails integrable on an interval."""
    X = np.random.default_rng(n_rows).normal(3.0, 2.0, size=(n_rows, 1))
    prior = {"m0": [1.0], "c0": 0.3, "a0": 1.0, "b0": [2.0]}
    component = mixture(twin, X, crp_sample(n_rows, 2.0, random_state=0), prior)
    v = (np.arange(4000) + 0.5) * np.pi / 4000 - np.pi / 2.0
    out = np.empty(4000)
    twin.prediction.log_density(3.0 + 2.0 * np.tan(v)[:, None], component, 2.0, out)
    mass = np.sum(np.exp(out) * 2.0 / np.cos(v) ** 2) * np.pi / 4000
    assert mass == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("n_rows", [1, 3, 20])
def test_the_density_is_one_in_two_dimensions(twin, n_rows):
    X = np.random.default_rng(n_rows).normal(size=(n_rows, 2))
    prior = {"m0": [0.0, 0.5], "c0": 0.5, "a0": 1.5, "b0": [1.0, 2.0]}
    component = mixture(twin, X, crp_sample(n_rows, 1.0, random_state=1), prior)
    n = 160 if twin.implementation == "python" else 400
    v = (np.arange(n) + 0.5) * np.pi / n - np.pi / 2.0
    x, weights = np.tan(v), np.pi / n / np.cos(v) ** 2
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    out = np.empty(len(grid))
    twin.prediction.log_density(grid, component, 1.0, out)
    cells = np.outer(weights, weights).ravel()
    assert np.sum(cells * np.exp(out)) == pytest.approx(1.0, rel=1e-4)


def test_leave_one_out_likelihood_is_eq_16(twin):
    X, labels = blobs(n_rows=25, seed=2)
    labels[0] = 3  # a cluster of one row: its leave-one-out predictive is the prior's
    prior, alpha = empirical_prior(X), 1.7
    expected = -naive.log_crp(labels, alpha)
    for i, x in enumerate(X):
        others = np.delete(X, i, axis=0)[np.delete(labels, i) == labels[i]]
        expected -= naive.log_student(x, others, prior)
    partition = twin.partition.Partition(
        X, labels.astype(np.intp), twin.normal_gamma.NormalGamma(**prior), alpha
    )
    assert twin.prediction.neg_log_loo(partition) == pytest.approx(expected, rel=1e-10)


@needs_kernels
@pytest.mark.parametrize("layout", ["as it is", "float32", "Fortran", "weighted"])
@pytest.mark.parametrize("n_columns", [1, 3, 8, 13])
def test_rows_are_left_out_one_by_one_however_many_are_scored_together(twins, layout, n_columns):
    X, labels = blobs(n_rows=150, n_columns=n_columns, seed=2)
    labels[0] = labels.max() + 1  # alone
    X[1] = 1e9  # rounding would swallow it
    weights = np.linspace(0.5, 2.0, 150) if layout == "weighted" else None
    table = {"float32": X.astype(np.float32), "Fortran": np.asfortranarray(X)}.get(layout, X)
    prior = {**empirical_prior(X), "b0": np.ones(n_columns)}
    likelihoods = [
        twin.prediction.neg_log_loo(
            twin.partition.Partition(
                twin.rows.Rows(table, weights),
                labels.astype(np.intp),
                twin.normal_gamma.NormalGamma(**prior),
                1.7,
            )
        )
        for twin in twins
    ]
    assert likelihoods[1] == pytest.approx(likelihoods[0], rel=1e-12)


@pytest.mark.parametrize("n_columns", [1, 7, 16, 17, 40])
def test_a_far_row_has_a_density_too(twin, n_columns):
    """However far and in however many columns: its factors are multiplied, and none is lost."""

    def densities(n_columns):
        prior = [0.0] * n_columns, 1e6, 1.0, [1.0] * n_columns
        component = twin.normal_gamma.NormalGamma(*prior)
        component.resize(1)
        out = np.empty(2)
        rows = np.repeat([[1e300], [1e7]], n_columns, axis=1)
        twin.prediction.log_density(rows, component, 1.0, out)
        return out

    of_one, of_all = densities(1), densities(n_columns)
    assert -np.inf < of_one[0] < of_one[1] < -log(1e7)
    assert of_all == pytest.approx(n_columns * of_one, rel=1e-13)


@pytest.mark.parametrize("n_slots", [1, 7, 8, 9, 16, 30])
def test_of_equal_slots_the_first_is_taken(twin, n_slots):
    """Wherever it is: the others are far away."""
    for first in range(n_slots):
        component = twin.normal_gamma.NormalGamma([0.0], 1e-3, 1.0, [1.0])
        component.resize(n_slots + 1)
        for k in range(n_slots):
            for _ in range(5):
                component.add(np.array([3.0 if k in {first, n_slots - 1} else -40.0 - k]), k)
        labels = np.empty(1, dtype=np.intp)
        twin.assignment.assign(np.array([[3.1]]), component, 1.0, labels)
        assert labels[0] == first


@needs_kernels
@pytest.mark.parametrize("outlier", [False, True])
def test_the_likelihood_does_not_depend_on_threads(twins, outlier):
    """A row that rounding would swallow is looked at with the other rows of its cluster."""
    X = np.random.default_rng(0).normal(size=(40_000, 2))
    X[7] = [1e9, -1e9] if outlier else X[7]
    prior = {**empirical_prior(X), "b0": np.ones(2)}
    partition = build(twins[1], X, np.arange(40_000) % 3, prior)
    one, two, five = (twins[1].prediction.neg_log_loo(partition, n) for n in (1, 2, 5))
    assert one == two == five
    costs = np.empty(40_000)
    twins[1].prediction.own_costs(partition, costs, np.empty(40_000))
    sizes = np.bincount(partition.labels)[np.asarray(partition.labels)]
    expected = -naive.log_crp(partition.labels, 1.0) + np.sum(costs + np.log(sizes - 1.0))
    assert one == pytest.approx(expected, rel=1e-10)
