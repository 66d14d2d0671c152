"""What default priors need to know of columns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmlite.estimators.data import Data
from dpmlite.estimators.families.columns import WIDE_ROW, Moments, reduced


@given(
    n_rows=st.integers(0, 3 * WIDE_ROW), n_columns=st.integers(1, 9), order=st.sampled_from("CF")
)
def test_narrow_tables_are_reduced_as_any(n_rows, n_columns, order):
    values = (
        np.random.default_rng(n_rows)
        .normal(size=(n_rows, n_columns))
        .astype(order=order, dtype=float)
    )
    np.testing.assert_allclose(reduced(np.add, values), values.sum(axis=0), rtol=1e-9, atol=1e-9)
    if n_rows:
        values[0, 0] = np.nan
        assert np.array_equal(reduced(np.fmax, values), np.fmax.reduce(values), equal_nan=True)
        assert np.array_equal(reduced(np.fmin, values), np.fmin.reduce(values), equal_nan=True)


@pytest.mark.parametrize("n_columns", [WIDE_ROW // 2, WIDE_ROW, 2 * WIDE_ROW])
def test_so_are_wide_ones(n_columns):
    values = np.random.default_rng(0).normal(size=(7, n_columns))
    assert np.array_equal(reduced(np.fmax, values), values.max(axis=0))


@pytest.mark.parametrize("kind", ["plain", "weighted", "with gaps", "extreme"])
def test_moments_do_not_depend_on_threads(kind):
    rng = np.random.default_rng(0)
    X, weights = 1e6 + rng.normal(size=(50_000, 7)), None
    if kind == "weighted":
        weights = rng.random(len(X))
    if kind == "with gaps":
        X[rng.random(X.shape) < 0.1] = np.nan
    if kind == "extreme":  # squares overflow, without a warning from any thread
        X[0] = 1e200
    one, two, five = (Moments.of(Data(X.shape, X, None, weights), n) for n in (1, 2, 5))
    for name in ("weight", "cells", "mean", "variance"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        np.testing.assert_array_equal(getattr(one, name), getattr(five, name))
    if kind == "with gaps":
        np.testing.assert_allclose(one.mean, np.nanmean(X, axis=0), rtol=1e-12)
        np.testing.assert_allclose(one.variance, np.nanvar(X, axis=0), rtol=1e-9)
