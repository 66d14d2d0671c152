"""Divisions: of all rows at once, or judged by a part of them first."""

import time
from array import array

import numpy as np
import pytest
from cases import POWERS, build, needs_kernels, problems
from hypothesis import given
from hypothesis import strategies as st

from dpmlite import families
from dpmlite.core.threads import use_threads
from dpmlite.partition import Partition


@given(problem=problems(), data=st.data())
def test_members_are_listed_by_slot(twin, problem, data):
    X, prior, alpha = problem
    labels = data.draw(st.lists(st.integers(-1, 3), min_size=len(X), max_size=len(X)))
    partition = build(twin, X, labels, prior, alpha)
    slots = data.draw(st.sets(st.integers(0, partition.component.n_slots - 1)))
    lists = twin.division.member_lists(partition, slots)
    assert {k: list(members) for k, members in lists.items()} == {
        k: partition.members(k) for k in slots
    }


@needs_kernels
@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("n_rows", [131_072, 131_073])
def test_members_of_many_rows_are_listed_on_threads(n_rows, n_threads):
    labels = np.random.default_rng(0).integers(-1, 5, size=n_rows)
    partition = Partition(
        np.zeros((n_rows, 1)), labels, families.NormalGamma(np.zeros(1), 1.0, 1.0, np.ones(1)), 1.0
    )
    from dpmlite.moves._division import member_lists

    with use_threads(n_threads):
        lists = member_lists(partition, [0, 3, 5])
    for k, members in lists.items():
        np.testing.assert_array_equal(members, np.flatnonzero(labels == k))
    assert list(lists) == [0, 3, 5]


@given(problem=problems(powers=POWERS), data=st.data())
def test_the_best_start_is_kept_if_it_lowers_the_joint(twin, problem, data):
    X, prior, alpha = problem
    n = len(X)
    labels = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    partition = build(twin, X, labels, prior, alpha)
    members = np.array(partition.members(0), dtype=np.intp)
    some = st.lists(st.integers(-1, 1), min_size=len(members), max_size=len(members))
    starts = [np.array(data.draw(some), dtype=np.intp) for _ in range(3)]
    before = partition.neg_log_joint
    alone = [
        build(twin, X[members], start, prior, alpha).neg_log_joint
        for start in starts
        if -1 not in start
    ]
    one = build(twin, X[members], np.zeros(len(members)), prior, alpha).neg_log_joint
    division = twin.division.divided(partition, [0], members, [start.copy() for start in starts])
    assert partition.neg_log_joint == before
    if division is not None:
        twin.division.adopt(partition, [0], members, division)
        assert partition.neg_log_joint < before
    gain = before - partition.neg_log_joint
    assert gain >= one - min([one, *alone]) - 1e-7  # sweeps only lower what they start from
    assert partition.neg_log_joint == pytest.approx(
        partition.exact_neg_log_joint(), rel=1e-9, abs=1e-8
    )


@pytest.mark.parametrize("n", [1, 2, 49_999, 50_000, 50_001, 100_000, 100_001, 10**6, 10**9])
def test_thorough_trials_ask_half_of_50_000_rows_or_more(twin, n):
    step = twin.division.trial_step(n, True)
    assert step.bit_count() == 1
    assert len(range(0, n, step)) <= 50_000
    assert step == 1 or len(range(0, n, step)) >= 25_000


@pytest.mark.parametrize(("away", "found"), [(2.5, True), (0.0, False)])
def test_a_part_of_the_rows_tells_what_all_would_gain(twin, away, found):
    """30 of 6,000 rows are worth a cluster; the 5 of them among every sixth row are not."""
    rng = np.random.default_rng(0)
    X, small = rng.normal(size=(6000, 2)), np.zeros(6000, dtype=np.intp)
    small[rng.choice(6000, 30, replace=False)] = 1
    X[small == 1] = away + 0.2 * X[small == 1]
    prior = {"m0": np.zeros(2), "c0": 1e-3, "a0": 1.0, "b0": np.full(2, 0.1)}
    partition = build(twin, X, np.zeros(6000), prior)
    step = twin.division.trial_step(6000)
    assert step == 6
    trial = np.ascontiguousarray(small[::step])
    rows = np.ascontiguousarray(X[::step])
    apart, together = (build(twin, rows, z, prior) for z in (trial, 0 * trial))
    assert apart.neg_log_joint > together.neg_log_joint
    members = twin.division.members_of(partition, [0])
    division = twin.division.divided(partition, [0], members, [trial])
    assert (division is not None) is found
    assert not found or division.n_clusters == 2


@pytest.mark.parametrize(
    ("n", "power", "step"), [(5000, 1.0, 5), (5000, 0.3, 5), (5000, 0.02, 12), (5000, 1e-4, 25)]
)
def test_a_trial_has_fewer_rows_where_they_count_little(twin, n, power, step):
    assert twin.division.trial_step(n, power=power) == step


@pytest.mark.parametrize(("away", "found"), [(4.0, True), (0.0, False)])
def test_a_trial_of_little_power_is_as_sure_as_all_rows(twin, away, found):
    """2,000 rows that count as 40: no two rows of a trial would be worth a cluster alone."""
    X, truth = np.random.default_rng(0).normal(size=(2000, 2)), np.arange(2000) % 3 // 2
    X[truth == 1] += away
    prior = {"m0": np.zeros(2), "c0": 0.1, "a0": 1.0, "b0": np.ones(2), "power": 0.02}
    partition = build(twin, X, np.zeros(2000), prior)
    assert twin.splits.split(partition, np.full((2, 2, 2), 0.3)) == found
    assert partition.n_clusters == 1 + found
    assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), rel=1e-9)


def test_an_interrupt_stops_one_between_its_sweeps(kernel, interrupt_after):
    X = np.random.default_rng(0).normal(size=(60_000, 8))
    prior = {"m0": X.mean(axis=0), "c0": 0.01, "a0": 1.0, "b0": X.var(axis=0)}
    partition = build(kernel, X, np.zeros(len(X), dtype=np.intp), prior, 1.0)
    members = partition.members(0)

    def divide():
        starts = list(np.random.default_rng(1).integers(60, size=(8, len(X))))
        begin = time.process_time()
        try:
            kernel.division.trial_division(partition, [0], array("q", members), starts, 1)
        finally:
            seconds.append(time.process_time() - begin)

    seconds = []
    divide()
    interrupt_after(seconds[0] / 10)
    with pytest.raises(KeyboardInterrupt):
        divide()
    assert seconds[1] < 0.6 * seconds[0]
