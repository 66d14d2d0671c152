"""Slots that are not near are far from all rows of a slot, and screening by slot moves no row."""

import importlib

import numpy as np
import pytest
from cases import needs_kernels, partition
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmlite.core.threads import use_threads
from dpmlite.datasets import planted_gaussians

pytestmark = needs_kernels


def near_slots(state):
    """Largest stay cost and near slots of each slot, and the level."""
    return importlib.import_module("dpmlite.sweeps._near_slots").near_slots(state)


def n_rows_by_slot(state):
    """Rows that the last sweep screened by slot."""
    stay_bounds = importlib.import_module("dpmlite.sweeps._stay_bounds")
    return stay_bounds.stay_bounds_of(state).n_rows_by_slot


def swept(kernel, state, n_threads=1):
    """Rows that a sweep on some threads moves."""
    with use_threads(n_threads):
        return kernel.map_dpm.sweep(state)


def pairs_of_clusters(n_rows, n_columns, n_pairs, gap, rng):
    """Pairs of clusters, about `gap` apart, and farther from others.

    One row in 500 has the label of the other cluster, and another one lies about half-way.
    """
    X, pair = planted_gaussians(n_rows, n_columns, n_pairs, separation=12.0, random_state=rng)
    side = rng.integers(2, size=n_rows)
    across = rng.normal(size=(n_pairs, n_columns))
    across *= gap / np.linalg.norm(across, axis=1, keepdims=True)
    across *= rng.uniform(0.9, 1.1, size=(n_pairs, 1))
    X += side[:, np.newaxis] * across[pair]
    middle = np.flatnonzero(rng.random(n_rows) < 0.002)
    means = np.array([X[(pair == p) & (side == 0)].mean(axis=0) for p in range(n_pairs)])
    part = rng.uniform(0.45, 0.55, size=(len(middle), 1))
    X[middle] = means[pair[middle]] + part * across[pair[middle]]
    return X, 2 * pair + (side ^ (rng.random(n_rows) < 0.002))


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_columns=st.sampled_from([1, 2, 7, 8, 20]),
    separation=st.sampled_from([1.0, 4.0, 12.0]),
    scale=st.sampled_from([1e-9, 1.0, 1e6]),
    wrong=st.sampled_from([0.0, 0.02, 0.3]),
)
def test_rows_that_cost_little_to_stay_cost_the_level_in_far_slots(
    kernel, seed, n_columns, separation, scale, wrong
):
    rng = np.random.default_rng(seed)
    X, labels = planted_gaussians(600, n_columns, 8, separation=separation, random_state=rng)
    widths = np.exp(rng.normal(0.0, 1.0, size=(8, 1)) + rng.normal(0.0, 0.3, size=(8, n_columns)))
    X = scale * (X * widths[labels] + 100.0)
    moved = rng.random(len(X)) < wrong
    labels[moved] = rng.integers(8, size=moved.sum())
    state = partition(kernel, X, labels)
    max_stay, near, level = near_slots(state)
    for i, k in enumerate(state.labels):
        costs = np.array(state.costs(i))
        assert k in near[k]
        assert costs[k] >= max_stay[k] or (np.delete(costs, near[k]) >= level).all()


