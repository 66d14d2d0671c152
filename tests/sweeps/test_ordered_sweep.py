"""Labels, moves and joints do not depend on the number of threads."""

import importlib

import numpy as np
import pytest
from cases import needs_kernels

from dpmlite import families, sweeps
from dpmlite.core.threads import use_threads
from dpmlite.datasets import planted_gaussians
from dpmlite.partition import Partition

pytestmark = needs_kernels

N_ROWS = 30_000  # enough for threads to pay
N_SWEEPS = 5


def swept(X, labels, n_threads, n_sweeps=N_SWEEPS, **prior):
    """Labels, joint and moves of some sweeps; and how many visits of rows threads shared."""
    prior = {"m0": X.mean(axis=0), "c0": 10.0 / len(X), "a0": 1.0, "b0": X.var(axis=0)} | prior
    partition = Partition(X, labels.copy(), families.NormalGamma(**prior), 1.0)
    moves, n_shared = [], 0
    for _ in range(n_sweeps):
        with use_threads(n_threads):
            moves.append(sweeps.sweep(partition))
        stay_bounds = importlib.import_module("dpmlite.sweeps._stay_bounds")
        n_shared += stay_bounds.stay_bounds_of(partition).n_rows_shared
    return (np.array(partition.labels), partition.neg_log_joint, moves), n_shared


def wrong_labels(labels, rng):
    """One row in twenty is in any cluster, and some clusters are in two parts."""
    labels = labels.copy()
    n_clusters = labels.max() + 1
    wrong = rng.random(len(labels)) < 0.05
    labels[wrong] = rng.integers(n_clusters, size=wrong.sum())
    for part, k in enumerate(range(0, n_clusters, 2)):
        members = np.flatnonzero(labels == k)
        labels[members[: len(members) // (3 + part)]] = n_clusters + part
    return labels


def check_threads(X, labels, **prior):
    """Labels, joint and moves of one thread, to the last bit."""
    expected, n_shared = swept(X, labels, 1, **prior)
    assert n_shared == 0
    for n_threads in (2, 3, 8):
        found, n_shared = swept(X, labels, n_threads, **prior)
        np.testing.assert_array_equal(found[0], expected[0])
        assert found[1:] == expected[1:]
        assert n_shared > 0  # fewer where other programs are busy
    return expected


@pytest.mark.parametrize("separation", [3.0, 8.0])
def test_first_sweeps_from_poor_starts(separation):
    """Each row is in the cluster of the nearest of some random rows: many move at first."""
    X, _ = planted_gaussians(N_ROWS, 6, 40, separation=separation, random_state=0)
    seeds = X[np.random.default_rng(0).choice(N_ROWS, 40, replace=False)]
    start = np.argmin((seeds**2).sum(axis=1) - 2.0 * X @ seeds.T, axis=1)
    expected = swept(X, start, 1, n_sweeps=15)[0]
    for n_threads in (2, 3):
        found, n_shared = swept(X, start, n_threads, n_sweeps=15)
        np.testing.assert_array_equal(found[0], expected[0])
        assert found[1:] == expected[1:]
        assert n_shared > 0
    assert expected[2][0] > N_ROWS // 16


@pytest.mark.parametrize(("n_columns", "separation"), [(3, 6.0), (8, 2.0), (24, 1.0)])
def test_late_sweeps_in_which_few_rows_move(n_columns, separation):
    X, labels = planted_gaussians(N_ROWS, n_columns, 60, separation=separation, random_state=0)
    expected = swept(X, labels, 1)[0]
    for n_threads in (2, 3):
        found, n_shared = swept(X, labels, n_threads)
        np.testing.assert_array_equal(found[0], expected[0])
        assert found[1:] == expected[1:]
        assert n_shared > 0  # fewer where other programs are busy
    assert 0 < sum(expected[2]) < N_ROWS // 4


@pytest.mark.parametrize(
    ("n_columns", "n_clusters", "separation"),
    [(8, 15, 6.0), (5, 60, 3.0), (20, 30, 3.0), (3, 2000, 3.0)],
)
def test_threads_agree_where_some_rows_move(n_columns, n_clusters, separation):
    X, labels = planted_gaussians(
        N_ROWS, n_columns, n_clusters, separation=separation, random_state=0
    )
    _, _, moves = check_threads(X, wrong_labels(labels, np.random.default_rng(0)))
    assert moves[0] > N_ROWS // 64


def test_threads_agree_where_rows_found_clusters():
    """More than there was memory for; and others join these."""
    X, labels = planted_gaussians(N_ROWS, 3, 4, separation=9.0, random_state=0)
    rng = np.random.default_rng(0)
    places = rng.uniform(-1e3, 1e3, (600, 3))
    elsewhere = np.flatnonzero(rng.random(N_ROWS) < 0.03)
    X[elsewhere] += places[rng.integers(len(places), size=len(elsewhere))]
    labels[elsewhere] = -1
    found, _, moves = check_threads(X, labels, c0=1e-6, a0=10.0, b0=np.ones(3))
    assert found.max() > 400
    assert moves[0] < 2 * len(elsewhere)


def test_up_to_rows_without_labels():
    """Few slots: such rows are scored in all of them at once, on any number of threads."""
    X, labels = planted_gaussians(N_ROWS, 8, 10, separation=6.0, random_state=0)
    rng = np.random.default_rng(0)
    wrong = rng.random(N_ROWS) < 0.03
    labels[wrong] = rng.integers(10, size=wrong.sum())
    labels[2 * N_ROWS // 3 :] = -1
    check_threads(X, labels)


def test_rows_that_have_to_be_copied():
    X, labels = planted_gaussians(N_ROWS, 4, 30, random_state=1)
    labels = wrong_labels(labels, np.random.default_rng(1))
    for table in (np.asfortranarray(X), X.astype(np.float32)):
        check_threads(table, labels)
