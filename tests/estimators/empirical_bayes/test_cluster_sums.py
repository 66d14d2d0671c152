"""Sums of clusters against loops over their rows, with weights and missing cells."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmlite.estimators.empirical_bayes.cluster_sums import ClusterSums
from dpmlite.estimators.inputs.data import Data


@st.composite
def tables(draw, missing=True):
    """Rows, labels that need not be 0..K-1, and weights."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_rows, n_columns = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    X = rng.normal(size=(n_rows, n_columns)) * 10.0 ** rng.integers(-3, 4, size=n_columns)
    if missing and draw(st.booleans()):
        X[rng.random(X.shape) < 0.4] = np.nan
    weights = rng.integers(1, 4, size=n_rows).astype(float) if draw(st.booleans()) else None
    return Data(X.shape, X, weights=weights), rng.choice([0, 3, 4, 9], size=n_rows)


@given(tables(), st.sampled_from([1.0, 0.25]))
def test_counts_means_and_scatters_are_those_of_each_cluster(drawn, power):
    table, labels = drawn
    sums = ClusterSums.of(table, labels, power)
    weights = np.ones(table.shape[0]) if table.weights is None else table.weights
    for k, label in enumerate(np.unique(labels)):
        assert (sums.groups.labels[labels == label] == k).all()
        for d in range(table.shape[1]):
            known = (labels == label) & ~np.isnan(table.values[:, d])
            w, x = power * weights[known], table.values[known, d]
            assert sums.counts[k, d] == pytest.approx(w.sum(), rel=1e-12)
            if known.any():
                assert sums.means[k, d] == pytest.approx(w @ x / w.sum(), rel=1e-9, abs=1e-9)
                scatter = w @ (x - w @ x / w.sum()) ** 2
                assert sums.scatters()[k, d] == pytest.approx(scatter, rel=1e-9, abs=1e-9)
            else:
                assert sums.scatters()[k, d] == 0.0


@given(tables(missing=False))
def test_scatter_matrices_are_those_of_each_cluster(drawn):
    table, labels = drawn
    sums = ClusterSums.of(table, labels, 1.0)
    matrices = sums.scatter_matrices()
    scale = np.abs(table.values).max(axis=0)
    for matrix, label in zip(matrices, np.unique(labels), strict=True):
        known = labels == label
        aweights = None if table.weights is None else table.weights[known]
        total = known.sum() if aweights is None else aweights.sum()
        exact = total * np.cov(table.values[known].T, aweights=aweights, ddof=0)
        assert matrix / np.outer(scale, scale) == pytest.approx(
            exact.reshape(matrix.shape) / np.outer(scale, scale), abs=1e-9
        )
    diagonals = np.diagonal(matrices, axis1=1, axis2=2)
    assert sums.scatters() == pytest.approx(diagonals, rel=1e-9, abs=1e-12)


@given(tables())
@settings(max_examples=50)
def test_whole_weights_equal_repeated_rows(drawn):
    table, labels = drawn
    times = np.ones(len(labels), int) if table.weights is None else table.weights.astype(int)
    repeated = np.repeat(table.values, times, axis=0)
    one = ClusterSums.of(table, labels, 1.0)
    other = ClusterSums.of(Data(repeated.shape, repeated), np.repeat(labels, times), 1.0)
    scale = np.fmax.reduce(np.abs(table.values), axis=0)
    for a, b, unit in (
        (one.counts, other.counts, 1.0),
        (one.means, other.means, scale),
        (one.scatters(), other.scatters(), scale**2),
    ):
        assert np.nan_to_num(a / unit) == pytest.approx(np.nan_to_num(b / unit), abs=1e-9)


def test_a_far_origin_does_not_lose_the_scatter():
    X = np.random.default_rng(0).normal(size=(100, 2))
    near = ClusterSums.of(Data(X.shape, X), np.arange(100) % 3, 1.0)
    far = ClusterSums.of(Data(X.shape, X + 1e8), np.arange(100) % 3, 1.0)
    assert far.scatters() == pytest.approx(near.scatters(), rel=1e-6)
