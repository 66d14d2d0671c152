"""Partition crossover: rows that are together in two partitions, and what is made of them."""

import numpy as np
from contexts import context_of
from hypothesis import given
from hypothesis import strategies as st

from dpmlite.search.partition_crossover import cross_over, refinement


@given(data=st.data(), most=st.sampled_from([1, 3, 2000]), n_groups=st.integers(0, 3))
def test_rows_are_together_that_are_together_in_both_and_lone_ones_have_no_label(
    data, most, n_groups
):
    n = data.draw(st.integers(3, 40))
    labels = st.lists(st.integers(0, most), min_size=n, max_size=n)
    one, other = (np.array(data.draw(labels), dtype=np.intp) for _ in range(2))
    found = refinement(one, other, n_groups)
    together = (one[:, None] == one) & (other[:, None] == other)
    kept = (together.sum(axis=1) > 1) | (np.arange(n) < n_groups)
    np.testing.assert_array_equal(found >= 0, kept)
    found, together = found[kept], together[kept][:, kept]
    np.testing.assert_array_equal(found[:, None] == found, together)
    assert set(found.tolist()) == set(range(found.max(initial=-1) + 1))


def test_partition_crossover_takes_the_best_of_both():
    """Each of two partitions has one true cluster and the other two in one."""
    truth = np.arange(90) % 3
    corners = np.array([[0.0, 0.0], [30.0, 0.0], [0.0, 30.0]])
    X = corners[truth] + np.random.default_rng(0).normal(size=(90, 2))
    context = context_of(X)
    one, other = np.minimum(truth, 1), np.maximum(truth, 1) - 1
    found = cross_over(context, one, other)
    assert found.n_clusters == 3
    np.testing.assert_array_equal(refinement(np.array(found.labels), truth), found.labels)
    worse = [context.partition(labels.astype(np.intp)).neg_log_joint for labels in (one, other)]
    assert found.neg_log_joint < min(worse)
