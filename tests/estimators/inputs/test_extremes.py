"""Extreme values of columns, as numpy has them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmlite.estimators.inputs.extremes import WIDE_ROW, reduced


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
def test_wide_rows_are_reduced_as_numpy_does(n_columns):
    values = np.random.default_rng(0).normal(size=(7, n_columns))
    assert np.array_equal(reduced(np.fmax, values), values.max(axis=0))
