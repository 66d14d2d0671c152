"""Rows of a table that are taken out of it."""

import numpy as np
import pytest
from cases import compressed
from hypothesis import given
from hypothesis import strategies as st

LAYOUTS = {
    "side by side": np.ascontiguousarray,
    "fortran": np.asfortranarray,
    "single": lambda X: X.astype(np.float32),
    "backwards": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
}


@given(seed=st.integers(0, 1000), kind=st.sampled_from(["sparse", *LAYOUTS]))
def test_rows_that_are_taken_are_those_rows(twin, seed, kind):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.7, size=rng.integers(1, 9, size=2)).astype(float)
    weights = rng.uniform(0.5, 2.0, size=len(X)) if seed % 2 else None
    if kind == "sparse":
        rows = compressed(twin, X, weights)
    else:
        rows = twin.rows.Rows(LAYOUTS[kind](X), weights)
    chosen = rng.integers(len(X), size=rng.integers(0, 40))
    taken = rows.take(chosen)
    assert (len(taken), taken.n_columns) == (len(chosen), X.shape[1])
    assert taken.is_sparse == (kind == "sparse")
    taken_X = X[chosen]
    assert taken.n_cells == (np.sum(taken_X != 0.0) if kind == "sparse" else taken_X.size)
    for i, row in enumerate(chosen):
        assert taken.values(i) == X[row].tolist()
        assert taken.weight(i) == (1.0 if weights is None else weights[row])
    again = taken.take(np.arange(len(chosen) - 1, -1, -1))
    assert [again.values(i) for i in range(len(chosen))] == X[chosen[::-1]].tolist()


@pytest.mark.parametrize("row", [-1, 3])
def test_rows_to_take_are_rows_of_the_table(twin, row):
    for rows in (twin.rows.Rows(np.ones((3, 2))), compressed(twin, np.ones((3, 2)))):
        with pytest.raises(IndexError, match=rf"rows must be in 0\.\.2, got {row}"):
            rows.take(np.array([0, row]))
