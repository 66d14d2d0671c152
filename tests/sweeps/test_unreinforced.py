"""The first sweep from one cluster that counts as one row, against a naive statement of it."""

from math import lgamma

import naive
import numpy as np
import pytest
from cases import POWERS, build, problems, start
from hypothesis import given
from hypothesis import strategies as st

from dpmlite.core.constants import TIE


def naive_sweep(X, prior, alpha, weights):
    """The labels after the sweep; rows stand for as many equal rows as they weigh."""
    labels, power = [0] * len(X), prior.get("power", 1.0)

    def log_weight(n, weight):
        return (lgamma(power * (n + weight)) - lgamma(power * n)) / power

    def joint(labels):
        rows = np.repeat(X, weights, axis=0)
        return naive.neg_log_joint(rows, np.repeat(labels, weights), alpha, prior)

    for i in range(len(X)):
        at_home = joint(labels)
        n_others = sum(weights[j] for j in range(len(X)) if labels[j] == 0 and j != i)
        stay = at_home
        if n_others:
            stay += log_weight(n_others, weights[i]) - log_weight(1.0, weights[i])
        moved = [joint([*labels[:i], k, *labels[i + 1 :]]) for k in range(1, max(labels) + 2)]
        if min(moved) < stay - 2.0 * TIE:
            labels[i] = 1 + next(k for k, q in enumerate(moved) if q <= min(moved) + TIE)
    return labels


@given(
    problem=problems(max_rows=10, powers=POWERS),
    seed=st.integers(0, 99),
    weighted=st.booleans(),
)
def test_the_cluster_counts_as_one_row(twin, problem, seed, weighted):
    X, prior, alpha = problem
    rng = np.random.default_rng(seed)
    X = X + rng.normal(size=X.shape)  # no ties
    weights = rng.integers(1, 4, size=len(X)) if weighted else np.ones(len(X), dtype=int)
    rows = twin.rows.Rows(X, weights.astype(float))
    partition = build(twin, rows, start("single", len(X)), prior, alpha)
    expected = naive_sweep(X, prior, alpha, weights)
    assert twin.unreinforced.unreinforced_sweep(partition) == np.count_nonzero(expected)
    assert naive.canonical(partition.labels) == naive.canonical(expected)
    joint = partition.exact_neg_log_joint()
    assert partition.neg_log_joint == pytest.approx(joint, rel=1e-9, abs=1e-8)


def test_an_unreinforced_sweep_parts_a_row_that_a_sweep_leaves(twin):
    """Thirty rows hold a row in their cluster that lies far from them; one row does not."""
    X = np.concatenate([np.linspace(-1.0, 1.0, 30), [2.0]])[:, None]
    prior = {"m0": [0.0], "c0": 0.1, "a0": 1.0, "b0": [1.0]}
    stuck = build(twin, X, start("single", 31), prior, 0.1)
    assert twin.map_dpm.sweep(stuck) == 0
    assert twin.unreinforced.unreinforced_sweep(stuck) == 1
    assert stuck.labels[30] != stuck.labels[0]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 0, 1], "one cluster, got 2 clusters and 0 rows without one"),
        ([0, -1, 0], "one cluster, got 1 clusters and 1 rows without one"),
        ([-1, -1, -1], "one cluster, got 0 clusters and 3 rows without one"),
    ],
)
def test_an_unreinforced_sweep_needs_one_cluster(twin, labels, message):
    X = np.zeros((3, 1))
    prior = {"m0": [0.0], "c0": 1.0, "a0": 1.0, "b0": [1.0]}
    partition = build(twin, X, labels, prior)
    with pytest.raises(ValueError, match=message):
        twin.unreinforced.unreinforced_sweep(partition)
