"""Exchanges: two clusters are pooled, and divided where they had better be."""

import naive
import numpy as np
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
