"""Rows with weights: those that are known to stay do, and sweeps are those of the plain twin."""

import numpy as np
import pytest
from cases import POWERS, empirical_prior, needs_kernels
from hypothesis import given, settings
from hypothesis import strategies as st
from screening_checks import WEIGHTS, check_assignment, check_known_rows_stay, check_sweeps_of_twins
from slots import labels_of

import dpmlite
from dpmlite.datasets import planted_gaussians

if dpmlite.implementation == "cython":
    from dpmlite.sweeps._screening import screen

SHAPES = [(20, 1, 2), (300, 2, 5), (2000, 1, 3), (2000, 5, 6), (1500, 9, 4), (1500, 20, 3)]


def partition(twin, X, labels, weights, alpha=1.0, power=1.0, **prior):
    family = twin.normal_gamma.NormalGamma(**(empirical_prior(X) | prior), power=power)
    rows = twin.rows.Rows(X, weights)
    return twin.partition.Partition(rows, np.array(labels, dtype=np.intp), family, alpha)


def table(rng, shape, separation):
    """Clusters of different widths, whose labels are mostly right."""
    X, labels = planted_gaussians(*shape, separation=separation, random_state=rng)
    X *= (0.2 + rng.random(shape[2]))[labels, np.newaxis]
    labels[rng.random(len(X)) < 0.05] = 0
    return np.ascontiguousarray(X), labels


@needs_kernels
@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from(SHAPES),
    separation=st.sampled_from([0.3, 2.0, 6.0, 20.0]),
    kind=st.sampled_from(list(WEIGHTS)),
    power=st.sampled_from(POWERS),
    alpha=st.sampled_from([1e-15, 1.0, 1e6]),
    offset=st.sampled_from([0.0, 1e7]),
)
def test_who_is_known_to_stay_stays(kernel, seed, shape, separation, kind, power, alpha, offset):
    rng = np.random.default_rng(seed)
    X, labels = table(rng, shape, separation)
    state = partition(kernel, X + offset, labels, WEIGHTS[kind](rng, len(X)), alpha, power)
    check_known_rows_stay(screen(state, 0, len(X)), state)


@needs_kernels
@pytest.mark.parametrize("kind", ["equal", "uniform", "whole"])
@pytest.mark.parametrize("n_columns", [2, 7, 8, 20])
def test_where_clusters_are_apart_nearly_all_are_known(kernel, kind, n_columns):
    X, labels = planted_gaussians(3000, n_columns, 4, separation=12.0, random_state=1)
    weights = WEIGHTS[kind](np.random.default_rng(0), 3000)
    assert np.mean(screen(partition(kernel, X, labels, weights), 0, 3000)) > 0.95
    assert np.mean(screen(partition(kernel, X, np.roll(labels, 1), weights), 0, 3000)) < 0.5


@needs_kernels
def test_nothing_is_known_of_weights_beyond_single_precision(kernel):
    X, labels = planted_gaussians(500, 2, 3, separation=12.0, random_state=1)
    weights = np.where(np.arange(500) == 0, 1e13, 1.5)
    assert not any(screen(partition(kernel, X, labels, weights), 0, 500))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    separation=st.sampled_from([1.0, 6.0]),
    start=st.sampled_from(["random", "unplaced", "single", "near", "many"]),
    kind=st.sampled_from(list(WEIGHTS)),
    power=st.sampled_from(POWERS),
)
def test_sweeps_are_those_of_the_plain_twin(twins, seed, separation, start, kind, power):
    rng = np.random.default_rng(seed)
    X, near = table(rng, (200, 3, 6), separation)
    labels = labels_of(start, rng, near)
    weights = WEIGHTS[kind](rng, 200)
    check_sweeps_of_twins(twins, lambda twin: partition(twin, X, labels, weights, 2.0, power))


@needs_kernels
@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(500, 1, 3), (1500, 3, 5), (1500, 12, 3), (300, 2, 40)]),
    separation=st.sampled_from([0.5, 2.0, 8.0]),
    kind=st.sampled_from(list(WEIGHTS)),
    power=st.sampled_from(POWERS),
)
def test_rows_are_assigned_to_the_first_of_the_cheapest_slots(
    kernel, seed, shape, separation, kind, power
):
    """Some of them found clusters: they are far from all."""
    rng = np.random.default_rng(seed)
    X, labels = table(rng, shape, separation)
    known = partition(kernel, X, labels, WEIGHTS[kind](rng, len(X)), 1.0, power)
    known.tidy()
    new = X * rng.choice([1.0, 1.0, 1.0, 30.0], size=(len(X), 1))
    weights = WEIGHTS[kind](rng, len(X))
    check_assignment(kernel, known.component, new, weights, rng.choice(len(X), 100))
