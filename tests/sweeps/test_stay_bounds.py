"""Rows that are known to stay do, whatever happens to the clusters after they were screened."""

import importlib

import numpy as np
import pytest
from cases import POWERS, partition
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmlite.core.threads import use_threads
from dpmlite.datasets import planted_gaussians


def swept(kernel, state, n_threads):
    """Rows that a sweep on some threads moves."""
    with use_threads(n_threads):
        return kernel.map_dpm.sweep(state)


def known_to_stay(state):
    """Whether a sweep that begins now would pass over each row; for each row."""
    stay_bounds = importlib.import_module("dpmlite.sweeps._stay_bounds")
    return stay_bounds.stay_bounds_of(state).known_to_stay(state)


def table(n_rows, n_columns, n_clusters, separation, rng, scale=1.0, offset=0.0):
    """Clusters of different sizes and widths, with labels that are mostly right."""
    X, labels = planted_gaussians(
        n_rows, n_columns, n_clusters, separation=separation, random_state=rng
    )
    X *= 0.2 + rng.random(n_clusters)[labels, np.newaxis]
    kept = rng.random(n_rows) < 0.2 + 0.8 * (rng.permutation(n_clusters)[labels] > n_clusters // 2)
    labels[rng.random(n_rows) < 0.02] = 0
    return np.ascontiguousarray(X[kept] * scale + offset), labels[kept]


def disturb(state, rng, kind):
    """Change some clusters other than by a sweep."""
    if kind == "rows":
        for i in rng.choice(state.n_rows, rng.integers(1, 6), replace=False):
            costs, k = state.costs(i), int(rng.integers(len(state.sizes)))
            if k != state.labels[i]:
                state.move(i, k, costs[k] - costs[state.labels[i]])
        state.tidy()
    elif kind == "alpha":
        state.set_alpha(state.alpha * float(rng.uniform(0.5, 2.0)))
    elif kind == "merge" and state.n_clusters > 2:
        j, k = rng.choice(np.flatnonzero(state.sizes), 2, replace=False)
        state.merge(int(j), int(k), 0.0)
        state.tidy()
    elif kind == "split":
        slot = int(np.argmax(state.sizes))
        members = np.flatnonzero(np.asarray(state.labels) == slot)
        part = state.part(members, np.arange(len(members)) % 2)
        state.replace([slot], members, part, 0.0)
        state.tidy()


def move_the_nearest(state, rng):
    """Of some rows, that which is nearly as well off elsewhere goes there."""
    rows = rng.choice(state.n_rows, min(state.n_rows, 50), replace=False)
    costs = np.array([state.costs(i) for i in rows])
    near, far = np.sort(costs, axis=1)[:, :2].T
    i = int(np.argmin(far - near))
    state.move(rows[i], int(np.argsort(costs[i])[1]), far[i] - near[i])


WEIGHTS = {
    "none": lambda rng, n: None,
    "equal": lambda rng, n: np.full(n, 2.0),
    "near one": lambda rng, n: rng.uniform(0.5, 1.5, n),
    "whole": lambda rng, n: rng.integers(1, 4, n).astype(float),
    "skewed": lambda rng, n: rng.lognormal(0.0, 1.5, n),
    "one is heavy": lambda rng, n: np.where(np.arange(n) == 0, 1e4, 1.0),
}
KINDS = ["", "rows", "alpha", "merge", "split"]
SHAPES = [(400, 1, 3), (500, 2, 8), (1200, 3, 5), (500, 9, 4), (400, 20, 6), (900, 2, 40)]
SHAPES += [(6000, 3, 90), (6000, 12, 90)]  # more than MANY_SLOTS


@settings(max_examples=300, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from(SHAPES),
    separation=st.sampled_from([0.5, 2.0, 4.0, 10.0]),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=8),
    power=st.sampled_from(POWERS),
    weighing=st.sampled_from(list(WEIGHTS)),
)
def test_remembered_bounds_change_no_sweep(kernel, seed, shape, separation, kinds, power, weighing):
    rng = np.random.default_rng(seed)
    X, labels = table(*shape, separation, rng)
    weights = WEIGHTS[weighing](rng, len(X))
    state = partition(kernel, X, labels, weights=weights, power=power)
    for kind in kinds:
        for _ in range(rng.integers(1, 6)):
            again = partition(kernel, X, state.labels, state.alpha, weights, power=power)
            assert kernel.map_dpm.sweep(state) == kernel.map_dpm.sweep(again)
            assert np.array_equal(state.labels, again.labels)
        disturb(state, rng, kind)


