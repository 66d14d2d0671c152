"""Prediction: eq. (16) and (17) against naive statements and quadrature."""

from math import exp, log

import naive
import numpy as np
import pytest
from cases import POWERS, blobs, build, empirical_prior, mixture, needs_kernels

from dpmlite import crp_sample
from dpmlite.core.threads import use_threads


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


@pytest.mark.parametrize("power", POWERS)
def test_leave_one_out_likelihood_is_eq_16(twin, power):
    X, labels = blobs(n_rows=25, seed=2)
    labels[0] = 3  # a cluster of one row: its leave-one-out predictive is the prior's
    prior, alpha = empirical_prior(X) | {"power": power}, 1.7
    expected = -naive.log_crp(labels, alpha, power) / power
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


@needs_kernels
@pytest.mark.parametrize("outlier", [False, True])
def test_the_likelihood_does_not_depend_on_threads(twins, outlier):
    """A row that rounding would swallow is looked at with the other rows of its cluster."""
    X = np.random.default_rng(0).normal(size=(40_000, 2))
    X[7] = [1e9, -1e9] if outlier else X[7]
    prior = {**empirical_prior(X), "b0": np.ones(2)}
    partition = build(twins[1], X, np.arange(40_000) % 3, prior)
    found = []
    for n_threads in (1, 2, 5):
        with use_threads(n_threads):
            found.append(twins[1].prediction.neg_log_loo(partition))
    one = found[0]
    assert found == [one, one, one]
    costs = np.empty(40_000)
    twins[1].prediction.own_costs(partition, costs, np.empty(40_000))
    sizes = np.bincount(partition.labels)[np.asarray(partition.labels)]
    expected = -naive.log_crp(partition.labels, 1.0) + np.sum(costs + np.log(sizes - 1.0))
    assert one == pytest.approx(expected, rel=1e-10)
