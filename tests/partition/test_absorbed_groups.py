"""Absorbed groups: rows that are known only by their statistics, in partitions and in moves."""

import naive
import numpy as np
import pytest
from cases import blobs, build, problems
from families import CASES, COARSENED_NAMES, FAMILY_NAMES
from hypothesis import given
from hypothesis import strategies as st

CLOSE = {"rel": 1e-9, "abs": 1e-8}


def absorb(twin, case, X, groups, prior):
    """A component with a slot for each group of rows."""
    component = case.component(twin, prior)
    component.resize(max(groups, default=-1) + 1)
    for row, g in zip(X, groups, strict=True):
        component.add(row, g)
    return component


def partition_of(twin, case, X, labels, prior, alpha, absorbed=None, group_labels=None):
    labels = np.asarray(labels, dtype=np.intp).copy()
    group_labels = None if group_labels is None else np.asarray(group_labels, dtype=np.intp).copy()
    component = case.component(twin, prior)
    return twin.partition.Partition(X, labels, component, alpha, None, absorbed, group_labels)


@pytest.mark.parametrize("name", FAMILY_NAMES + COARSENED_NAMES)
def test_moves_are_those_of_a_partition_that_has_the_rows(twin, name):
    """Sweeps, merges and rebuilding: 20 rows, 12 of them absorbed in 4 groups."""
    case, rng = CASES[name], np.random.default_rng(1)
    X, prior = case.draw(rng, 20, 3), case.prior(rng, 3)
    groups, group_labels = np.repeat(np.arange(4), 3), np.array([0, 1, 1, 2])
    old, new = X[:12], X[12:]
    labels = np.array([0, 1, 2, 3, 3, 4, 0, 1])
    absorbed = absorb(twin, case, old, groups, prior)
    ours = partition_of(twin, case, new, labels, prior, 1.5, absorbed, group_labels)
    full = partition_of(twin, case, X, np.concatenate([group_labels[groups], labels]), prior, 1.5)

    def compare():
        assert ours.component.counts == pytest.approx(full.component.counts, **CLOSE)
        assert ours.neg_log_joint == pytest.approx(full.neg_log_joint, **CLOSE)
        assert ours.exact_neg_log_joint() == pytest.approx(full.exact_neg_log_joint(), **CLOSE)
        for i in range(8):
            assert ours.costs(i) == pytest.approx(full.costs(12 + i), rel=1e-8, abs=1e-7)

    compare()
    assert sum(ours.sizes) == 8 + 4
    for i, k in ((0, 2), (3, 0), (4, 5), (7, 2), (0, 0)):
        change = full.costs(12 + i)[k] - full.costs(12 + i)[full.labels[12 + i]]
        ours.move(i, k, change)
        full.move(12 + i, k, change)
        compare()
    change = twin.merges.merge_change(full, 1, 2)
    assert twin.merges.merge_change(ours, 1, 2) == pytest.approx(change, rel=1e-8, abs=1e-7)
    ours.merge(1, 2, change)
    full.merge(1, 2, change)
    compare()
    ours.tidy()
    full.tidy()
    compare()
    ours.rebuild()
    compare()
    assert list(full.labels) == [*np.asarray(ours.group_labels)[groups], *ours.labels]


@given(problem=problems(), data=st.data())
def test_a_joint_with_groups_is_that_of_the_rows(twin, problem, data):
    X, prior, alpha = problem
    n = len(X)
    groups = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    n_old = data.draw(st.integers(0, n))
    groups = naive.canonical(groups[:n_old])
    n_groups = len(set(groups))
    group_labels = data.draw(st.lists(st.integers(0, 3), min_size=n_groups, max_size=n_groups))
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n - n_old, max_size=n - n_old))
    case = CASES["normal-gamma"]
    absorbed = absorb(twin, case, X[:n_old], groups, prior)
    ours = partition_of(twin, case, X[n_old:], labels, prior, alpha, absorbed, group_labels)
    everyone = [*(group_labels[g] for g in groups), *labels]
    assert ours.neg_log_joint == pytest.approx(
        naive.neg_log_joint(X, everyone, alpha, prior), **CLOSE
    )
    twin.map_dpm.sweep(ours)
    twin.merges.merge(ours)
    everyone = [*(ours.group_labels[g] for g in groups), *ours.labels]
    assert ours.neg_log_joint == pytest.approx(
        naive.neg_log_joint(X, everyone, alpha, prior), **CLOSE
    )


@pytest.mark.parametrize("n_rows", [60, 1200])  # of the second, trials have a part only
def test_splits_and_exchanges_leave_groups_whole(twin, n_rows):
    X, _ = blobs(n_rows=n_rows + 40, seed=2)
    prior = {"m0": X.mean(axis=0), "c0": 0.05, "a0": 1.0, "b0": X.var(axis=0)}
    case, groups = CASES["normal-gamma"], np.arange(40) % 2
    absorbed = absorb(twin, case, X[:40], groups, prior)
    ours = partition_of(twin, case, X[40:], np.zeros(n_rows), prior, 1.0, absorbed, [0, 0])
    uniforms = np.random.default_rng(0).random((ours.component.n_slots, 2, 2))
    before = ours.neg_log_joint
    assert twin.splits.split(ours, uniforms) == 1
    assert ours.group_labels[0] == ours.group_labels[1]
    uniforms = np.random.default_rng(0).random((ours.component.n_slots, 2, 1, 2))
    twin.exchanges.exchange(ours, uniforms)
    labels = [*np.asarray(ours.group_labels)[groups], *ours.labels]
    assert ours.neg_log_joint < before
    joint = naive.neg_log_joint(X, labels, 1.0, prior)
    assert ours.neg_log_joint == pytest.approx(joint, **CLOSE)
    assert sum(ours.sizes) == n_rows + 2


