"""Hyperparameters of "normal-gamma" with the least joint of given labels."""

import numpy as np
import pytest
from fitted_priors import drawn_table, sums_and_scales, with_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from normal_gamma_joints import penalty_of, prior_at, variables

from dpmlite.estimators.empirical_bayes import normal_gamma
from dpmlite.estimators.empirical_bayes.normal_gamma import fit_normal_gamma
from dpmlite.estimators.inputs.data import Data

SEEDS = st.integers(0, 10**6)


@given(SEEDS, st.booleans(), st.booleans())
@settings(max_examples=30)
def test_no_other_hyperparameters_near_have_a_lower_joint(seed, gaps, started):
    table, labels = drawn_table(seed, gaps)
    sums, scales = sums_and_scales(table, labels)
    rng = np.random.default_rng(seed)
    start = prior_at(variables(rng, scales), scales) if started else None
    prior, penalty = fit_normal_gamma(sums, scales, start)
    assert penalty == pytest.approx(penalty_of(prior, scales), rel=1e-9)
    joint = with_gradient(normal_gamma.joint_of(sums, scales).evaluate)
    log_ratio = np.log(prior["b0"] / prior["a0"])
    x = np.concatenate([np.log([prior["c0"], prior["a0"]]), log_ratio])
    least = joint(x)[0]
    for size in (0.01, 0.1, 1.0):
        for _ in range(20):
            other = x + rng.normal(scale=size, size=5)
            other[1] = max(other[1], np.log(normal_gamma.MIN_A0))
            assert joint(other)[0] > least - 1e-4


@given(SEEDS, st.booleans())
@settings(max_examples=30)
def test_units_origin_and_order_change_nothing_else(seed, gaps):
    table, labels = drawn_table(seed, gaps)
    rng = np.random.default_rng(seed)
    unit, origin = 10.0 ** rng.uniform(-12.0, 12.0, size=3), rng.normal(scale=100.0, size=3)
    rows, columns = rng.permutation(len(labels)), rng.permutation(3)
    X = ((table.values + origin) * unit)[rows][:, columns]
    prior, penalty = fit_normal_gamma(*sums_and_scales(table, labels), None)
    other, same = fit_normal_gamma(*sums_and_scales(Data(X.shape, X), 2 - labels[rows]), None)
    unit, origin = unit[columns], origin[columns]
    close = {"rel": 1e-2, "abs": 1e-3}  # minima are flat: the joint is known to 1e-6
    assert other["c0"] == pytest.approx(prior["c0"], **close)
    assert other["a0"] == pytest.approx(prior["a0"], **close)
    assert other["b0"] / unit**2 == pytest.approx(prior["b0"][columns], **close)
    assert other["m0"] / unit == pytest.approx(prior["m0"][columns] + origin, rel=1e-9, abs=1e-9)
    assert same == pytest.approx(penalty, **close)


@given(SEEDS)
@settings(max_examples=20)
def test_whole_weights_equal_repeated_rows(seed):
    table, labels = drawn_table(seed)
    times = np.random.default_rng(seed).integers(1, 4, size=len(labels))
    weighted = Data(table.shape, table.values, weights=times.astype(float))
    repeated = np.repeat(table.values, times, axis=0)
    one = fit_normal_gamma(*sums_and_scales(weighted, labels), None)[0]
    repeats = Data(repeated.shape, repeated)
    other = fit_normal_gamma(*sums_and_scales(repeats, np.repeat(labels, times)), None)[0]
    for key, value in one.items():
        assert other[key] == pytest.approx(value, rel=1e-2)


def test_constant_columns_take_no_part():
    table, labels = drawn_table(0)
    wide = np.column_stack([np.full(len(labels), 0.1), table.values, np.full(len(labels), -7.0)])
    prior, penalty = fit_normal_gamma(*sums_and_scales(table, labels), None)
    other, same = fit_normal_gamma(*sums_and_scales(Data(wide.shape, wide), labels), None)
    assert (other["c0"], other["a0"], same) == (prior["c0"], prior["a0"], penalty)
    assert other["b0"][1:4].tolist() == prior["b0"].tolist()
    assert other["m0"][[0, 4]].tolist() == [0.1, -7.0]
    assert other["b0"][[0, 4]] / other["a0"] == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("n_rows", [1, 30])
def test_where_all_rows_are_equal_the_hyperparameters_are_finite(n_rows):
    X = np.full((n_rows, 2), 0.1)
    prior, penalty = fit_normal_gamma(
        *sums_and_scales(Data(X.shape, X), np.zeros(n_rows, int)), None
    )
    assert all(np.isfinite(value).all() for value in prior.values())
    assert penalty == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("n_rows", [5, 50])
def test_clusters_of_equal_rows_do_not_shrink_beyond_all_bounds(n_rows):
    X = np.repeat(np.exp(np.arange(40.0) / 10.0), n_rows)[:, None]
    sums, scales = sums_and_scales(Data(X.shape, X), np.repeat(np.arange(40), n_rows))
    prior, _ = fit_normal_gamma(sums, scales, None)
    least = normal_gamma.MIN_VARIANCE_RATIO * scales.variance
    assert (prior["b0"] / prior["a0"] >= 0.999 * least).all()
    assert prior["a0"] >= 0.999 * normal_gamma.MIN_A0


def test_an_outlier_that_is_its_own_cluster_leaves_the_widths_as_they_are():
    table, labels = drawn_table(1)
    prior, _ = fit_normal_gamma(*sums_and_scales(table, labels), None)
    X, labels = np.vstack([table.values, np.full(3, -9999.0)]), np.append(labels, 3)
    other, _ = fit_normal_gamma(*sums_and_scales(Data(X.shape, X), labels), None)
    assert other["b0"] / other["a0"] == pytest.approx(prior["b0"] / prior["a0"], rel=1.0)
