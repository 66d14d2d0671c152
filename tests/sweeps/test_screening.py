"""Rows that are known to stay do stay, and sweeps are those of visits one by one."""

import numpy as np
import pytest
from cases import POWERS, STARTS, partition, problems, start
from hypothesis import given, settings
from hypothesis import strategies as st
from rows_that_stay import would_stay

import dpmlite
from dpmlite.core.threads import use_threads
from dpmlite.datasets import planted_gaussians

if dpmlite.implementation == "cython":
    from dpmlite.sweeps._screening import screen


@settings(max_examples=100, deadline=None)
@given(
    problem=problems(max_rows=20, powers=POWERS),
    kind=st.sampled_from(STARTS),
    sweeps=st.integers(0, 2),
)
def test_who_is_known_to_stay_stays(kernel, problem, kind, sweeps):
    X, prior, alpha = problem
    state = partition(kernel, X, start(kind, len(X)), alpha, **prior)
    for _ in range(sweeps):
        kernel.map_dpm.sweep(state)
    known = np.array(screen(state, 0, len(X)), dtype=bool)
    assert not np.any(known & ~np.array(would_stay(state, 0, len(X)), dtype=bool))


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("n_columns", [2, 7, 8, 9, 40])
def test_where_clusters_are_apart_nearly_all_are_known(kernel, n_columns, offset):
    X, labels = planted_gaussians(2000, n_columns, 5, separation=12.0, random_state=1)
    X = X + offset
    state = partition(kernel, X, labels)
    assert np.mean(screen(state, 0, 2000)) > 0.97
    state = partition(kernel, X, np.roll(labels, 1))
    assert np.mean(screen(state, 0, 2000)) < 0.5


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(900, 1, 2), (3000, 2, 1), (3000, 2, 4), (2500, 5, 3), (3000, 12, 2)]),
    separation=st.sampled_from([0.3, 2.0, 6.0]),
    spread=st.sampled_from([0.0, 1.0, 3.0]),
    n_far=st.sampled_from([0, 2, 50]),
    offset=st.sampled_from([0.0, 1e7]),
    alpha=st.sampled_from([1.0, 1e-15]),
)
def test_large_clusters_keep_only_rows_that_stay(
    kernel, seed, shape, separation, spread, n_far, offset, alpha
):
    """Of widths that differ, with rows farther out than any bound tells."""
    rng = np.random.default_rng(seed)
    X, labels = planted_gaussians(*shape, separation=separation, random_state=rng)
    X *= np.exp(spread * rng.normal(size=shape[2]))[labels, np.newaxis]
    X[rng.choice(len(X), n_far, replace=False)] *= rng.choice([3.0, 30.0, 300.0])
    labels[rng.random(len(X)) < 0.05] = 0
    state = partition(kernel, X + offset, labels, alpha)
    known = np.flatnonzero(screen(state, 0, len(X)))
    costs = np.array([state.costs(i) for i in known]).reshape(len(known), state.component.n_slots)
    own = costs[np.arange(len(known)), labels[known]]
    assert np.all(costs.min(axis=1, initial=np.inf) >= own - 2e-8 - 1e-13 * np.abs(own))


def test_any_part_may_be_screened(kernel):
    X, labels = planted_gaussians(150, 3, 4, random_state=2)
    state = partition(kernel, X, labels)
    whole = screen(state, 0, 150)
    assert screen(state, 20, 131) == whole[20:131]
    assert screen(state, 7, 7) == []


def test_rows_without_a_label_or_alone_are_visited(kernel):
    X, labels = planted_gaussians(100, 2, 3, separation=12.0, random_state=3)
    labels[5], labels[9] = -1, 3
    answers = screen(partition(kernel, X, labels), 0, 100)
    assert not answers[5]
    assert not answers[9]


@pytest.mark.parametrize(("first", "last"), [(-1, 2), (2, 1), (0, 4)])
def test_rows_that_do_not_exist_are_an_error(kernel, first, last):
    state = partition(kernel, np.eye(3), [0, 0, 1])
    with pytest.raises(IndexError, match=rf"rows must be in 0\.\.3, got {first}\.\.{last}"):
        screen(state, first, last)


MOVING = {"much": 1.0, "little": 8.0}


