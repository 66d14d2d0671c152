"""Data that many tests share: random problems for hypothesis, and the empirical prior."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dpmlite

PURE = dpmlite.implementation == "python"

needs_kernels = pytest.mark.skipif(
    PURE, reason="takes minutes on the plain twins, which smaller tests run"
)


def empirical_prior(X):
    """Section 4.2's prior, a constant column's variance replaced by 1."""
    b0 = X.var(axis=0)
    constant = np.ptp(X, axis=0) == 0.0
    return {
        "m0": X.mean(axis=0),
        "c0": 10.0 / len(X),
        "a0": 1.0,
        "b0": np.where(constant, 1.0, b0),
    }


def partition(twin, X, labels, alpha=1.0, weights=None, **prior):
    """Of Gaussian columns under the empirical prior, or another; rows may have weights."""
    prior = {"m0": X.mean(axis=0), "c0": 10 / len(X), "a0": 1.0, "b0": X.var(axis=0)} | prior
    family = twin.normal_gamma.NormalGamma(**prior)
    rows = X if weights is None else twin.rows.Rows(X, weights)
    return twin.partition.Partition(rows, np.array(labels, dtype=np.intp), family, alpha)


def blobs(n_rows=60, n_columns=2, n_clusters=3, seed=0):
    """Well separated Gaussian clusters."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_clusters, size=n_rows)
    means = rng.normal(0.0, 6.0, size=(n_clusters, n_columns))
    return means[labels] + rng.normal(size=(n_rows, n_columns)), labels


POWERS = (1.0, 0.3, 0.05)


@st.composite
def problems(draw, max_rows=16, max_columns=3, powers=()):
    """(X, prior, alpha): gridded values, so that ties and duplicates are common.

    The prior has one of these powers of the likelihood, if there are any.
    """
    n = draw(st.integers(1, max_rows))
    d = draw(st.integers(1, max_columns))
    step = draw(st.sampled_from([1.0, 0.5, 0.1, 3.7]))
    grid = draw(st.integers(1, 40))
    cells = draw(st.lists(st.integers(-grid, grid), min_size=n * d, max_size=n * d))
    X = step * np.array(cells, dtype=float).reshape(n, d)
    prior = empirical_prior(X)
    prior["a0"] = draw(st.sampled_from([1.0, 0.3, 4.0]))
    prior["c0"] = draw(st.sampled_from([0.05, 1.0, 10.0]))
    alpha = draw(st.sampled_from([0.1, 1.0, 5.0]))
    return X, prior | ({"power": draw(st.sampled_from(powers))} if powers else {}), alpha


def build(twin, X, labels, prior, alpha=1.0, rows=None):
    """A partition of one implementation, with labels of its own."""
    labels, family = np.array(labels, dtype=np.intp), twin.normal_gamma.NormalGamma(**prior)
    return twin.partition.Partition(X, labels, family, alpha, rows)


def mixture(twin, X, labels, prior):
    """A component whose slot k holds the rows with label k; the last slot is empty."""
    component = twin.normal_gamma.NormalGamma(**prior)
    component.resize(int(labels.max()) + 2)
    for row, k in zip(X, labels, strict=True):
        component.add(row, k)
    return component


def compressed(twin, X, weights=None):
    """The rows in sparse form."""
    i, j = np.nonzero(X)
    starts = np.searchsorted(i, np.arange(len(X) + 1)).astype(np.intp)
    return twin.rows.Rows.sparse(X[i, j], j.astype(np.intp), starts, X.shape[1], weights)


def start(kind, n_rows):
    """Labels to start from, as the kernels want them."""
    return {
        "single": np.zeros(n_rows, dtype=np.intp),
        "singletons": np.arange(n_rows, dtype=np.intp),
        "sequential": np.full(n_rows, -1, dtype=np.intp),
    }[kind].copy()


STARTS = ("single", "singletons", "sequential")
