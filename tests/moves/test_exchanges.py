"""Exchanges: two clusters are pooled, and divided where they had better be."""

import naive
import numpy as np
import pytest
from cases import build, empirical_prior


def test_exchange_mends_a_wrong_border(twin):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.3, size=(30, 1)) for c in (-4.0, -2.0, 2.0)])
    labels = np.repeat([0, 0, 1], 30)
    labels[45:60] = 1  # half of the middle rows are with the wrong neighbours
    partition = build(twin, X, labels, empirical_prior(X))
    uniforms = rng.random((3, 3, 5, 2))
    assert twin.exchanges.exchange(partition, uniforms) >= 1
    assert naive.canonical(partition.labels) == [0] * 60 + [1] * 30


def test_exchanges_leave_neighbours_that_both_look_normal(twin):
    """Two that overlap, divided where they are not, unless both are said to look normal."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 2)) + np.array([3.0, 0.0]) * (np.arange(300) < 150)[:, None]
    labels = (X[:, 1] > 0.0).astype(int)  # not where they are
    uniforms = rng.random((3, 1, 2, 2))
    partition = build(twin, X, labels, empirical_prior(X))
    assert twin.exchanges.exchange(partition, uniforms) == 1
    partition = build(twin, X, labels, empirical_prior(X))
    twin.split_memory.split_memory_of(partition).mark_tried(0, True)
    assert twin.exchanges.exchange(partition, uniforms) == 1
    partition = build(twin, X, labels, empirical_prior(X))
    twin.split_memory.split_memory_of(partition).mark_tried(0, True)
    twin.split_memory.split_memory_of(partition).mark_tried(1, True)
    assert twin.exchanges.exchange(partition, uniforms) == 0


def test_a_slot_is_in_one_adopted_division_of_a_pass(twin):
    """Its rows have other labels from then on."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.3, size=(30, 1)) for c in (-4.0, -2.0, 2.0, 4.0)])
    labels = np.repeat([0, 1, 1, 2], 30)
    labels[40:50], labels[70:80] = 0, 2
    partition = build(twin, X, labels, empirical_prior(X))
    before = partition.neg_log_joint
    assert twin.exchanges.exchange(partition, rng.random((4, 2, 5, 2))) == 1
    assert partition.neg_log_joint < before


@pytest.mark.parametrize(("n", "exchanges"), [(30, 1), (200, 0)])
def test_large_clusters_between_which_no_row_hesitates_are_left_to_splits(twin, n, exchanges):
    """The rows at 7 would rather be with those at 10, but are far from both clusters."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.3, size=(n, 4)) for c in (-10.0, 7.0, 10.0)])
    prior = {"m0": np.zeros(4), "c0": 0.1, "a0": 1.0, "b0": np.full(4, 0.1)}
    partition = build(twin, X, np.repeat([0, 0, 1], n), prior)
    gaps = [abs(costs[0] - costs[1]) for costs in map(partition.costs, range(3 * n))]
    assert min(gaps) > 6.0
    assert twin.exchanges.exchange(partition, rng.random((3, 1, 5, 2))) == exchanges


def test_large_clusters_with_a_common_border_are_divided_anew(twin):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(700, 2)) + np.array([3.0, 0.0]) * (np.arange(700) < 350)[:, None]
    partition = build(twin, X, (X[:, 1] > 0.0).astype(int), empirical_prior(X))
    assert twin.exchanges.exchange(partition, rng.random((3, 1, 2, 2))) == 1
