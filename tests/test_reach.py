"""Slots that are far from all rows of a slot are, and to pass them over changes no sweep."""

import numpy as np
import pytest
from cases import needs_kernels, partition
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmlite.datasets import planted_gaussians


def pairs_of_clusters(n_rows, n_columns, n_pairs, gap, rng):
    """Far from each other, but for the two of a pair. One row in 500 is in the wrong one.

    As many others are about half-way between both.
    """
    X, pair = planted_gaussians(n_rows, n_columns, n_pairs, separation=12.0, random_state=rng)
    side = rng.integers(2, size=n_rows)
    across = rng.normal(size=(n_pairs, n_columns))
    across *= gap / np.linalg.norm(across, axis=1, keepdims=True)
    X += side[:, np.newaxis] * across[pair]
    middle = np.flatnonzero(rng.random(n_rows) < 0.002)
    means = np.array([X[(pair == p) & (side == 0)].mean(axis=0) for p in range(n_pairs)])
    part = rng.uniform(0.45, 0.55, size=(len(middle), 1))
    X[middle] = means[pair[middle]] + part * across[pair[middle]]
    return X, 2 * pair + (side ^ (rng.random(n_rows) < 0.002))


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_columns=st.sampled_from([1, 2, 7, 8, 20]),
    separation=st.sampled_from([1.0, 4.0, 12.0]),
    scale=st.sampled_from([1e-9, 1.0, 1e6]),
    wrong=st.sampled_from([0.0, 0.02, 0.3]),
)
def test_no_row_that_pays_little_to_stay_costs_less_in_a_slot_far_from_it(
    kernel, seed, n_columns, separation, scale, wrong
):
    from dpmlite._kernels import Reach

    rng = np.random.default_rng(seed)
    X, labels = planted_gaussians(600, n_columns, 8, separation=separation, random_state=rng)
    X = scale * (X * np.exp(rng.normal(0.0, 1.0, size=8))[labels, np.newaxis] + 100.0)
    moved = rng.random(len(X)) < wrong
    labels[moved] = rng.integers(8, size=moved.sum())
    state = partition(kernel, X, labels)
    most, near, level = Reach().near_slots(state)
    for i, k in enumerate(state.labels):
        costs = np.array(state.costs(i))
        far = np.delete(costs, near[k])
        assert k in near[k]
        assert not costs[k] <= most[k] or (far >= level).all()


def test_slots_far_apart_are_found_to_be(kernel):
    from dpmlite._kernels import Reach

    X, labels = pairs_of_clusters(3000, 8, 10, 3.0, np.random.default_rng(0))
    most, near, _ = Reach().near_slots(partition(kernel, X, labels))
    assert all({k, k ^ 1} <= set(slots) for k, slots in enumerate(near[:20]))
    assert sum(map(len, near[:20])) <= 60
    assert min(most[:20]) > -np.inf


@needs_kernels
@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_pairs", "gap"),
    [(40_000, 8, 60, 2.0), (40_000, 16, 30, 2.0), (40_000, 40, 12, 2.0), (200_000, 24, 12, 15.0)],
)
def test_sweeps_by_slot_move_the_same_rows(kernel, n_rows, n_columns, n_pairs, gap, n_threads):
    """Rows that do not lie side by side are looked at in their order."""
    X, labels = pairs_of_clusters(n_rows, n_columns, n_pairs, gap, np.random.default_rng(1))
    by_slot, in_order = (partition(kernel, each, labels) for each in (X, np.asfortranarray(X)))
    for turn in range(4):
        moves = kernel.map_dpm.sweep(by_slot, n_threads)
        assert moves == kernel.map_dpm.sweep(in_order, 1)
        assert np.array_equal(by_slot.labels, in_order.labels)
        for i in range(turn, n_rows, n_rows // 500):
            for state in (by_slot, in_order):
                k, costs = state.labels[i], state.costs(i)
                state.move(i, k ^ 1, costs[k ^ 1] - costs[k])


@needs_kernels
def test_rows_near_a_slot_that_is_new_in_a_sweep_are_looked_at(kernel):
    """Row 4060 founds a cluster: the next ones at this edge of theirs are to have their own."""
    rng = np.random.default_rng(0)
    means = 12.0 * np.stack(np.divmod(np.arange(256), 16), axis=1) - 93.7
    labels = rng.integers(256, size=1_100_000)
    within = rng.normal(size=(2 * len(labels), 2))
    within = within[(within**2).sum(axis=1) < 3.5][: len(labels)]
    X = means[labels] + within
    k = int(np.argmin((means**2).sum(axis=1)))
    founders = [4060, 5000, 5100, 6000]
    labels[founders] = k
    X[founders] = means[k] - 2.2 * means[k] / np.linalg.norm(means[k])
    prior = {"m0": [0.0] * 2, "c0": 0.05, "a0": 5.0, "b0": [5.0 * within.var()] * 2}
    for n_threads in (1, 2):
        state = partition(kernel, X, labels, alpha=5000.0, **prior)
        assert kernel.map_dpm.sweep(state, n_threads) == 4
        assert np.array_equal(np.asarray(state.labels)[founders], [256, 257, 258, 259])
