"""Rows of products: those that are known to stay do, and sweeps are those of the plain twin."""

import numpy as np
import pytest
from cases import needs_kernels
from hypothesis import given, settings
from hypothesis import strategies as st
from screening_checks import (
    WEIGHTS,
    check_assignment,
    check_known_rows_stay,
    check_sweeps_in_an_order,
    check_sweeps_of_twins,
)

import dpmlite
from dpmlite.core.threads import use_threads

if dpmlite.implementation == "cython":
    from dpmlite.sweeps._screening import screen

N_LEVELS = 4
KINDS_OF_WEIGHTS = ["none", "near one", "whole", "skewed"]


def product(twin, power=1.0, n_numbers=3, n_densities=1, gaps=False):
    """Levels, numbers and counts, in this order; or more parts that have densities."""
    levels = twin.categorical.Categorical([[0.5] * N_LEVELS] * 2, power)
    family = twin.incomplete_normal_gamma.IncompleteNormalGamma
    family = family if gaps else twin.normal_gamma.NormalGamma
    numbers = family([0.0] * n_numbers, 0.05, 2.0, [1.0] * n_numbers, power)
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


def with_gaps(rng, X, gaps):
    """The table with a tenth of the numbers missing, if it has gaps."""
    if gaps:
        X[:, 2:-1][rng.random((len(X), X.shape[1] - 3)) < 0.1] = np.nan
    return X


def partition(twin, X, labels, power=1.0, weights="none", gaps=False):
    rows = twin.rows.Rows(X, WEIGHTS[weights](np.random.default_rng(0), len(X)))
    labels = np.array(labels, dtype=np.intp)
    return twin.partition.Partition(rows, labels, product(twin, power, gaps=gaps), 1.0)


@needs_kernels
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.sampled_from([20, 500, 2000]),
    weights=st.sampled_from(KINDS_OF_WEIGHTS),
    gaps=st.booleans(),
    separation=st.sampled_from([0.0, 1.0, 5.0]),
    told=st.sampled_from([0.0, 1.0]),
    power=st.sampled_from([1.0, 0.3]),
    n_moved=st.sampled_from([0, 3, 100]),
)
def test_who_is_known_to_stay_stays(
    kernel, seed, n_rows, weights, gaps, separation, told, power, n_moved
):
    rng = np.random.default_rng(seed)
    X, labels = table(rng, n_rows, separation, told)
    labels[rng.integers(n_rows, size=n_moved)] = rng.integers(5)
    state = partition(kernel, with_gaps(rng, X, gaps), labels, power, weights, gaps)
    check_known_rows_stay(screen(state, 0, n_rows), state)


@needs_kernels
@pytest.mark.parametrize("weights", ["none", "near one", "whole"])
@pytest.mark.parametrize("gaps", [False, True])
def test_where_numbers_are_apart_nearly_all_are_known(kernel, weights, gaps):
    rng = np.random.default_rng(1)
    X, labels = table(rng, 2000, 20.0)
    state = partition(kernel, with_gaps(rng, X, gaps), labels, weights=weights, gaps=gaps)
    assert np.mean(screen(state, 0, 2000)) > (0.75 if gaps else 0.9)


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


def starts(rng, truth):
    n = len(truth)
    return {
        "random": rng.integers(12, size=n),
        "unplaced": np.full(n, -1),
        "single": np.zeros(n),
        "near": np.where(rng.random(n) < 0.05, rng.integers(5, size=n), truth),
    }


@pytest.mark.parametrize("separation", [0.5, 6.0])
@pytest.mark.parametrize("start", ["random", "unplaced", "single", "near"])
@pytest.mark.parametrize(
    ("power", "weights", "gaps"),
    [(1.0, "none", False), (0.3, "none", False), (1.0, "near one", True), (0.3, "whole", True)],
)
def test_sweeps_are_those_of_the_plain_twin(twins, separation, start, power, weights, gaps):
    X, truth = table(np.random.default_rng(2), 250, separation)
    rng = np.random.default_rng(0)
    labels = starts(rng, truth)[start]
    X = with_gaps(rng, X, gaps)
    check_sweeps_of_twins(twins, lambda twin: partition(twin, X, labels, power, weights, gaps))


@needs_kernels
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.sampled_from([100, 1000, 3000]),
    separation=st.sampled_from([0.5, 2.0, 6.0]),
    start=st.sampled_from(["random", "unplaced", "single", "near"]),
    weights=st.sampled_from(KINDS_OF_WEIGHTS),
    gaps=st.booleans(),
)
def test_sweeps_are_those_of_visits_in_an_order(
    kernel, seed, n_rows, separation, start, weights, gaps
):
    """Rows that are visited in a given order are not screened."""
    rng = np.random.default_rng(seed)
    X, truth = table(rng, n_rows, separation)
    X, labels = with_gaps(rng, X, gaps), starts(rng, truth)[start]
    screened, visited = (partition(kernel, X, labels, weights=weights, gaps=gaps) for _ in range(2))
    check_sweeps_in_an_order(kernel, screened, visited)


@needs_kernels
@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    separation=st.sampled_from([0.5, 2.0, 8.0]),
    weights=st.sampled_from(KINDS_OF_WEIGHTS),
    gaps=st.booleans(),
    n_threads=st.integers(1, 3),
)
def test_rows_are_assigned_to_the_first_of_the_cheapest_slots(
    kernel, seed, separation, weights, gaps, n_threads
):
    """Some of them found clusters: they are far from all."""
    rng = np.random.default_rng(seed)
    X, labels = table(rng, 1000, separation)
    X = with_gaps(rng, X, gaps)
    known = partition(kernel, X, labels, weights=weights, gaps=gaps)
    known.tidy()
    X[rng.random(len(X)) < 0.2, 2:-1] *= 30.0
    weight, rows = WEIGHTS[weights](rng, len(X)), rng.choice(len(X), 60)
    check_assignment(kernel, known.component, X, weight, rows, n_threads)


@needs_kernels
@pytest.mark.parametrize("gaps", [False, True])
def test_threads_assign_what_one_does(kernel, gaps):
    """A table so large that threads share it."""
    rng = np.random.default_rng(3)
    X, labels = table(rng, 40_000, 1.0)
    known = partition(kernel, with_gaps(rng, X, gaps), labels, weights="near one", gaps=gaps)
    rows = kernel.rows.Rows(X, rng.uniform(0.5, 1.5, len(X)))
    found = [np.empty(len(X), dtype=np.intp) for _ in range(3)]
    for n_threads, out in enumerate(found, 1):
        with use_threads(n_threads):
            kernel.assignment.assign(rows, known.component, 1.0, out)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
