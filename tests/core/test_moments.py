"""Moments of columns: both twins against numpy, whatever is missing, far away or heavy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmlite.core.threads import use_threads
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.priors.checks import check_distance
from dpmlite.estimators.priors.moments import Moments


def naive(X, weights):
    """Without the missing cells, about the first value of each column."""
    seen = ~np.isnan(X)
    cells = weights @ seen
    origin = np.where(seen.any(axis=0), X[seen.argmax(axis=0), np.arange(X.shape[1])], 0.0)
    gaps = np.where(seen, X - origin, 0.0)
    share = np.where(cells > 0.0, cells, 1.0)
    mean = weights @ gaps / share
    variance = weights @ np.where(seen, gaps - mean, 0.0) ** 2 / share
    return cells, origin + mean, variance


@given(data=st.data())
def test_moments_are_those_of_numpy(twin, data):
    n_rows = data.draw(st.integers(1, 40))
    n_columns = data.draw(st.integers(1, 19))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    X = rng.normal(data.draw(st.sampled_from([0.0, -3.0, 1e7])), 1.0, size=(n_rows, n_columns))
    X[rng.random(X.shape) < data.draw(st.sampled_from([0.0, 0.3, 0.9]))] = np.nan
    weights = rng.choice([1.0, 2.5, 0.25], size=n_rows) if data.draw(st.booleans()) else None
    found = twin.moments.column_moments(twin.rows.Rows(X, weights))
    expected = naive(X, np.ones(n_rows) if weights is None else weights)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", [(600_001, 2), (90_000, 13), (710, 1_500)])
@pytest.mark.parametrize("layout", ["C", "F", "float32"])
def test_threads_and_layouts_change_nothing(twins, shape, layout):
    """Tables of many blocks, that are worth threads."""
    X = np.random.default_rng(0).gamma(0.5, size=shape)
    X[:, -1] += 1e6
    X = X.astype(np.float32) if layout == "float32" else np.asarray(X, order=layout)
    rows = twins[1].rows.Rows(X, None)
    found = []
    for n_threads in (1, 2, 5):
        with use_threads(n_threads):
            found.append(twins[1].moments.column_moments(rows))
    assert found[0] == found[1] == found[2]
    wide = X.astype(np.float64)
    np.testing.assert_allclose(found[0][1], wide.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found[0][2], wide.var(axis=0), rtol=1e-9)


def test_a_constant_column_has_its_value_and_no_variance(twin):
    X = np.column_stack([np.full(50, 0.1), np.arange(50.0)])
    cells, mean, variance = twin.moments.column_moments(X)
    assert (cells[0], mean[0], variance[0]) == (50.0, 0.1, 0.0)
    assert variance[1] > 0.0


def test_no_rows_have_no_columns(twin):
    assert twin.moments.column_moments(np.empty((0, 3))) == ([], [], [])


def test_sparse_rows_are_refused(twin):
    rows = twin.rows.Rows.sparse(np.ones(1), np.zeros(1, dtype=np.intp), np.array([0, 1]), 2)
    with pytest.raises(ValueError, match="moments are of dense rows"):
        twin.moments.column_moments(rows)


@given(seed=st.integers(0, 200), far=st.sampled_from([1.0, 5.0, 30.0, 900.0]))
def test_moments_never_hide_what_is_too_far(seed, far):
    """Whether moments settle it or not, the verdict is that of the cells."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rng.integers(1, 30), 2))
    X[rng.integers(len(X)), 0] += far
    table = Data(X.shape, values=X)
    centre, scale = rng.normal(size=2), rng.uniform(0.5, 2.0, size=2)
    too_far = (np.abs(X - centre) / scale > 20.0).any()
    args = (table, Moments.of(table), centre, scale, 20.0, "scales of the centre")
    if too_far:
        with pytest.raises(ValueError, match=r"X must lie within 2.0e\+01 scales of the centre"):
            check_distance(*args)
    else:
        check_distance(*args)
