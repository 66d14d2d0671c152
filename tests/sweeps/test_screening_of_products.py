"""Rows of products: those that are known to stay do, and sweeps are those of the plain twin."""

import numpy as np
import pytest
from cases import needs_kernels
from hypothesis import given, settings
from hypothesis import strategies as st
from slots import CLOSE

import dpmlite

if dpmlite.implementation == "cython":
    from dpmlite.sweeps._screening import screen

N_LEVELS = 4


def product(twin, power=1.0, n_numbers=3, n_densities=1):
    """Levels, numbers and counts, in this order; or more parts that have densities."""
    levels = twin.categorical.Categorical([[0.5] * N_LEVELS] * 2, power)
    numbers = twin.normal_gamma.NormalGamma([0.0] * n_numbers, 0.05, 2.0, [1.0] * n_numbers, power)
    counts = twin.poisson_gamma.PoissonGamma([1.0], [0.2], power)
    return twin.product.Product([levels, *[numbers] * n_densities, counts])


def table(rng, n_rows, separation, told=1.0, n_numbers=3):
    """Rows of five clusters, which the discrete columns tell apart, or not if `told` is 0."""
    labels = rng.integers(5, size=n_rows)
    numbers = rng.normal(size=(n_rows, n_numbers))
    numbers += separation * rng.normal(size=(5, n_numbers))[labels]
    shares = told * rng.dirichlet([0.3] * N_LEVELS, size=(5, 2)) + (1.0 - told) / N_LEVELS
    levels = (shares.cumsum(axis=2)[labels, :, :-1] < rng.random((n_rows, 2, 1))).sum(axis=2)
    counts = rng.poisson(rng.gamma(1.0, 5.0, size=5)[labels])
    X = np.column_stack([levels, numbers, counts])
    X[:, :2][rng.random((n_rows, 2)) < 0.1] = np.nan
    return np.ascontiguousarray(X), labels.astype(np.intp)


@needs_kernels
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.sampled_from([20, 500, 2000]),
    separation=st.sampled_from([0.0, 1.0, 5.0]),
    told=st.sampled_from([0.0, 1.0]),
    power=st.sampled_from([1.0, 0.3]),
    n_moved=st.sampled_from([0, 3, 100]),
)
def test_who_is_known_to_stay_stays(kernel, seed, n_rows, separation, told, power, n_moved):
    rng = np.random.default_rng(seed)
    X, labels = table(rng, n_rows, separation, told)
    labels[rng.integers(n_rows, size=n_moved)] = rng.integers(5)
    state = kernel.partition.Partition(X, labels, product(kernel, power), 1.0)
    known = np.flatnonzero(screen(state, 0, n_rows))
    costs = np.array([state.costs(i) for i in known]).reshape(len(known), state.component.n_slots)
    own = costs[np.arange(len(known)), np.array(state.labels)[known]]
    assert np.all(costs.min(axis=1, initial=np.inf) >= own - 2e-8 - 1e-13 * np.abs(own))


@needs_kernels
def test_where_numbers_are_apart_nearly_all_are_known(kernel):
    X, labels = table(np.random.default_rng(1), 2000, 20.0)
    state = kernel.partition.Partition(X, labels, product(kernel), 1.0)
    assert np.mean(screen(state, 0, 2000)) > 0.9


@needs_kernels
@pytest.mark.parametrize("n_densities", [0, 2])
def test_nothing_is_known_unless_one_part_has_densities(kernel, n_densities):
    X, labels = table(np.random.default_rng(1), 300, 20.0, n_numbers=3 * n_densities)
    component = product(kernel, n_densities=n_densities)
    state = kernel.partition.Partition(X, labels, component, 1.0)
    assert not any(screen(state, 0, 300))


@needs_kernels
def test_nothing_is_known_of_a_row_whose_discrete_score_is_not(kernel):
    """Rounding would show in the few events that are left without it."""
    X, labels = table(np.random.default_rng(1), 2000, 20.0)
    X[7, -1] = 1e9
    state = kernel.partition.Partition(X, labels, product(kernel), 1.0)
    assert np.isnan(state.component.log_predictive_member(X[7], labels[7]))
    assert not screen(state, 7, 8)[0]


@pytest.mark.parametrize("separation", [0.5, 6.0])
@pytest.mark.parametrize("start", ["random", "unplaced", "single", "near"])
@pytest.mark.parametrize("power", [1.0, 0.3])
def test_sweeps_are_those_of_the_plain_twin(twins, separation, start, power):
    X, truth = table(np.random.default_rng(2), 250, separation)
    rng = np.random.default_rng(0)
    labels = {
        "random": rng.integers(12, size=250),
        "unplaced": np.full(250, -1),
        "single": np.zeros(250),
        "near": np.where(rng.random(250) < 0.05, rng.integers(5, size=250), truth),
    }[start].astype(np.intp)
    found = []
    for twin in twins:
        state = twin.partition.Partition(X, labels.copy(), product(twin, power), 1.0)
        moves = [twin.map_dpm.sweep(state) for _ in range(3)]
        assert state.neg_log_joint == pytest.approx(state.exact_neg_log_joint(), **CLOSE)
        found.append((moves, np.array(state.labels).tolist()))
    assert found[0] == found[1]
