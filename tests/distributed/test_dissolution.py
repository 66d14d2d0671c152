"""Clusters whose rows cost less in others are dissolved."""

import numpy as np
import pytest
from cases import needs_kernels

from dpmlite import moves
from dpmlite.distributed.dissolution import changes_without, dissolve
from dpmlite.estimators.default_model.model import Model
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.priors import FAMILIES

pytestmark = needs_kernels

N_CENTRES, ROWS_OF_EACH = 4, 200


def scattered_cluster():
    """Rows of four clusters that are apart, and labels with a fifth, which has rows of them all."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(N_CENTRES), ROWS_OF_EACH)
    X = 8.0 * np.eye(N_CENTRES)[truth] + rng.normal(size=(len(truth), N_CENTRES))
    labels = truth.copy()
    labels[:: ROWS_OF_EACH // 10] = N_CENTRES
    return X, truth, labels


def problem_of(X, power=1.0):
    table, family = Data(X.shape, np.ascontiguousarray(X)), FAMILIES["normal-gamma"]
    model = Model(family, False, family.prior(None, table), 1.0, power, has_missing=False)
    return model.problem(table)


def partition_of(problem, labels):
    return problem.partition(labels.astype(np.intp))


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_a_cluster_across_others_is_dissolved(power):
    X, truth, labels = scattered_cluster()
    problem = problem_of(X, power)
    before = partition_of(problem, labels)
    found = dissolve(problem, before)
    np.testing.assert_array_equal(np.asarray(found.labels), truth)
    assert found.neg_log_joint == pytest.approx(
        partition_of(problem, truth).neg_log_joint, rel=1e-10
    )
    np.testing.assert_array_equal(np.asarray(before.labels), labels)


def test_merges_do_not_dissolve_the_cluster():
    """Each pair is better apart: that is why clusters are dissolved."""
    X, _, labels = scattered_cluster()
    assert moves.merge(partition_of(problem_of(X), labels)) == 0


def test_clusters_that_are_apart_stay():
    X, truth, _ = scattered_cluster()
    problem = problem_of(X)
    partition = partition_of(problem, truth)
    assert dissolve(problem, partition) is partition
    one = partition_of(problem, np.zeros(len(X)))
    assert dissolve(problem, one) is one


def test_a_change_is_that_of_the_joint():
    """Rows join one by one the cluster in which the joint of all rows is then the least."""
    X, _, labels = scattered_cluster()
    X, labels = X[::20], labels[::20]
    X, labels = np.concatenate([X, X + 0.3]), np.concatenate([labels % 2, labels])
    problem = problem_of(X)
    labels = np.unique(labels, return_inverse=True)[1]
    partition = partition_of(problem, labels)
    found = changes_without(problem, partition)
    for k, change in enumerate(found):
        others, members = np.flatnonzero(labels != k), np.flatnonzero(labels == k)
        rows, joined = others.tolist(), labels[others].tolist()
        for i in members.tolist():
            rows, trials = [*rows, i], [[*joined, j] for j in range(max(joined) + 2)]
            joints = [joint_of(problem, rows, trial) for trial in trials]
            joined, joint = trials[int(np.argmin(joints))], min(joints)
        assert change == pytest.approx(joint - partition.neg_log_joint, rel=1e-6, abs=1e-6)


def joint_of(problem, rows, labels):
    """The joint of some rows with these labels."""
    at = problem.of_rows(np.array(rows, dtype=np.intp))
    return partition_of(at, np.unique(labels, return_inverse=True)[1]).exact_neg_log_joint()
