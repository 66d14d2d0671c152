"""The limit of small variances: MAP-DPM with known variance becomes DP-means (Kulis & Jordan 2012).

With alpha = exp(-lam / (2 sigma2)), 2 sigma2 times the negative log joint, without the N D / 2
log(2 pi sigma2) of the densities, goes to the sum of squares plus lam for each cluster after the
first.
"""

import naive
import numpy as np
import pytest

from dpmlite import DPMeans

LAM = 3.0


def partition(twin, X, labels, sigma2):
    d = X.shape[1]
    prior = {"m0": np.zeros(d), "sigma2": np.full(d, sigma2), "tau2": np.full(d, 50.0)}
    family = twin.normal_known_variance.NormalKnownVariance(**prior)
    labels = np.array(labels, dtype=np.intp)
    return twin.partition.Partition(X, labels, family, float(np.exp(-LAM / (2.0 * sigma2))))


def scaled_joint(twin, X, labels, sigma2):
    constant = 0.5 * X.size * np.log(2.0 * np.pi * sigma2)
    return 2.0 * sigma2 * (partition(twin, X, labels, sigma2).neg_log_joint - constant)


def objective(X, labels):
    """Sum of squares about the means, plus lam a cluster."""
    clusters = [X[np.array(labels) == k] for k in set(labels)]
    return sum(((rows - rows.mean(axis=0)) ** 2).sum() + LAM for rows in clusters)


@pytest.mark.parametrize("seed", range(3))
def test_the_joint_becomes_the_objective_of_dp_means(twin, seed):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(0.0, 3.0, size=(30, 2)), rng.integers(4, size=30).tolist()
    expected = objective(X, labels) - LAM
    errors = [abs(scaled_joint(twin, X, labels, s) - expected) for s in (0.1, 0.01, 0.003)]
    assert errors[0] > 3.0 * errors[1] > 6.0 * errors[2]
    assert errors[2] < 2e-3 * expected


@pytest.mark.parametrize("seed", range(4))
def test_the_best_partition_becomes_that_of_dp_means(twin, seed):
    X = np.random.default_rng(seed).normal(0.0, 2.0, size=(7, 2))
    every = list(naive.partitions(7))
    best = min(every, key=lambda labels: objective(X, labels))
    found = min(every, key=lambda labels: scaled_joint(twin, X, labels, 0.003))
    assert found == best
    means = DPMeans(lam=LAM, n_init=20, random_state=0).fit(X)
    assert objective(X, best) <= objective(X, means.labels_.tolist()) + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_where_map_dpm_ends_dp_means_moves_no_row(twin, seed):
    """Every row is nearest to its own centre, and within lam of it."""
    X = np.random.default_rng(seed).normal(0.0, 3.0, size=(40, 2))
    state = partition(twin, X, np.zeros(40), 0.003)
    while twin.map_dpm.sweep(state):
        pass
    labels = np.asarray(state.labels)
    centres = np.array([X[labels == k].mean(axis=0) for k in range(labels.max() + 1)])
    distances = ((X[:, None] - centres) ** 2).sum(axis=2)
    assert (distances.argmin(axis=1) == labels).all()
    assert 1.0 < distances.min(axis=1).max() * 10.0 / LAM <= 10.0
    assert len(centres) > 3