@pytest.mark.parametrize(("scale", "offset"), [(1e-12, 0.0), (1.0, 1e6), (1e9, 0.0)])
@pytest.mark.parametrize("shape", SHAPES[:4])
@pytest.mark.parametrize("weighing", ["none", "near one", "whole"])
def test_rows_known_to_stay_do(twins, shape, scale, offset, weighing):
    plain, kernel = twins
    n_known = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, labels = table(*shape, 2.0, rng, scale, offset * scale)
        weights = WEIGHTS[weighing](rng, len(X))
        state = partition(kernel, X, labels, weights=weights)
        kernel.map_dpm.converge(state, 50)
        for kind in rng.choice(KINDS, seed % 3):
            disturb(state, rng, kind)
            kernel.map_dpm.converge(state, 3)
        move_the_nearest(state, rng)
        known = np.flatnonzero(known_to_stay(state))
        judge = partition(plain, X, state.labels, state.alpha, weights)
        for i in sorted(known, key=lambda i: float(np.diff(np.sort(state.costs(i))[:2])[0]))[:10]:
            costs = judge.costs(i)
            assert min(costs) >= costs[judge.labels[i]] - 2e-8
        n_known += len(known)
    assert n_known > 100


@pytest.mark.parametrize("n_columns", [1, 2, 8])
@pytest.mark.parametrize("weighing", ["none", "near one", "whole"])
def test_where_nearly_nothing_moves_most_is_known(kernel, n_columns, weighing):
    X, labels = planted_gaussians(20_000, n_columns, 10, separation=3.0, random_state=0)
    weights = WEIGHTS[weighing](np.random.default_rng(1), len(X))
    state = partition(kernel, X, labels, weights=weights)
    while kernel.map_dpm.sweep(state):
        pass
    assert np.mean(known_to_stay(state)) > 2 / 3
    move_the_nearest(state, np.random.default_rng(0))  # and a sweep brings it back
    assert np.mean(known_to_stay(state)) > 2 / 3
    assert kernel.map_dpm.sweep(state) == 1
    assert np.mean(known_to_stay(state)) > 2 / 3


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("separation", [1.0, 2.0, 3.0])
def test_rows_between_clusters_are_known_too(kernel, separation, n_threads):
    """Bounds did not tell that they stay, but the costs of a visit did."""
    X, labels = planted_gaussians(20_000, 8, 10, separation=separation, random_state=0)
    state = partition(kernel, X, labels)
    while swept(kernel, state, n_threads):
        pass
    screening = importlib.import_module("dpmlite.sweeps._screening")
    assert not all(screening.screen(state, 0, state.n_rows))
    assert all(known_to_stay(state))


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize(("n_columns", "factor"), [(1, 1e4), (2, 1e6), (4, 1e8)])
def test_all_rows_are_bounded_again_once_a_slot_has_drifted_far(
    kernel, n_columns, factor, n_threads
):
    """The empty one: rows far from their clusters would rather found some now, and come last."""
    X, labels = planted_gaussians(20_000, n_columns, 12, separation=3.0, random_state=0)
    means = np.array([X[labels == k].mean(axis=0) for k in range(12)])
    order = np.argsort(np.linalg.norm(X - means[labels], axis=1))
    state = partition(kernel, X := X[order], labels[order])
    while swept(kernel, state, n_threads):
        pass
    assert np.mean(known_to_stay(state)) > 0.9
    state.set_alpha(state.alpha * factor)
    again = partition(kernel, X, state.labels, state.alpha)
    assert swept(kernel, state, n_threads) == kernel.map_dpm.sweep(again) > 20
    assert np.array_equal(state.labels, again.labels)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("weighing", ["none", "near one"])
