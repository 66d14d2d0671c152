"""Hyperparameters of "normal-inverse-wishart" with the least joint of given labels."""

import numpy as np
import pytest
from fitted_priors import drawn_table, sums_and_scales, with_gradient
from hypothesis import given, settings
from hypothesis import strategies as st
from normal_inverse_wishart_joints import penalty_of, prior_at, variables

from dpmlite.estimators.empirical_bayes import normal_inverse_wishart
from dpmlite.estimators.empirical_bayes.normal_inverse_wishart import fit_normal_inverse_wishart
from dpmlite.estimators.inputs.data import Data

SEEDS = st.integers(0, 10**6)
MAX_DISTANCE = 2.0**13


def fit(table, labels, power=1.0, start=None):
    sums, scales = sums_and_scales(table, labels, power)
    return fit_normal_inverse_wishart(sums, scales, start, MAX_DISTANCE)


@given(SEEDS, st.booleans())
@settings(max_examples=30)
def test_no_other_hyperparameters_near_have_a_lower_joint(seed, started):
    table, labels = drawn_table(seed)
    sums, scales = sums_and_scales(table, labels)
    rng = np.random.default_rng(seed)
    start = prior_at(variables(rng, scales), scales) if started else None
    prior, penalty = fit(table, labels, start=start)
    assert penalty == pytest.approx(penalty_of(prior, scales), rel=1e-9)
    joint = with_gradient(normal_inverse_wishart.joint_of(sums, scales).evaluate)
    r = prior["nu0"] - 2.0
    x = np.concatenate([np.log([prior["kappa0"], r]), np.log(np.diag(prior["psi0"]) / r)])
    least = joint(x)[0]
    for size in (0.01, 0.1, 1.0):
        for _ in range(20):
            other = x + rng.normal(scale=size, size=5)
            other[1] = max(other[1], 0.0)
            assert joint(other)[0] > least - 1e-4


@given(SEEDS)
@settings(max_examples=30)
def test_units_origin_and_order_change_nothing_else(seed):
    table, labels = drawn_table(seed)
    rng = np.random.default_rng(seed)
    unit, origin = 10.0 ** rng.uniform(-12.0, 12.0, size=3), rng.normal(scale=100.0, size=3)
    rows, columns = rng.permutation(len(labels)), rng.permutation(3)
    X = ((table.values + origin) * unit)[rows][:, columns]
    prior, penalty = fit(table, labels)
    other, same = fit(Data(X.shape, X), 2 - labels[rows])
    unit, origin = unit[columns], origin[columns]
    close = {"rel": 1e-2, "abs": 1e-3}  # minima are flat: the joint is known to 1e-6
    assert other["kappa0"] == pytest.approx(prior["kappa0"], **close)
    assert other["nu0"] == pytest.approx(prior["nu0"], **close)
    diagonal = np.diag(prior["psi0"])[columns]
    assert np.diag(other["psi0"]) / unit**2 == pytest.approx(diagonal, **close)
    assert other["m0"] / unit == pytest.approx(prior["m0"][columns] + origin, rel=1e-9, abs=1e-9)
    assert same == pytest.approx(penalty, **close)


def test_constant_columns_take_no_part():
    table, labels = drawn_table(0)
    wide = np.column_stack([np.full(len(labels), 0.1), table.values, np.full(len(labels), -7.0)])
    prior, penalty = fit(table, labels)
    other, same = fit(Data(wide.shape, wide), labels)
    assert (other["kappa0"], same) == (prior["kappa0"], penalty)
    assert other["nu0"] == pytest.approx(prior["nu0"] + 2.0)
    assert other["psi0"][1:4, 1:4] == pytest.approx(prior["psi0"])
    r = other["nu0"] - 4.0
    assert np.diag(other["psi0"])[[0, 4]] / r == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("n_rows", [1, 30])
def test_where_all_rows_are_equal_the_hyperparameters_are_finite(n_rows):
    X = np.full((n_rows, 2), 0.1)
    prior, penalty = fit(Data(X.shape, X), np.zeros(n_rows, int))
    assert all(np.isfinite(value).all() for value in prior.values())
    assert np.linalg.eigvalsh(prior["psi0"]).min() > 0.0
    assert penalty == pytest.approx(0.0, abs=1e-4)


def test_no_row_lies_beyond_the_reach_of_the_kernels():
    """A cell of 1e9 widths, in a cluster of its own."""
    table, labels = drawn_table(2)
    X, labels = np.vstack([table.values, np.full(3, -1e9)]), np.append(labels, 3)
    prior, _ = fit(Data(X.shape, X), labels)
    distance = np.abs(X - prior["m0"]) / np.sqrt(np.diag(prior["psi0"]))
    assert distance.max() <= MAX_DISTANCE
