"""Sweeps: the paper's algorithm against a naive statement of it."""

import time

import naive
import numpy as np
import pytest
from cases import POWERS, STARTS, blobs, empirical_prior, problems, start
from hypothesis import given
from hypothesis import strategies as st

from dpmlite.core.constants import TIE


def build(twin, X, labels, prior, alpha):
    return twin.partition.Partition(X, labels, twin.normal_gamma.NormalGamma(**prior), alpha)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["single", "singletons"])
def test_literal_sweeps_are_algorithm_1(twin, kind, seed):
    """Continuous data: no ties, so the naive argmin takes the same decisions."""
    X, _ = blobs(n_rows=40, n_columns=1 + seed % 3, n_clusters=4, seed=seed)
    prior, alpha = empirical_prior(X), (0.5, 2.0)[seed % 2]
    labels, ours = start(kind, len(X)).tolist(), start(kind, len(X))
    partition = build(twin, X, ours, prior, alpha)
    for _ in range(20):
        moves = naive.sweep(X, labels, alpha, prior)
        assert twin.map_dpm.sweep(partition) == moves
        assert naive.canonical(ours) == naive.canonical(labels)
        joint = naive.neg_log_joint(X, labels, alpha, prior)
        assert partition.neg_log_joint == pytest.approx(joint, rel=1e-9)
        if moves == 0:
            return
    pytest.fail("20 sweeps were not enough")


@given(problem=problems(powers=POWERS), kind=st.sampled_from(STARTS))
def test_sweeps_end_where_no_row_can_do_better(twin, problem, kind):
    X, prior, alpha = problem
    partition = build(twin, X, start(kind, len(X)), prior, alpha)
    joints = []
    for _ in range(100):
        moves = twin.map_dpm.sweep(partition)
        joints.append(partition.neg_log_joint)
        if moves == 0:
            break
    assert moves == 0
    assert (np.diff(joints) <= 0.0).all()
    assert partition.neg_log_joint == pytest.approx(
        partition.exact_neg_log_joint(), rel=1e-9, abs=1e-8
    )
    for i in range(len(X)):
        costs = partition.costs(i)
        assert min(costs) >= costs[partition.labels[i]] - 2.0 * TIE


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_visited_in_the_order_given(twin, seed):
    """An order of visits is the same as rows that lie in this order, sweep after sweep."""
    X, _ = blobs(n_rows=40, n_columns=1 + seed % 3, n_clusters=4, seed=seed)
    prior, rng = empirical_prior(X), np.random.default_rng(seed)
    labels, ours = np.arange(40) % 5, np.arange(40, dtype=np.intp) % 5
    partition = build(twin, X, ours, prior, 1.0)
    for n_sweep in range(4):
        order = rng.permutation(40).astype(np.intp)
        permuted = labels[order].tolist()
        moves = naive.sweep(X[order], permuted, 1.0, prior)
        labels[order] = permuted
        assert twin.map_dpm.sweep(partition, order) == moves
        assert naive.canonical(ours) == naive.canonical(labels)
        if n_sweep % 2:  # what sweeps remember of rows holds after it
            labels = labels.tolist()
            assert twin.map_dpm.sweep(partition) == naive.sweep(X, labels, 1.0, prior)
            labels = np.array(labels)
            assert naive.canonical(ours) == naive.canonical(labels)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3], [-1, 0, 1], [0, 1, 2, 2]])
def test_an_order_of_visits_has_each_row_once(twin, order):
    prior = {"m0": [0.0], "c0": 1.0, "a0": 1.0, "b0": [1.0]}
    partition = build(twin, np.zeros((3, 1)), start("single", 3), prior, 1.0)
    with pytest.raises(ValueError, match="order must have each number from 0 to 2 once"):
        twin.map_dpm.sweep(partition, np.array(order, dtype=np.intp))


@pytest.mark.parametrize("distance", [1e3, 1e5, 1e8])
def test_far_outliers_do_not_blur_what_they_leave(twin, distance):
    """B of the cluster they leave would lose its digits if they were just subtracted."""
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(20, 1)), distance * np.array([[1.0], [1.1], [-3.0]])])
    prior = {"m0": np.zeros(1), "c0": 0.25, "a0": 1.0, "b0": np.ones(1)}
    labels, ours = [0] * 23, start("single", 23)
    partition = build(twin, X, ours, prior, 1.0)
    for _ in range(4):
        naive.sweep(X, labels, 1.0, prior)
        twin.map_dpm.sweep(partition)
        assert naive.canonical(ours) == naive.canonical(labels)
        assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), rel=1e-9)


def test_rows_without_labels_are_placed_one_by_one(twin):
    X = np.array([[0.0], [100.0], [0.1], [100.1], [0.2]])
    prior = {"m0": [50.0], "c0": 0.1, "a0": 1.0, "b0": [1.0]}
    labels = start("sequential", 5)
    partition = build(twin, X, labels, prior, 1.0)
    assert partition.neg_log_joint == 0.0
    assert twin.map_dpm.sweep(partition) == 5
    assert labels.tolist() == [0, 1, 0, 1, 0]
    assert twin.map_dpm.sweep(partition) == 0


def test_of_equal_costs_the_row_stays_and_else_the_lowest_slot_wins(twin):
    """Two mirrored clusters, and a row between them."""
    X = np.array([[-5.0], [-5.5], [5.0], [5.5], [0.0]])
    prior = {"m0": [0.0], "c0": 0.1, "a0": 1.0, "b0": [1.0]}
    for own, expected in ((0, 0), (1, 1), (-1, 0)):
        labels = np.array([0, 0, 1, 1, own], dtype=np.intp)
        partition = build(twin, X, labels, prior, 1e-6)
        twin.map_dpm.sweep(partition)
        assert labels.tolist() == [0, 0, 1, 1, expected]


def test_converge_counts_and_limits_its_sweeps(twin):
    X, _ = blobs(seed=3)
    partition = build(twin, X, start("singletons", len(X)), empirical_prior(X), 1.0)
    assert twin.map_dpm.converge(partition, 1) == 1
    n_sweeps = twin.map_dpm.converge(partition, 100)
    assert 1 <= n_sweeps < 100
    assert twin.map_dpm.converge(partition, 100) == 1
    assert twin.map_dpm.converge(partition, 0) == 0


def test_the_partition_counts_clusters_that_lose_their_last_row(twin):
    prior = {"m0": [0.0], "c0": 1.0, "a0": 5.0, "b0": [1.0]}
    partition = build(twin, np.zeros((4, 1)), start("singletons", 4), prior, 1e-9)
    assert partition.n_emptied == 0
    assert twin.map_dpm.sweep(partition) == 3
    assert partition.n_clusters == 1
    assert partition.n_emptied == 3


def test_an_interrupt_stops_it_between_sweeps(kernel, interrupt_after):
    X = np.random.default_rng(0).normal(size=(100_000, 8))

    def random():
        labels = np.random.default_rng(1).integers(60, size=len(X))
        return build(kernel, X, labels, empirical_prior(X), 1.0)

    partition, begin = random(), time.perf_counter()
    n_sweeps = kernel.map_dpm.converge(partition, 1000)
    seconds = time.perf_counter() - begin
    partition = random()
    interrupt_after(seconds / 10)
    with pytest.raises(KeyboardInterrupt):
        kernel.map_dpm.converge(partition, 1000)
    assert 1 < kernel.map_dpm.converge(partition, 1000) < n_sweeps