def test_slots_far_apart_are_not_near(kernel):
    X, labels = pairs_of_clusters(3000, 8, 10, 3.0, np.random.default_rng(0))
    max_stay, near, _ = near_slots(partition(kernel, X, labels))
    assert all({k, k ^ 1} <= set(slots) for k, slots in enumerate(near[:20]))
    assert sum(map(len, near[:20])) <= 60
    assert min(max_stay[:20]) > -np.inf


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_pairs", "gap"),
    [(40_000, 8, 30, 5.0), (40_000, 16, 30, 5.0), (40_000, 40, 12, 5.0), (60_000, 24, 12, 17.0)],
)
def test_sweeps_by_slot_move_the_rows_of_others(kernel, n_rows, n_columns, n_pairs, gap, n_threads):
    """Tables that are stored by column are never screened by slot."""
    X, labels = pairs_of_clusters(n_rows, n_columns, n_pairs, gap, np.random.default_rng(1))
    by_slot, in_order = (partition(kernel, each, labels) for each in (X, np.asfortranarray(X)))
    n_by_slot = 0
    for turn in range(4):
        moves = swept(kernel, by_slot, n_threads)
        n_by_slot += n_rows_by_slot(by_slot)
        assert moves == swept(kernel, in_order)
        assert n_rows_by_slot(in_order) == 0
        assert np.array_equal(by_slot.labels, in_order.labels)
        for i in range(turn, n_rows, n_rows // 500):
            for state in (by_slot, in_order):
                k, costs = state.labels[i], state.costs(i)
                state.move(i, k ^ 1, costs[k ^ 1] - costs[k])
    assert n_by_slot > n_rows / 3


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(6000, 16, 20), (8000, 8, 40), (6000, 40, 10), (8000, 33, 40)]),
    separation=st.sampled_from([3.0, 5.0, 8.0]),
    wrong=st.sampled_from([0.0, 0.002, 0.02]),
)
def test_screening_by_slot_changes_no_label(kernel, seed, shape, separation, wrong):
    """Clusters differ in width and size; some labels are wrong, and some rows have none."""
    rng = np.random.default_rng(seed)
    n_rows, n_columns, n_clusters = shape
    X, labels = planted_gaussians(*shape, separation=separation, random_state=rng)
    X *= np.exp(rng.normal(0.0, 0.4, size=(n_clusters, n_columns)))[labels]
    moved = rng.random(n_rows) < wrong
    labels[moved] = rng.integers(-1, n_clusters, size=moved.sum())
    by_slot, in_order = (partition(kernel, each, labels) for each in (X, np.asfortranarray(X)))
    for _ in range(3):
        assert swept(kernel, by_slot) == swept(kernel, in_order)
        assert np.array_equal(by_slot.labels, in_order.labels)


def test_rows_far_out_in_their_cluster_leave_it_for_a_far_one(kernel):
    """They cost more than `max_stay` to stay, but less than the level."""
    rng = np.random.default_rng(0)
    means = 22.5 / np.sqrt(2.0) * np.eye(6, 64)
    labels = rng.integers(6, size=60_000)
    X = means[labels] + rng.normal(size=(len(labels), 64))
    rows = np.arange(1000, len(labels), 1000)
    nearest = (labels[rows] + 1) % 6
    X[rows] = 0.49 * means[labels[rows]] + 0.51 * means[nearest]
    state = partition(kernel, X, labels)
    max_stay, near, level = near_slots(state)
    assert all(near[k] == [k] for k in range(6))
    costs = np.array([state.costs(i)[k] for i, k in zip(rows, labels[rows], strict=True)])
    assert ((np.array(max_stay)[labels[rows]] < costs) & (costs < level)).all()
    state = partition(kernel, X, labels)
    swept(kernel, state)
    assert n_rows_by_slot(state) > len(labels) / 2
    assert np.array_equal(np.asarray(state.labels)[rows], nearest)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_rows_near_a_slot_that_is_new_in_a_sweep_found_clusters(kernel, n_threads):
    """The first founder takes the empty slot; the others, at the same edge, found their own."""
    rng = np.random.default_rng(0)
    means = 12.0 * np.stack(np.divmod(np.arange(256), 16), axis=1) - 93.7
    labels = rng.integers(256, size=300_000)
    within = rng.normal(size=(2 * len(labels), 2))
    within = within[(within**2).sum(axis=1) < 3.5][: len(labels)]
    X = means[labels] + within
    k = int(np.argmin((means**2).sum(axis=1)))
    founders = [4060, 5000, 5100, 6000]
    labels[founders] = k
    X[founders] = means[k] - 2.2 * means[k] / np.linalg.norm(means[k])
    prior = {"m0": [0.0] * 2, "c0": 0.05, "a0": 5.0, "b0": [5.0 * within.var()] * 2}
    state = partition(kernel, X, labels, alpha=1360.0, **prior)
    assert swept(kernel, state, n_threads) == 4
    assert n_rows_by_slot(state) > max(founders)
    assert np.array_equal(np.asarray(state.labels)[founders], [256, 257, 258, 259])
