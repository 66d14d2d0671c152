"""What tests of Markov chains share: the chains, their exact target, and Geweke's (2004) test."""

from collections import Counter
from math import exp

import naive
import numpy as np


def gibbs(twin, partition, rng):
    twin.gibbs.gibbs_sweep(partition, rng.random(partition.n_rows))


def proposals(twin, partition, rng, n_scans, n_proposals):
    n = 3 + ((n_scans or 0) + 2) * partition.n_rows
    for _ in range(n_proposals):
        twin.jain_neal.propose_split_merge(partition, n_scans, rng.random(n))


def random(twin, partition, rng):
    proposals(twin, partition, rng, None, 6)


def restricted(twin, partition, rng):
    proposals(twin, partition, rng, 1, 3)


def interleaved(twin, partition, rng):
    proposals(twin, partition, rng, 0, 3)
    gibbs(twin, partition, rng)


SPLIT_MERGE = {"random": random, "restricted": restricted, "interleaved": interleaved}


def build(twin, X, labels, alpha, prior, weights=None):
    labels = np.array(labels, dtype=np.intp)
    rows = twin.rows.Rows(X, weights)
    return twin.partition.Partition(rows, labels, twin.normal_gamma.NormalGamma(**prior), alpha)


def repeated_joint(X, labels, alpha, prior, weights):
    """The joint of a table in which row i is there weights[i] times, under one label."""
    return naive.neg_log_joint(
        np.repeat(X, weights, axis=0), np.repeat(labels, weights), alpha, prior
    )


def posterior(X, alpha, prior, weights):
    """The probability of every partition."""
    joints = {
        tuple(z): repeated_joint(X, z, alpha, prior, weights) for z in naive.partitions(len(X))
    }
    least = min(joints.values())
    total = sum(exp(least - joint) for joint in joints.values())
    return {z: exp(least - joint) / total for z, joint in joints.items()}


def summary(probabilities, n):
    """Probabilities that rows share a cluster, and those of 1, 2, ... n clusters."""
    together, n_clusters = np.zeros((n, n)), np.zeros(n)
    for labels, p in probabilities.items():
        z = np.array(labels)
        together += p * (z[:, None] == z)
        n_clusters[len(set(labels)) - 1] += p
    return together, n_clusters


def check_stationary(twin, advance, weights=None, seed=0):
    """Long-run frequencies against enumeration."""
    n, n_steps, tolerance = {"cython": (6, 20_000, 0.02), "python": (4, 1_500, 0.07)}[
        twin.implementation
    ]
    X = np.array([[-1.2, 0.1], [1.4, 0.0], [-0.7, 0.9], [0.9, -0.4], [0.2, 0.3], [3.0, 1.0]])[:n]
    prior = {"m0": np.zeros(2), "c0": 0.2, "a0": 1.5, "b0": np.full(2, 0.5)}
    counts = np.ones(n, dtype=int) if weights is None else np.array(weights[:n])
    target = posterior(X, 0.8, prior, counts)
    assert max(target.values()) < 0.7, "a target that is nearly one partition tests little"
    given = None if weights is None else counts.astype(float)
    partition = build(twin, X, np.zeros(n), 0.8, prior, given)
    rng = np.random.default_rng(seed)
    visits = Counter()
    for _ in range(n_steps):
        advance(twin, partition, rng)
        visits[tuple(naive.canonical(partition.labels.tolist()))] += 1 / n_steps
    for seen, expected in zip(summary(visits, n), summary(target, n), strict=True):
        np.testing.assert_allclose(seen, expected, rtol=0.0, atol=tolerance)
    assert abs(partition.neg_log_joint - partition.exact_neg_log_joint()) < 1e-7


# Geweke's test. Draws of (labels, rows) from the prior of both are compared with those of a chain
# that moves the labels given the rows, then draws the rows given the labels: it has the same
# distribution if the moves leave the posterior of the labels as it is.

N, D, ALPHA = 6, 2, 1.3
PRIOR = {"m0": np.array([0.5, -1.0]), "c0": 0.5, "a0": 2.0, "b0": np.array([1.0, 2.0])}


def draw_labels(rng):
    labels = [0]
    for i in range(1, N):
        sizes = np.bincount(labels)
        labels.append(int(rng.choice(len(sizes) + 1, p=np.append(sizes, ALPHA) / (i + ALPHA))))
    return np.array(labels)


def draw_rows(labels, rng):
    """Each cluster's means and precisions from the prior, its rows from these."""
    precision = rng.gamma(PRIOR["a0"], 1.0 / PRIOR["b0"], size=(N, D))
    means = PRIOR["m0"] + rng.normal(size=(N, D)) / np.sqrt(PRIOR["c0"] * precision)
    return means[labels] + rng.normal(size=(N, D)) / np.sqrt(precision[labels])


def statistics(labels, X):
    u = (X - PRIOR["m0"]) / np.sqrt(PRIOR["b0"])
    together = float(labels[0] == labels[1])
    return [
        len(set(labels.tolist())),
        np.bincount(labels).max(),
        together,
        np.tanh(u).sum(),
        np.tanh(u**2 - 1.0).sum(),
        np.tanh(u[0] @ u[1]),
        together * np.tanh(u[0] @ u[1]),
    ]


def geweke_z_scores(twin, advance, n_steps, seed=0, alpha=ALPHA):
    """z-score of each statistic's two means; the chain's error is that of 50 batch means."""
    rng = np.random.default_rng(seed)
    marginal = []
    for _ in range(n_steps):
        labels = draw_labels(rng)
        marginal.append(statistics(labels, draw_rows(labels, rng)))
    labels, successive = draw_labels(rng), []
    for _ in range(n_steps):
        X = draw_rows(labels, rng)
        partition = build(twin, X, labels, alpha, PRIOR)
        advance(twin, partition, rng)
        labels = np.array(partition.labels)
        successive.append(statistics(labels, X))
    batches = np.array(successive).reshape(50, -1, len(successive[0])).mean(axis=1)
    variance = batches.var(axis=0, ddof=1) / 50 + np.var(marginal, axis=0) / n_steps
    return (batches.mean(axis=0) - np.mean(marginal, axis=0)) / np.sqrt(variance)


def check_geweke(twin, advance):
    n_steps = {"cython": 10_000, "python": 1_000}[twin.implementation]
    assert np.abs(geweke_z_scores(twin, advance, n_steps)).max() < 4.0
