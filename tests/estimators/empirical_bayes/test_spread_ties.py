"""Equal values spread over their cells: what changes, and what must not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmlite.estimators.empirical_bayes.spread_ties import MAX_JUDGED_ROWS, spread_ties


@st.composite
def tied_columns(draw):
    """Values with many ties, of uneven gaps, and missing ones."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    distinct = np.unique(np.round(rng.normal(scale=10.0, size=draw(st.integers(2, 8))), 2))
    column = rng.choice(distinct, size=draw(st.integers(40, 80)))
    column[rng.random(len(column)) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    return column


def distance_to_uniform(values, low, high):
    """Kolmogorov-Smirnov distance."""
    at = (np.sort(values) - low) / (high - low)
    steps = np.arange(len(at) + 1) / len(at)
    return max(np.abs(at - steps[1:]).max(), np.abs(at - steps[:-1]).max())


@given(tied_columns())
def test_each_value_stays_in_its_cell_and_before_greater_ones(column):
    spread = spread_ties(column[:, None])[:, 0]
    assert (np.isnan(spread) == np.isnan(column)).all()
    before, after = column[~np.isnan(column)], spread[~np.isnan(column)]
    order = np.lexsort((after, before))
    assert (np.diff(after[order]) >= 0.0).all()
    distinct = np.unique(before)
    for value in distinct if len(distinct) > 1 else []:
        nearest = np.abs(distinct[distinct != value] - value).min()
        own = after[before == value]
        assert np.abs(own - value).max() <= 0.5 * nearest
        assert own.mean() == pytest.approx(value, abs=1e-12 * max(1.0, abs(value)))
        assert len(np.unique(own)) == len(own)


@given(tied_columns(), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_the_unit_and_the_origin_change_nothing_else(column, unit, origin):
    spread = spread_ties(column[:, None]) * unit + origin
    other = spread_ties(column[:, None] * unit + origin)
    assert other == pytest.approx(spread, rel=1e-9, abs=1e-9, nan_ok=True)


@given(tied_columns())
def test_the_table_itself_is_not_changed(column):
    X = column[:, None].copy()
    spread_ties(X)
    np.testing.assert_array_equal(X[:, 0], column)


def test_a_table_without_ties_is_returned_itself():
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[::7, 0] = np.nan
    X[:10, 1] = 0.5  # 3 per cent
    X[:, 2] = 4.0
    assert spread_ties(X) is X


def test_columns_without_ties_stay_as_they_are():
    X = np.random.default_rng(1).normal(size=(300, 3))
    X[:, 1] = np.round(X[:, 1])
    spread = spread_ties(X)
    np.testing.assert_array_equal(spread[:, [0, 2]], X[:, [0, 2]])
    assert len(np.unique(spread[:, 1])) == 300


@pytest.mark.parametrize("n_values", [2, 3, 6])
@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_values_on_an_even_grid_become_uniform(n_values, unit):
    whole = np.repeat(np.arange(n_values), 200)[:, None] * unit
    spread = spread_ties(whole)[:, 0]
    low, high = -0.5 * unit, (n_values - 0.5) * unit
    assert distance_to_uniform(spread, low, high) <= 0.5001 / len(whole)


def test_the_variance_grows_by_that_of_rounding():
    X = np.random.default_rng(2).integers(0, 6, size=(3000, 1)).astype(float)
    assert spread_ties(X).var() == pytest.approx(X.var() + 1.0 / 12.0, rel=1e-3)


@pytest.mark.parametrize("n_rows", [300, 2000])
def test_columns_of_noise_stay_uncorrelated(n_rows):
    """Even within one pair of cells, for all pairs of twenty columns."""
    X = np.zeros((n_rows, 20))
    X[:2] = [[1.0], [2.0]]
    X[3:23][np.eye(20, dtype=bool)] = 1.0  # no two columns are equal
    spread = spread_ties(X)[23:]
    correlations = np.corrcoef(spread.T)[np.triu_indices(20, 1)]
    assert np.abs(correlations).max() < 4.5 / np.sqrt(n_rows)


def test_equal_columns_stay_equal_and_the_order_of_columns_does_not_matter():
    X = np.random.default_rng(3).integers(0, 4, size=(200, 5)).astype(float)
    X[:, 4] = 10.0 * X[:, 1] + 3.0
    spread, order = spread_ties(X), np.array([3, 1, 4, 0, 2])
    assert spread[:, 4] == pytest.approx(10.0 * spread[:, 1] + 3.0, rel=1e-12)
    np.testing.assert_array_equal(spread_ties(X[:, order]), spread[:, order])


def test_a_gap_between_clusters_stays_empty():
    """Values rounded to a tenth, about 0 and about 50: the gap is not a cell."""
    rng = np.random.default_rng(4)
    X = np.round(rng.normal(size=(500, 1)) + 50.0 * rng.integers(0, 2, size=(500, 1)), 1)
    assert np.abs(spread_ties(X) - X).max() < 1.0
    assert not ((spread_ties(X) > 10.0) & (spread_ties(X) < 40.0)).any()


def test_an_outlier_does_not_widen_a_cell():
    X = np.random.default_rng(5).integers(0, 3, size=(500, 1)).astype(float)
    X[7] = -9999.0
    spread = spread_ties(X)
    assert spread[7] == -9999.0
    assert np.abs(spread - X).max() < 0.5


def test_a_rare_value_makes_a_column_of_equal_ones_one_of_ties():
    """Even if none of the rows has it by which large tables are judged."""
    X = np.zeros((3 * MAX_JUDGED_ROWS, 1))
    X[1] = 1.0
    spread = spread_ties(X)
    assert len(np.unique(spread)) == len(X)


def test_single_precision_is_enough():
    X = np.float32(2**24) + np.arange(200, dtype=np.float32)[:, None] % 4 * 2
    assert len(np.unique(spread_ties(X))) == 200


def test_missing_and_constant_columns_and_single_rows_stay():
    for X in (
        np.full((4, 2), np.nan),
        np.ones((4, 2)),
        np.ones((1, 1)),
        np.array([[1.0], [np.nan]]),
    ):
        assert spread_ties(X) is X