def test_exchange_passes_by_clusters_without_rows(twin):
    case, X = CASES["normal-gamma"], np.array([[0.0], [1.0], [5.0], [6.0]])
    prior = {"m0": [3.0], "c0": 0.1, "a0": 1.0, "b0": [9.0]}
    absorbed = absorb(twin, case, X, [0, 0, 1, 1], prior)
    ours = partition_of(twin, case, X[:0], [], prior, 1.0, absorbed, [0, 1])
    assert (ours.n_rows, ours.n_clusters) == (0, 2)
    assert twin.exchanges.exchange(ours, np.full((3, 2, 1, 2), 0.5)) == 0
    assert twin.merges.merge(ours) in (0, 1)


def test_a_row_beside_a_light_group(twin):
    """A heavy row leaves, and rounding would show: what is left is built from the group."""
    case = CASES["normal-gamma"]
    prior = {"m0": [0.0], "c0": 0.5, "a0": 1.0, "b0": [1.0]}
    absorbed = absorb(twin, case, np.array([[1e6]]), [0], prior)
    rows = twin.rows.Rows(np.array([[3.0], [3.1]]), np.array([1e9, 1.0]))
    ours = partition_of(twin, case, rows, [0, 0], prior, 1.0, absorbed, [0])
    small = absorb(twin, case, np.array([[1e6], [3.1]]), [0, 0], prior)
    expected = small.log_predictive(np.array([3.0]), 0, 1e9)
    cost = ours.costs(0)[0] + ours.member_log_weight(0)
    assert -cost == pytest.approx(expected, rel=1e-9)
    ours.move(0, 1, 0.0)
    assert ours.component.statistics(0) == pytest.approx(small.statistics(0), rel=1e-12)


def test_errors_state_the_rule_that_is_broken(twin):
    case, X = CASES["normal-gamma"], np.array([[0.0], [1.0]])
    prior = {"m0": [0.0], "c0": 0.5, "a0": 1.0, "b0": [1.0]}
    absorbed = absorb(twin, case, X, [0, 1], prior)

    def make(absorbed, group_labels):
        return partition_of(twin, case, X, [0, 0], prior, 1.0, absorbed, group_labels)

    with pytest.raises(ValueError, match="group_labels must have 2 values, got 1"):
        make(absorbed, [0])
    with pytest.raises(ValueError, match="group_labels must have 0 values, got 1"):
        make(None, [0])
    with pytest.raises(ValueError, match="group_labels must be from 0 to 2147483647, got -1"):
        make(absorbed, [0, -1])
    absorbed.resize(3)
    with pytest.raises(ValueError, match="absorbed groups must hold rows, group 2 holds none"):
        make(absorbed, [0, 0, 0])
    absorbed.resize(2)
    ours = make(absorbed, [0, 1])
    both = np.array([0, 1], dtype=np.intp)
    with pytest.raises(ValueError, match="slots must have 0 absorbed groups, got 1"):
        ours.replace([0], both, ours.part(both, np.zeros(2, dtype=np.intp)), 0.0)
    other = {"m0": [0.0, 0.0], "c0": 0.5, "a0": 1.0, "b0": [1.0, 1.0]}
    with pytest.raises(ValueError, match="other must have 1 columns, got 2"):
        make(case.component(twin, other), [])


def test_without_groups_nothing_is_absorbed(twin):
    X, truth = blobs(n_rows=12)
    prior = {"m0": X.mean(axis=0), "c0": 0.05, "a0": 1.0, "b0": X.var(axis=0)}
    partition = build(twin, X, truth, prior)
    assert list(partition.group_labels) == partition.groups_in([0, 1, 2]) == []


def test_absorbed_groups_stay_in_the_clusters_of_the_best_start(twin):
    """Rows of two slots, each with an absorbed group, that are the wrong way round."""
    case, wrong, right = CASES["normal-gamma"], np.repeat([1, 0], 10), np.repeat([0, 1], 10)
    prior = {"m0": np.zeros(1), "c0": 0.1, "a0": 2.0, "b0": np.ones(1)}
    X = np.linspace(0.0, 1.0, 20)[:, None] + 9.0 * right[:, None]
    absorbed = absorb(twin, case, X[::5], [0, 0, 1, 1], prior)
    ours = partition_of(twin, case, X, wrong, prior, 1.0, absorbed, [0, 1])
    starts = [np.array(labels, dtype=np.intp) for labels in (wrong, right, wrong)]
    members = np.arange(20, dtype=np.intp)
    division = twin.division.divided(ours, [0, 1], members, starts)
    assert list(division.group_labels) == [0, 1]
    assert list(division.labels) == list(right)
    twin.division.adopt(ours, [0, 1], members, division)
    assert list(ours.group_labels) == [0, 1]
    assert ours.neg_log_joint == pytest.approx(ours.exact_neg_log_joint(), **CLOSE)
