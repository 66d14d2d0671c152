"""Rows with gaps: those that are known to stay do, and sweeps are those of visits one by one.

They have weights or none.
"""

import numpy as np
import pytest
from cases import POWERS, needs_kernels
from hypothesis import given, settings
from hypothesis import strategies as st
from screening_checks import (
    WEIGHTS,
    check_assignment,
    check_known_rows_stay,
    check_sweeps_in_an_order,
    check_sweeps_of_twins,
)
from slots import labels_of

import dpmlite
from dpmlite.core.threads import use_threads
from dpmlite.datasets import planted_gaussians

if dpmlite.implementation == "cython":
    from dpmlite.sweeps._screening import screen

GAPS = {
    "none": lambda rng, labels, d: np.zeros((len(labels), d), dtype=bool),
    "a tenth": lambda rng, labels, d: rng.random((len(labels), d)) < 0.1,
    "uneven": lambda rng, labels, d: rng.random((len(labels), d)) < rng.random(d) ** 0.2,
    "a column of a cluster": lambda rng, labels, d: np.outer(labels == 0, np.arange(d) == 0),
    "most of a column": lambda rng, labels, d: np.outer(
        rng.random(len(labels)) < 0.99, np.arange(d) == 0
    ),
}
SHAPES = [(20, 1, 2), (300, 2, 5), (2000, 1, 3), (2000, 5, 6), (1500, 9, 4), (1500, 20, 3)]


def table(rng, shape, separation, kind):
    """Clusters of different widths with gaps, whose labels are mostly right."""
    X, labels = planted_gaussians(*shape, separation=separation, random_state=rng)
    X *= (0.2 + rng.random(shape[2]))[labels, np.newaxis]
    X[GAPS[kind](rng, labels, shape[1])] = np.nan
    labels[rng.random(len(X)) < 0.05] = 0
    return np.ascontiguousarray(X), labels


def component(twin, X, power=1.0):
    """Of the moments of the values that are there, or of a standard normal."""
    there = ~np.isnan(X)
    n = np.maximum(there.sum(axis=0), 1)
    mean = np.where(there, X, 0.0).sum(axis=0) / n
    variance = np.where(there, (X - mean) ** 2, 0.0).sum(axis=0) / n
    b0 = np.where(variance > 0.0, variance, 1.0)
    return twin.incomplete_normal_gamma.IncompleteNormalGamma(mean, 10 / len(X), 1.0, b0, power)


def partition(twin, X, labels, alpha=1.0, power=1.0, weights="none", seed=0):
    rows = twin.rows.Rows(X, WEIGHTS[weights](np.random.default_rng(seed), len(X)))
    return twin.partition.Partition(
        rows, np.array(labels, dtype=np.intp), component(twin, X, power), alpha
    )


@needs_kernels
@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from(SHAPES),
    separation=st.sampled_from([0.3, 2.0, 6.0, 20.0]),
    kind=st.sampled_from(list(GAPS)),
    power=st.sampled_from(POWERS),
    alpha=st.sampled_from([1e-15, 1.0, 1e6]),
    offset=st.sampled_from([0.0, 1e7]),
    n_far=st.sampled_from([0, 9]),
    weights=st.sampled_from(list(WEIGHTS)),
)
def test_who_is_known_to_stay_stays(
    kernel, seed, shape, separation, kind, power, alpha, offset, n_far, weights
):
    rng = np.random.default_rng(seed)
    X, labels = table(rng, shape, separation, kind)
    X[rng.choice(len(X), n_far, replace=False)] *= rng.choice([3.0, 30.0, 300.0])
    state = partition(kernel, X + offset, labels, alpha, power, weights)
    check_known_rows_stay(screen(state, 0, len(X)), state)


