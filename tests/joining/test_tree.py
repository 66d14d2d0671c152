"""The tree of components against union-find over thresholds, and its levels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmlite.joining import component_tree, joined_to_limit, labels_of_level, level_of
from dpmlite.joining.tree import MAX_HEIGHT


def groups(n, pairs):
    """Sets of 0..n-1 that pairs connect."""
    group = {k: {k} for k in range(n)}
    for j, k in pairs:
        if group[j] is not group[k]:
            group[j] |= group[k]
            for member in group[k]:
                group[member] = group[j]
    return {frozenset(each) for each in group.values()}


def persistence_joins(peaks, depths):
    """For each component but the highest, its persistence and the peak that it joins.

    The saddle of a component is the highest level at which it is connected, by saddles not below
    that level, with a higher peak; it joins the highest peak of what it is connected with.
    """
    saddles = {(j, k): min(peaks[j], peaks[k]) - depth for (j, k), depth in depths.items()}
    joins = []
    for k, peak in enumerate(peaks):
        for level in sorted(saddles.values(), reverse=True):
            above = groups(len(peaks), [pair for pair, at in saddles.items() if at >= level])
            (own,) = (group for group in above if k in group)
            best = max(own, key=lambda j: (peaks[j], -j))
            if best != k and (peaks[best], -best) > (peak, -k):
                joins.append((peak - level, k, best))
                break
        else:
            joins.append((np.inf, k, None))
    return joins


@st.composite
def forests(draw):
    """Peaks, all unlike, and depths, all unlike."""
    K = draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    pairs = [(j, k) for j in range(K) for k in range(j + 1, K)]
    kept = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    depths = {pair: float(rng.exponential()) for pair in kept}
    return rng.normal(scale=3.0, size=K), depths


def partition_of(labels):
    return {frozenset(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)}


@given(forests())
def test_a_tree_is_a_valid_linkage_of_the_components(forest):
    peaks, depths = forest
    tree = component_tree(peaks, depths)
    assert tree.shape == (len(peaks) - 1, 4)
    assert (np.diff(tree[:, 2]) >= 0.0).all()
    members = {k: {k} for k in range(len(peaks))}
    for i, (one, other, height, size) in enumerate(tree):
        assert one < other < len(peaks) + i
        assert 0.0 <= height <= MAX_HEIGHT
        members[len(peaks) + i] = members.pop(int(one)) | members.pop(int(other))
        assert size == len(members[len(peaks) + i])
    if len(peaks) > 1:
        hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
        assert hierarchy.is_valid_linkage(tree)


@given(forests(), st.floats(0.0, 8.0))
def test_components_of_less_persistence_than_the_height_join_the_higher_peak(forest, height):
    peaks, depths = forest
    tree = component_tree(peaks, depths)
    labels = labels_of_level(tree, level_of(tree, height))
    joins = [(k, best) for rise, k, best in persistence_joins(peaks, depths) if rise < height]
    assert partition_of(labels) == groups(len(peaks), joins)


@given(forests())
def test_levels_are_nested_and_numbered_by_their_first_components(forest):
    tree = component_tree(*forest)
    finer = labels_of_level(tree, 0)
    assert finer.tolist() == list(range(len(tree) + 1))
    for n_joins in range(1, len(tree) + 1):
        labels = labels_of_level(tree, n_joins)
        first = [np.flatnonzero(labels == k)[0] for k in range(len(tree) + 1 - n_joins)]
        assert first == sorted(first)
        assert set(labels) == set(range(len(tree) + 1 - n_joins))
        for k in np.unique(finer):
            assert len(np.unique(labels[finer == k])) == 1
        finer = labels


@given(forests(), st.floats(0.0, 8.0))
def test_the_joins_below_a_height_are_made(forest, height):
    tree = component_tree(*forest)
    assert level_of(tree, height) == (tree[:, 2] < height).sum()


@given(forests(), st.integers(1, 9), st.data())
def test_clusters_join_along_a_tree_until_there_are_few(forest, max_clusters, data):
    tree = component_tree(*forest)
    n = len(tree) + 1
    clusters = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    joined = joined_to_limit(clusters, tree, max_clusters)
    assert len(np.unique(joined)) == min(len(np.unique(clusters)), max_clusters)
    for k in np.unique(clusters):
        assert len(np.unique(joined[clusters == k])) == 1
    apart = joined_to_limit(np.arange(n), tree, max_clusters)
    level = labels_of_level(tree, max(0, n - max_clusters))
    np.testing.assert_array_equal(apart[:, None] == apart, level[:, None] == level)


def test_one_component_is_a_tree_without_joins():
    tree = component_tree(np.zeros(1), {})
    assert tree.shape == (0, 4)
    assert level_of(tree, 1.0) == 0
    assert labels_of_level(tree, 0).tolist() == [0]


def test_a_background_component_does_not_hold_two_peaks_together():
    """It is three nats lower than both, and no valley leads to either."""
    tree = component_tree(np.array([0.0, -0.1, -3.0]), {(0, 2): 0.0, (1, 2): 0.0})
    assert tree[:, 2] == pytest.approx([0.0, 2.9])
    assert labels_of_level(tree, level_of(tree, 0.4)).tolist() == [0, 1, 0]


def test_a_rise_that_few_rows_explain_does_not_raise_a_join():
    """The peak of the first two is 0.4 above the third, to which no valley leads."""
    peaks, depths = np.array([0.0, -0.4, 0.1, -0.4]), {(0, 1): 0.0, (1, 3): 0.3, (2, 3): 0.0}
    exact = component_tree(peaks, depths)
    assert exact[-1, 2] == pytest.approx(0.7)
    few = component_tree(peaks, depths, np.full(4, 0.08))  # half of a standard error is 0.2
    assert few[-1, 2] == pytest.approx(0.5)
    fewer = component_tree(peaks, depths, np.full(4, 8.0))
    assert fewer[-1, 2] == pytest.approx(0.3)  # the valley is as deep as it is


def test_clusters_that_do_not_touch_join_last_at_the_greatest_height():
    peaks = np.array([0.0, -2000.0, -1.0, -1.5])
    tree = component_tree(peaks, {(0, 1): 0.0, (2, 3): 900.0})
    assert tree[:, 2].tolist() == [0.0, MAX_HEIGHT, MAX_HEIGHT]
    assert tree[-1, 3] == 4


@given(forests(), st.integers(0, 10**6))
@settings(max_examples=50)
def test_the_order_of_components_changes_no_cluster(forest, seed):
    peaks, depths = forest
    order = np.random.default_rng(seed).permutation(len(peaks))  # new number of each component
    other = {tuple(sorted((order[j], order[k]))): depth for (j, k), depth in depths.items()}
    moved = np.argsort(order)
    tree, same = component_tree(peaks, depths), component_tree(peaks[moved], other)
    assert same[:, 2] == pytest.approx(tree[:, 2], rel=1e-12)
    for n_joins in range(len(tree) + 1):
        if n_joins and n_joins < len(tree) and tree[n_joins - 1, 2] == tree[n_joins, 2]:
            continue  # ties: either may come first
        labels = labels_of_level(same, n_joins)[order]
        assert partition_of(labels) == partition_of(labels_of_level(tree, n_joins))