@pytest.mark.parametrize("separation", MOVING.values(), ids=MOVING)
@pytest.mark.parametrize("kind", ["random", "unplaced", "single", "many"])
@pytest.mark.parametrize("power", POWERS)
def test_sweeps_are_those_of_the_plain_twin(twins, separation, kind, power):
    X, _ = planted_gaussians(300, 3, 12, separation=separation, random_state=4)
    starts = {
        "random": np.random.default_rng(0).integers(12, size=300),
        "unplaced": np.full(300, -1),
        "single": np.zeros(300),
        "many": np.arange(300) // 2,
    }
    states = [partition(twin, X, starts[kind], 5.0, power=power) for twin in twins]
    for _ in range(4):
        moves = [twin.map_dpm.sweep(state) for twin, state in zip(twins, states, strict=True)]
        assert moves[0] == moves[1]
        assert list(states[0].labels) == list(states[1].labels)
        assert states[0].neg_log_joint == pytest.approx(states[1].neg_log_joint, rel=1e-11)


@pytest.mark.parametrize("separation", MOVING.values(), ids=MOVING)
@pytest.mark.parametrize("power", POWERS)
def test_labels_do_not_depend_on_threads(kernel, separation, power):
    X, _ = planted_gaussians(20_000, 4, 30, separation=separation, random_state=5)
    labels = np.random.default_rng(0).integers(30, size=len(X))
    found = []
    for n_threads in (1, 2, 3, 8):
        state = partition(kernel, X, labels, power=power)
        with use_threads(n_threads):
            moves = [kernel.map_dpm.sweep(state) for _ in range(6)]
        found.append((moves, list(state.labels), state.neg_log_joint))
    assert found[0] == found[1] == found[2] == found[3]
    assert found[0][0][0] > 10_000


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("n_moved", [0, 1, 6, 60])
def test_threads_that_look_ahead_miss_no_move(kernel, n_moved, layout):
    X, labels = planted_gaussians(150_000, 3, 10, separation=9.0, random_state=7)
    X = np.asarray(X, order=layout)
    settled = partition(kernel, X, labels)
    while kernel.map_dpm.sweep(settled):
        pass
    labels = np.array(settled.labels)
    moved = np.random.default_rng(0).choice(len(X), n_moved, replace=False)
    labels[moved] = (labels[moved] + 1) % 10
    found = []
    for n_threads in (1, 2, 5):
        state = partition(kernel, X, labels)
        with use_threads(n_threads):
            found.append((kernel.map_dpm.sweep(state), list(state.labels)))
    assert found[0] == found[1] == found[2]
    assert n_moved <= found[0][0] <= 2 * n_moved + 6


def test_threads_see_what_moves_change(kernel):
    """Some rows move only because others have: clusters are small, and overlap."""
    X, labels = planted_gaussians(100_000, 2, 1000, separation=4.0, random_state=8)
    state = partition(kernel, X, labels, b0=np.ones(2))
    while kernel.map_dpm.sweep(state) > 12:
        pass
    for _ in range(8):
        found = []
        for n_threads in (1, 2, 5):
            again = partition(kernel, X, np.array(state.labels), b0=np.ones(2))
            with use_threads(n_threads):
                found.append((kernel.map_dpm.sweep(again), list(again.labels)))
        assert found[0] == found[1] == found[2]
        state = again


def test_threads_may_found_more_clusters_than_there_was_room_for(kernel):
    X, labels = planted_gaussians(20_000, 2, 300, separation=30.0, random_state=6)
    labels[labels >= 20] = -1
    found = []
    for n_threads in (1, 2):
        state = partition(kernel, X, labels, b0=np.full(2, 0.1))
        with use_threads(n_threads):
            moves = [kernel.map_dpm.sweep(state) for _ in range(3)]
        found.append((moves, list(state.labels), state.n_clusters))
    assert found[0] == found[1]
    assert found[0][2] > 100


@pytest.mark.parametrize("a0", [1e25, 1e35, 1e100])
def test_costs_beyond_single_precision_are_not_screened(kernel, a0):
    X, labels = planted_gaussians(70, 2, 2, random_state=0)  # more than a chunk
    state = partition(kernel, X, labels, a0=a0, b0=np.full(2, 100.0))
    for _ in range(3):
        kernel.map_dpm.sweep(state)
    assert min(state.labels) >= 0
    assert state.neg_log_joint == pytest.approx(state.exact_neg_log_joint(), rel=1e-9)