@needs_kernels
@pytest.mark.parametrize("kind", GAPS)
@pytest.mark.parametrize(
    ("n_columns", "weights"),
    [(2, "none"), (7, "none"), (8, "none"), (20, "none"), (2, "whole"), (9, "whole")],
)
def test_rows_that_are_clearly_of_their_cluster_are_known(kernel, kind, n_columns, weights):
    """Nearly all that cost five nats more elsewhere; not if they are elsewhere."""
    rng = np.random.default_rng(1)
    X, labels = planted_gaussians(3000, n_columns, 4, separation=12.0, random_state=rng)
    X[GAPS[kind](rng, labels, n_columns)] = np.nan
    state = partition(kernel, X, labels, weights=weights)
    known = np.array(screen(state, 0, 3000), dtype=bool)
    clear = []
    for i in range(600):
        costs = np.array(state.costs(i))
        own = costs[labels[i]]
        clear.append(np.delete(costs, labels[i]).min() > own + 5.0)
    assert np.mean(clear) > 0.1
    assert np.mean(known[:600][clear]) > 0.95
    away = np.array(
        screen(partition(kernel, X, np.roll(labels, 1), weights=weights), 0, 3000), dtype=bool
    )
    assert np.mean(away[:600][clear]) < 0.5


@needs_kernels
@pytest.mark.parametrize(
    "unusual",
    [{"weights": np.where(np.arange(300) == 0, 1e13, 1.5)}, {"a0": 1e35}],
)
def test_nothing_is_known_of_the_unusual(kernel, unusual):
    X, labels = table(np.random.default_rng(1), (300, 2, 3), 12.0, "a tenth")
    family = kernel.incomplete_normal_gamma.IncompleteNormalGamma(
        [0.0, 0.0], 0.1, unusual.get("a0", 1.0), [1.0, 1.0]
    )
    rows = kernel.rows.Rows(X, unusual["weights"]) if "weights" in unusual else X
    state = kernel.partition.Partition(rows, labels.astype(np.intp), family, 1.0)
    assert not any(screen(state, 0, 300))


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    separation=st.sampled_from([1.0, 6.0]),
    start=st.sampled_from(["random", "unplaced", "single", "near", "many"]),
    kind=st.sampled_from(list(GAPS)),
    power=st.sampled_from(POWERS),
    weights=st.sampled_from(list(WEIGHTS)),
)
def test_sweeps_are_those_of_the_plain_twin(twins, seed, separation, start, kind, power, weights):
    rng = np.random.default_rng(seed)
    X, near = table(rng, (130, 3, 6), separation, kind)
    labels = labels_of(start, rng, near)
    check_sweeps_of_twins(twins, lambda twin: partition(twin, X, labels, 2.0, power, weights))


@needs_kernels
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([*SHAPES, (300, 2, 80)]),
    separation=st.sampled_from([1.0, 6.0]),
    start=st.sampled_from(["random", "unplaced", "single", "near", "many"]),
    kind=st.sampled_from(list(GAPS)),
    weights=st.sampled_from(list(WEIGHTS)),
)
def test_sweeps_are_those_of_visits_in_an_order(
    kernel, seed, shape, separation, start, kind, weights
):
    """Rows that are visited in a given order are not screened."""
    rng = np.random.default_rng(seed)
    X, near = table(rng, shape, separation, kind)
    labels = labels_of(start, rng, near)
    screened, visited = (partition(kernel, X, labels, weights=weights) for _ in range(2))
    check_sweeps_in_an_order(kernel, screened, visited)


@needs_kernels
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(500, 1, 3), (1500, 3, 5), (1500, 12, 3), (300, 2, 40)]),
    separation=st.sampled_from([0.5, 2.0, 8.0]),
    kind=st.sampled_from(list(GAPS)),
    power=st.sampled_from(POWERS),
    n_threads=st.integers(1, 3),
)
def test_rows_are_assigned_to_the_first_of_the_cheapest_slots(
    kernel, seed, shape, separation, kind, power, n_threads
):
    """Some of them found clusters: they are far from all."""
    rng = np.random.default_rng(seed)
    X, labels = table(rng, shape, separation, kind)
    known = partition(kernel, X, labels, 1.0, power)
    known.tidy()
    new = X * rng.choice([1.0, 1.0, 1.0, 30.0], size=(len(X), 1))
    rows = rng.choice(len(X), 100)
    check_assignment(kernel, known.component, new, None, rows, n_threads)


@needs_kernels
def test_threads_assign_what_one_does(kernel):
    """A table so large that threads share it."""
    rng = np.random.default_rng(3)
    X, labels = table(rng, (40_000, 6, 8), 2.0, "a tenth")
    known = partition(kernel, X, labels)
    found = [np.empty(len(X), dtype=np.intp) for _ in range(3)]
    for n_threads, out in enumerate(found, 1):
        with use_threads(n_threads):
            kernel.assignment.assign(X, known.component, 1.0, out)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