@pytest.mark.parametrize(("n_columns", "n_clusters"), [(1, 3), (2, 20), (8, 70)])
def test_clusters_that_drift_far_within_a_sweep(kernel, n_columns, n_clusters, weighing, n_threads):
    """As one in two hundred rows comes back: a stage begins while threads screen ahead."""
    rng = np.random.default_rng(0)
    for separation in (1.0, 2.0, 6.0):
        X, labels = planted_gaussians(
            20_000, n_columns, n_clusters, separation=separation, random_state=rng
        )
        weights = WEIGHTS[weighing](rng, len(X))
        state = partition(kernel, X, labels, weights=weights)
        for _ in range(6):
            again = partition(kernel, X, state.labels, state.alpha, weights)
            assert swept(kernel, state, n_threads) == kernel.map_dpm.sweep(again)
            assert np.array_equal(state.labels, again.labels)
            target = int(rng.integers(state.n_clusters))
            for i in rng.choice(state.n_rows, 100, replace=False):
                if state.labels[i] != target:
                    state.move(i, target, 0.0)
            state.tidy()


@pytest.mark.parametrize("kind", ["merge", "split"])
@pytest.mark.parametrize("n_columns", [1, 2, 8, 20])
def test_after_a_change_of_a_cluster_all_rows_are_screened_again(kernel, n_columns, kind):
    """Whatever numbers the others get."""
    X, labels = planted_gaussians(20_000, n_columns, 40, separation=8.0, random_state=0)
    state = partition(kernel, X, labels)
    while kernel.map_dpm.sweep(state):
        pass
    assert np.mean(known_to_stay(state)) > 2 / 3
    sizes = state.sizes
    disturb(state, np.random.default_rng(0), kind)
    assert state.sizes != sizes
    assert not any(known_to_stay(state))
    again = partition(kernel, X, state.labels, state.alpha)
    assert kernel.map_dpm.sweep(state) == kernel.map_dpm.sweep(again)
    assert np.array_equal(state.labels, again.labels)


@pytest.mark.parametrize("change", ["a row moves", "a merge", "a replacement", "other labels"])
def test_rows_that_have_moved_are_not_known_to_stay(kernel, change):
    """The partition has to tell of each."""
    X, labels = planted_gaussians(2000, 2, 5, separation=8.0, random_state=0)
    state = partition(kernel, X, labels)
    while kernel.map_dpm.sweep(state):
        pass
    assert all(known_to_stay(state))
    members, other = state.members(0), state.members(1)
    if change == "a row moves":
        moved = members[:1]
        state.move(moved[0], 1, 0.0)
    elif change == "a merge":
        moved = members
        state.merge(1, 0, 0.0)
    elif change == "a replacement":
        moved = members
        rows = np.array(members)
        state.replace([0], rows, state.part(rows, np.arange(len(rows)) % 2), 0.0)
    else:
        moved = [*members, *other]
        state.labels[members], state.labels[other] = 1, 0
        state.rebuild()
    known = known_to_stay(state)
    assert not any(known[i] for i in moved)
    if change == "a row moves":
        assert sum(known) > len(X) // 2


def test_nothing_is_known_where_no_bound_holds(kernel):
    """Small clusters, rows without a label, and families that are not screened."""
    X, labels = planted_gaussians(40, 2, 10, separation=9.0, random_state=0)
    state = partition(kernel, X, labels)
    for _ in range(3):
        kernel.map_dpm.sweep(state)
    assert not any(known_to_stay(state))
    state = partition(kernel, X, np.full(40, -1))
    kernel.map_dpm.sweep(state)
    assert not any(known_to_stay(state))
    family = kernel.normal_known_variance.NormalKnownVariance([0.0, 0.0], [1.0, 1.0], [1.0, 1.0])
    state = kernel.partition.Partition(X, labels.astype(np.intp), family, 1.0)
    kernel.map_dpm.sweep(state)
    assert state.listeners == []
