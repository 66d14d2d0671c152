"""Merges: the best ones, by what they say they change, and the neighbours of a cluster."""

import naive
import numpy as np
import pytest
from cases import POWERS, blobs, build, empirical_prior, problems
from families import CASES
from hypothesis import given
from hypothesis import strategies as st

CLOSE = {"rel": 1e-9, "abs": 1e-8}


def brute_force_merges(X, labels, alpha, prior):
    """Merge the best of all pairs while that lowers the joint."""
    while True:
        joint = naive.neg_log_joint(X, labels, alpha, prior)
        names = sorted(set(labels))
        merged = [
            [j if label == k else label for label in labels] for j in names for k in names if j < k
        ]
        best = min(merged, key=lambda m: naive.neg_log_joint(X, m, alpha, prior), default=labels)
        if naive.neg_log_joint(X, best, alpha, prior) >= joint - 1e-9:
            return labels
        labels = best


@pytest.mark.parametrize("seed", range(5))
def test_merges_are_the_best_ones(twin, seed):
    X, truth = blobs(n_rows=40, seed=seed)
    labels = truth * 3 + np.random.default_rng(seed).integers(3, size=40)
    prior = empirical_prior(X)
    partition = build(twin, X, labels, prior, 0.7)
    merges = twin.merges.merge(partition)
    expected = brute_force_merges(X, labels.tolist(), 0.7, prior)
    assert naive.canonical(partition.labels) == naive.canonical(expected)
    assert merges == len(set(labels)) - len(set(expected))
    joint = naive.neg_log_joint(X, expected, 0.7, prior)
    assert partition.neg_log_joint == pytest.approx(joint, **CLOSE)


def test_the_first_of_equals_is_merged_where_it_hardly_helps(twin):
    """Two pairs as good as each other, either side of the least gain that counts."""
    X = np.array([[0.0], [1.0 + 3e-9], [1000.0], [1001.0]])
    prior = {"m0": np.array([500.5]), "c0": 1e-6, "a0": 1.0, "b0": np.ones(1)}
    at_one = twin.merges.merge_change(build(twin, X, range(4), prior), 2, 3)
    partition = build(twin, X, range(4), prior, np.exp(-at_one - 1.2e-8))
    gains = [-twin.merges.merge_change(partition, j, j + 1) for j in (0, 2)]
    assert gains[0] < partition.least_gain < gains[1] < gains[0] + 1e-8
    assert twin.merges.merge(partition) == 2
    assert list(partition.labels) == [0, 0, 1, 1]


@given(problem=problems(powers=POWERS), data=st.data())
def test_merge_change_is_the_change(twin, problem, data):
    X, prior, alpha = problem
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X)))
    partition = build(twin, X, labels, prior, alpha)
    for j in range(partition.n_clusters):
        for k in range(j):
            merged = [j if label == k else label for label in partition.labels]
            expected = naive.neg_log_joint(X, merged, alpha, prior) - partition.neg_log_joint
            assert twin.merges.merge_change(partition, j, k) == pytest.approx(
                expected, rel=1e-9, abs=1e-7
            )


@given(problem=problems(powers=POWERS), data=st.data())
def test_the_nearest_are_those_with_the_best_merges(twin, problem, data):
    X, prior, alpha = problem
    labels = data.draw(st.lists(st.integers(0, 5), min_size=len(X), max_size=len(X)))
    partition = build(twin, X, labels, prior, alpha)
    used = list(range(partition.n_clusters))
    assert twin.merges.used_slots(partition) == used
    nearest = twin.merges.nearest(partition, 3)
    assert list(nearest) == used
    for j in used:
        others = [k for k in used if k != j]
        changes = {k: twin.merges.merge_change(partition, j, k) for k in others}
        found = nearest[j]
        assert len(found) == len(set(found)) == min(3, len(others))
        best = sorted(changes.values())[: len(found)]
        assert [changes[k] for k in found] == pytest.approx(best, rel=1e-9, abs=1e-7)


def few_and_many(twins):
    """Rows in clusters of their own, and the same with those far away: too many for a table."""
    kernel = twins[1]
    X = np.random.default_rng(0).uniform(0.0, 60.0, size=(200, 1))
    far = 100.0 + 12.0 * np.arange(300.0)
    far = np.concatenate([-far, far])[:, None]
    for rows in (X, np.vstack([X, far])):
        component = kernel.normal_known_variance.NormalKnownVariance([0.0], [1.0], [1e6])
        labels = np.arange(len(rows), dtype=np.intp)
        yield kernel.partition.Partition(rows, labels, component, 1.0)


def test_many_clusters_merge_as_few_do(twins):
    """Those far from all others change nothing."""
    kernel = twins[1]
    few, many = few_and_many(twins)
    assert kernel.merges.merge(few) == kernel.merges.merge(many)
    assert 5 < few.n_clusters == many.n_clusters - 600
    assert list(few.labels) == list(many.labels)[:200]


def test_of_many_clusters_the_same_are_nearest_as_of_few(twins):
    found = []
    for partition in few_and_many(twins):
        partition.move(3, 4, 0.0)
        nearest = twins[1].merges.nearest(partition, 100)
        assert 3 not in {*nearest, *(k for each in nearest.values() for k in each)}
        found.append([nearest[j] for j in range(200) if j != 3])
    assert found[0] == found[1]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_slots_that_close_up_keep_their_clusters(twin, case):
    """Many slots become few, and then many again."""
    rng = np.random.default_rng(1)
    prior, X = case.prior(rng, 3), case.draw(rng, 90, 3)
    labels = np.arange(90, dtype=np.intp)
    partition = twin.partition.Partition(
        twin.rows.Rows(X), labels, case.component(twin, prior), 1.0
    )
    for i in range(6, 90):
        partition.move(i, partition.labels[i % 6], 0.0)
    partition.tidy()
    assert partition.n_clusters == 6
    for n_alone in (0, 40):
        for i in range(6, 6 + n_alone):
            partition.move(i, partition.component.n_slots - 1, 0.0)
        assert partition.n_clusters == 6 + n_alone
        expected = case.neg_log_joint(X, partition.labels, 1.0, prior)
        assert partition.exact_neg_log_joint() == pytest.approx(expected, **CLOSE)
