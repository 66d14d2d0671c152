"""Statistics of many rows: added up in parts, they are those of all."""

import numpy as np
import pytest
from cases import needs_kernels
from families import CASES, COARSENED_NAMES, FAMILY_NAMES
from twin_modules import load_twin

from dpmlite import core
from dpmlite.core.threads import use_threads
from dpmlite.partition import Partition

pytestmark = needs_kernels

N_ROWS = 140_000  # more than are added up one after the other
N_ABSORBED = 30


def table(name, seed=0):
    """Rows of a family, its empty component, and labels: none has label 3, a tenth has none."""
    rng = np.random.default_rng(seed)
    case = CASES[name]
    X, prior = case.draw(rng, N_ROWS, 2), case.prior(rng, 2)
    labels = np.sort(rng.choice([-1, 0, 1, 2, 4], N_ROWS)).astype(np.intp)  # parts have few each
    component = case.component(load_twin("cython"), prior)
    return X, labels, component


def state(partition):
    slots = range(partition.component.n_slots)
    statistics = [partition.component.statistics(k) for k in slots]
    return partition.neg_log_joint, partition.sizes, statistics


def agree(found, expected):
    """Two states, but for rounding."""
    assert found[0] == pytest.approx(expected[0], rel=1e-12)
    assert found[1] == expected[1]
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", FAMILY_NAMES + COARSENED_NAMES)
def test_sums_are_those_of_rows_one_after_the_other(name):
    X, labels, component = table(name)
    partition = Partition(X, labels.copy(), component, 0.7)
    found = state(partition)
    assert found[1] == [*np.bincount(labels[labels >= 0])[[0, 1, 2, 4]], 0]
    np.testing.assert_array_equal(np.asarray(partition.labels), np.minimum(labels, 3))
    partition.rebuild()
    agree(found, (partition.exact_neg_log_joint(), *state(partition)[1:]))


@pytest.mark.parametrize("name", FAMILY_NAMES + COARSENED_NAMES)
def test_sums_do_not_depend_on_threads(name):
    X, labels, component = table(name, seed=1)
    states = []
    for n_threads in (1, 2, 3):
        with use_threads(n_threads):
            states.append(state(Partition(X, labels.copy(), component.like(), 1.0)))
    assert states[0] == states[1] == states[2]


@pytest.mark.parametrize("single", [False, True])
def test_weights_order_and_absorbed_groups_count(single):
    """The state is what it is when rows are added one after the other."""
    X, labels, component = table("normal-gamma")
    rng = np.random.default_rng(2)
    weights = rng.integers(1, 4, N_ROWS) / 2.0
    rows = core.Rows(np.asfortranarray(X, np.float32 if single else float), weights)
    absorbed = component.like()
    absorbed.resize(3)
    for i in range(N_ABSORBED):
        absorbed.add(X[i], i % 3, 2.0)
    group_labels = np.array([0, 5, 0], dtype=np.intp)
    order = rng.permutation(N_ROWS).astype(np.intp)
    with use_threads(2):
        partition = Partition(rows, labels, component, 1.0, order, absorbed, group_labels)
    found = state(partition)
    assert sum(partition.component.counts) == pytest.approx(
        weights[order][labels >= 0].sum() + 2.0 * N_ABSORBED
    )
    assert list(group_labels) == [0, 4, 0]
    partition.rebuild()
    agree(found, (partition.exact_neg_log_joint(), *state(partition)[1:]))


def test_rows_without_labels_are_no_statistics():
    X, labels, component = table("normal-gamma")
    labels[:] = -1
    with use_threads(2):
        partition = Partition(X, labels, component, 1.0)
    assert (partition.n_clusters, partition.sizes, partition.neg_log_joint) == (0, [0], 0.0)
