"""Hyperparameters of "normal-inverse-wishart": the objective is the joint, its minimum is found."""

import numpy as np
import pytest
from families import normal_inverse_wishart_log_marginal
from fitted_priors import by_differences, drawn_table, marginals, sums_and_scales
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmlite.estimators.data import Data
from dpmlite.estimators.empirical_bayes import normal_gamma, normal_inverse_wishart
from dpmlite.estimators.empirical_bayes.normal_inverse_wishart import fit_normal_inverse_wishart
from dpmlite.families.normal_inverse_wishart import NormalInverseWishart

SEEDS = st.integers(0, 10**6)
USED = np.ones(3, dtype=bool)
MAX_DISTANCE = 2.0**13


def fit(table, labels, power=1.0, start=None):
    sums, scales = sums_and_scales(table, labels, power)
    return fit_normal_inverse_wishart(sums, scales, start, MAX_DISTANCE)


def prior_at(x, scales):
    """The hyperparameters that the variables stand for."""
    return {
        "m0": scales.centre,
        "kappa0": float(np.exp(x[0])),
        "nu0": float(np.exp(x[1]) + len(scales.centre) - 1.0),
        "psi0": np.diag(np.exp(x[2:] + x[1])),
    }


def penalty_of(prior, scales):
    r = prior["nu0"] - len(scales.centre) + 1.0
    units = (
        (np.log(prior["kappa0"]) - np.log(0.05)) / 3.0,
        (np.log(r) - np.log(4.0)) / 1.5,
        (np.log(4.0 * np.diag(prior["psi0"]) / r / scales.variance) + 1.0) / 3.0,
    )
    return 0.5 * sum(np.sum(unit**2) for unit in units)


def variables(rng, scales):
    x = rng.normal(scale=1.5, size=5)
    x[1] = abs(x[1])
    x[2:] += np.log(scales.variance)
    return x


@given(SEEDS, st.booleans(), st.sampled_from([1.0, 0.3]))
@settings(max_examples=30)
def test_the_objective_is_minus_the_log_marginals_but_for_a_constant(seed, weighted, power):
    table, labels = drawn_table(seed, weighted=weighted)
    sums, scales = sums_and_scales(table, labels, power)
    objective = normal_inverse_wishart._Objective(sums, scales, USED)
    rng, differences = np.random.default_rng(seed), []
    for _ in range(2):
        x = variables(rng, scales)
        prior = prior_at(x, scales)
        marginal = marginals(NormalInverseWishart(**prior), table, labels, power)
        differences.append(objective(x)[0] - penalty_of(prior, scales) + marginal)
    assert differences[0] == pytest.approx(differences[1], rel=1e-9, abs=1e-7)


@given(SEEDS)
@settings(max_examples=20)
def test_the_objective_follows_the_ratio_of_normalising_constants(seed):
    table, labels = drawn_table(seed)
    sums, scales = sums_and_scales(table, labels)
    objective = normal_inverse_wishart._Objective(sums, scales, USED)
    rng, differences = np.random.default_rng(seed), []
    for _ in range(2):
        x = variables(rng, scales)
        prior = prior_at(x, scales)
        clusters = [table.values[labels == k] for k in range(3)]
        marginal = sum(normal_inverse_wishart_log_marginal(rows, prior) for rows in clusters)
        differences.append(objective(x)[0] - objective.penalty(x)[0] + marginal)
    assert differences[0] == pytest.approx(differences[1], rel=1e-9, abs=1e-7)


@given(SEEDS)
@settings(max_examples=30)
def test_the_gradient_is_that_of_the_objective(seed):
    sums, scales = sums_and_scales(*drawn_table(seed), 0.7)
    objective = normal_inverse_wishart._Objective(sums, scales, USED)
    x = variables(np.random.default_rng(seed), scales)
    assert objective(x)[1] == pytest.approx(by_differences(objective, x), rel=1e-5, abs=1e-5)
    penalty = objective.penalty
    assert penalty(x)[1] == pytest.approx(by_differences(penalty, x), rel=1e-6, abs=1e-7)


@given(SEEDS, st.booleans())
@settings(max_examples=30)
def test_no_other_hyperparameters_near_have_a_lower_joint(seed, started):
    table, labels = drawn_table(seed)
    sums, scales = sums_and_scales(table, labels)
    rng = np.random.default_rng(seed)
    start = prior_at(variables(rng, scales), scales) if started else None
    prior, penalty = fit(table, labels, start=start)
    assert penalty == pytest.approx(penalty_of(prior, scales), rel=1e-9)
    objective = normal_inverse_wishart._Objective(sums, scales, USED)
    r = prior["nu0"] - 2.0
    x = np.concatenate([np.log([prior["kappa0"], r]), np.log(np.diag(prior["psi0"]) / r)])
    least = objective(x)[0]
    for size in (0.01, 0.1, 1.0):
        for _ in range(20):
            other = x + rng.normal(scale=size, size=5)
            other[1] = max(other[1], 0.0)
            assert objective(other)[0] > least - 1e-4


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


def test_one_column_is_a_normal_gamma_one():
    """IW(psi0, nu0) of one column is the gamma of a0 = nu0 / 2 and b0 = psi0 / 2."""
    table, labels = drawn_table(3)
    table = Data((len(labels), 1), np.ascontiguousarray(table.values[:, :1]))
    prior, _ = fit(table, labels)
    sums, scales = sums_and_scales(table, labels)
    of_wishart = normal_inverse_wishart._Objective(sums, scales, USED[:1])
    of_gamma = normal_gamma._Objective(sums, scales, USED[:1])
    rng, differences = np.random.default_rng(0), []
    for _ in range(3):
        x = rng.normal(size=3)
        y = x - [0.0, np.log(2.0), 0.0]
        both = of_wishart(x)[0] - of_wishart.penalty(x)[0], of_gamma(y)[0] - of_gamma.penalty(y)[0]
        differences.append(both[0] - both[1])
    assert differences == pytest.approx([differences[0]] * 3, abs=1e-8)
    assert prior["nu0"] >= 1.0


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
