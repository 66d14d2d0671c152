"""Centres, variances and extents of columns against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmlite.estimators.empirical_bayes.column_scales import NORMAL_QUARTILES, ColumnScales
from dpmlite.estimators.inputs.data import Data


def scales_of(X, weights=None):
    return ColumnScales.of(Data(X.shape, X, weights=weights))


def test_a_normal_column_has_its_mean_and_variance():
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(100_000, 1))
    scales = scales_of(X)
    assert scales.centre == pytest.approx([3.0], abs=0.03)
    assert scales.variance == pytest.approx([4.0], rel=0.02)
    assert scales.reach == pytest.approx(np.abs(X - scales.centre).max(axis=0))
    assert not scales.constant.any()


def test_the_variance_of_light_tails_is_exact():
    """The quartiles of a uniform column lie farther apart than those of a normal one."""
    X = np.random.default_rng(1).uniform(size=(501, 2))
    scales = scales_of(X)
    assert scales.variance == pytest.approx(X.var(axis=0), rel=1e-12)
    assert scales.centre == pytest.approx(X.mean(axis=0), rel=1e-12)


def test_heavy_tails_have_the_variance_of_a_normal_with_their_quartiles():
    X = np.random.default_rng(2).standard_cauchy(size=(1001, 1))
    low, high = np.quantile(X, [0.25, 0.75])
    assert scales_of(X).variance == pytest.approx(((high - low) / NORMAL_QUARTILES) ** 2, rel=0.02)


@pytest.mark.parametrize("outlier", [-9999.0, 1e12])
def test_an_outlier_moves_nothing_but_the_reach(outlier):
    X = np.random.default_rng(3).normal(size=(1000, 1))
    before = scales_of(X)
    X[17] = outlier
    after = scales_of(X)
    assert after.centre == pytest.approx(before.centre, abs=0.02)
    assert after.variance == pytest.approx(before.variance, rel=0.05)
    assert after.reach == pytest.approx([abs(outlier)], rel=1e-3)


def test_where_most_values_are_equal_the_variance_is_that_of_all():
    X = np.zeros((100, 1))
    X[:20, 0] = np.arange(20)
    assert scales_of(X).variance == pytest.approx(X.var(axis=0))


@pytest.mark.parametrize("value", [0.0, 0.1, -1e8 / 3.0, 1e-300])
def test_equal_values_are_constant(value):
    """Although the rounded mean of tenths is not a tenth."""
    X = np.full((1001, 2), value)
    X[::2, 1] = np.nan
    scales = scales_of(X, np.random.default_rng(4).exponential(size=1001))
    assert scales.constant.all()
    assert scales.centre.tolist() == [value, value]
    assert scales.variance.tolist() == [1.0, 1.0]
    assert scales.reach.tolist() == [0.0, 0.0]


def test_a_column_without_values_is_constant():
    X = np.array([[np.nan, 1.0], [np.nan, 2.0]])
    assert scales_of(X).constant.tolist() == [True, False]
    assert np.isfinite(scales_of(X).centre).all()


@given(st.integers(0, 10**6), st.integers(2, 30))
@settings(max_examples=50)
def test_whole_weights_equal_repeated_rows(seed, n_rows):
    rng = np.random.default_rng(seed)
    X, times = rng.standard_cauchy(size=(n_rows, 2)), rng.integers(1, 5, size=n_rows)
    X[rng.random(X.shape) < 0.2] = np.nan
    one, other = scales_of(X, times.astype(float)), scales_of(np.repeat(X, times, axis=0))
    for name in ("centre", "variance", "reach", "constant"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9)


@given(st.integers(0, 10**6))
@settings(max_examples=50)
def test_scales_have_the_units_of_their_columns_and_no_order_of_rows(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_cauchy(size=(40, 3))
    unit, origin = 10.0 ** rng.uniform(-12.0, 12.0, size=3), rng.normal(size=3)
    one, other = scales_of(X), scales_of((X[rng.permutation(40)] + origin) * unit)
    assert other.centre / unit == pytest.approx(one.centre + origin, rel=1e-9, abs=1e-9)
    assert other.variance / unit**2 == pytest.approx(one.variance, rel=1e-9)
    assert other.reach / unit == pytest.approx(one.reach, rel=1e-9, abs=1e-9)
    same = scales_of(np.ascontiguousarray(X[:, [2, 0, 1]]))
    assert same.variance.tolist() == one.variance[[2, 0, 1]].tolist()


def test_scales_of_a_sample_reach_the_rows_outside_it():
    X = np.random.default_rng(5).normal(size=(500, 3))
    X[7, 0], X[:, 2] = 1e6, np.nan
    sample, whole = scales_of(X[100:]), Data(X.shape, X)
    reaching = sample.reaching(whole)
    assert reaching.reach[:2] == pytest.approx(np.abs(X[:, :2] - sample.centre[:2]).max(axis=0))
    assert reaching.reach[2] == 0.0
    assert reaching.variance is sample.variance
    assert sample.reaching(Data((400, 3), X[100:])).reach.tolist() == sample.reach.tolist()


def test_scales_of_some_columns_are_theirs():
    X, chosen = np.random.default_rng(6).normal(size=(50, 3)), np.array([True, False, True])
    part, own = scales_of(X).take(chosen), scales_of(np.ascontiguousarray(X[:, chosen]))
    for name in ("centre", "variance", "reach", "constant"):
        assert getattr(part, name).tolist() == getattr(own, name).tolist()
