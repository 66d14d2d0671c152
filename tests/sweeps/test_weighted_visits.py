"""Rows with weights in full-covariance clusters: those passed over stay, whatever they weigh."""

import numpy as np
from cases import POWERS, needs_kernels
from hypothesis import given, settings
from hypothesis import strategies as st
from screening_checks import WEIGHTS, check_assignment, check_sweeps_of_twins

from dpmlite.datasets import planted_gaussians

KINDS_OF_WEIGHTS = ["equal", "near one", "whole", "light", "skewed", "one is heavy"]


def partition(twin, X, labels, weights, power, alpha=1.0):
    n_columns = X.shape[1]
    family = twin.normal_inverse_wishart.NormalInverseWishart(
        X.mean(axis=0), 0.05, n_columns + 2.0, np.cov(X.T).reshape(n_columns, n_columns), power
    )
    rows = twin.rows.Rows(X, weights)
    return twin.partition.Partition(rows, np.array(labels, dtype=np.intp), family, alpha)


def table(rng, n, n_columns, n_clusters, separation):
    """Correlated clusters, whose labels are mostly right."""
    X, labels = planted_gaussians(n, n_columns, n_clusters, separation=separation, random_state=rng)
    X = X @ (np.eye(n_columns) + 0.3 * rng.normal(size=(n_columns, n_columns)))
    labels[rng.random(n) < 0.03] = 0
    return np.ascontiguousarray(X), labels


@needs_kernels
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(40, 1, 2), (300, 2, 5), (1500, 3, 4), (700, 6, 3), (600, 2, 40)]),
    separation=st.sampled_from([1.0, 3.0, 8.0]),
    kind=st.sampled_from(KINDS_OF_WEIGHTS),
    power=st.sampled_from(POWERS),
    alpha=st.sampled_from([1e-3, 1.0, 1e5]),
)
def test_sweeps_are_those_of_visits_in_all_slots(
    kernel, seed, shape, separation, kind, power, alpha
):
    """A sweep in a given order passes over no row."""
    rng = np.random.default_rng(seed)
    X, labels = table(rng, *shape, separation)
    weights = WEIGHTS[kind](rng, len(X))
    ours = partition(kernel, X, labels, weights, power, alpha)
    for _ in range(4):
        theirs = partition(kernel, X, ours.labels, weights, power, alpha)
        expected = kernel.map_dpm.sweep(theirs, np.arange(len(X)))
        assert kernel.map_dpm.sweep(ours) == expected
        assert np.array_equal(ours.labels, theirs.labels)


@needs_kernels
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(200, 1, 2), (300, 3, 5), (300, 2, 40)]),
    separation=st.sampled_from([1.0, 8.0]),
    kind=st.sampled_from(KINDS_OF_WEIGHTS),
    power=st.sampled_from(POWERS),
)
def test_rows_are_assigned_to_the_first_of_the_cheapest_slots(
    kernel, seed, shape, separation, kind, power
):
    """Some of them found clusters: they are far from all."""
    rng = np.random.default_rng(seed)
    X, labels = table(rng, *shape, separation)
    known = partition(kernel, X, labels, WEIGHTS[kind](rng, len(X)), power)
    known.tidy()
    new = X * rng.choice([1.0, 1.0, 1.0, 30.0], size=(len(X), 1))
    weights = WEIGHTS[kind](rng, len(X))
    check_assignment(kernel, known.component, new, weights, rng.choice(len(X), 50))


@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(KINDS_OF_WEIGHTS),
    power=st.sampled_from(POWERS),
)
def test_sweeps_are_those_of_the_plain_twin(twins, seed, kind, power):
    rng = np.random.default_rng(seed)
    X, labels = table(rng, 60, 2, 3, 4.0)
    weights = WEIGHTS[kind](rng, len(X))
    check_sweeps_of_twins(twins, lambda twin: partition(twin, X, labels, weights, power))
