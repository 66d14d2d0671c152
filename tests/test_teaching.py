"""Sampling and descent with parameters: exact sums, densities by scipy, and what modes promise."""

from itertools import islice, pairwise

import chains
import naive
import numpy as np
import pytest
from cases import blobs, needs_kernels
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmlite import crp_log_prob
from dpmlite.teaching import uncollapsed_gibbs, uncollapsed_map

PRIOR = {"m0": np.zeros(2), "c0": 0.2, "a0": 1.5, "b0": np.full(2, 0.5)}
ALPHA = 0.8
X = np.array([[-1.2, 0.1], [1.4, 0.0], [-0.7, 0.9], [0.9, -0.4], [0.2, 0.3]])


def neg_log_joint(X, labels, means, precisions, alpha, prior):
    """The objective, by other people's densities."""
    stats = pytest.importorskip("scipy.stats")
    total = crp_log_prob(labels, alpha)
    total += stats.norm.logpdf(X, means[labels], precisions[labels] ** -0.5).sum()
    scale = (prior["c0"] * precisions) ** -0.5
    total += stats.norm.logpdf(means, prior["m0"], scale).sum()
    total += stats.gamma.logpdf(precisions, prior["a0"], scale=1.0 / prior["b0"]).sum()
    return -total


def test_samples_are_of_the_exact_posterior():
    visits, n_sweeps = {}, 5000
    for state in islice(uncollapsed_gibbs(X, alpha=ALPHA, prior=PRIOR, random_state=0), n_sweeps):
        z = tuple(naive.canonical(state.labels.tolist()))
        visits[z] = visits.get(z, 0.0) + 1.0 / n_sweeps
    target = chains.posterior(X, ALPHA, PRIOR, np.ones(5, dtype=int))
    assert max(target.values()) < 0.7, "a target that is nearly one partition tests little"
    for seen, expected in zip(chains.summary(visits, 5), chains.summary(target, 5), strict=True):
        np.testing.assert_allclose(seen, expected, rtol=0.0, atol=0.035)


def test_parameters_are_draws_given_the_rows():
    """Those of the rows of one far cluster, whose label no sweep changes: eq. (13)."""
    far = np.array([[0.0], [1.0], [2.0], [3.0]])
    prior = {"m0": np.zeros(1), "c0": 0.5, "a0": 3.0, "b0": np.ones(1)}
    chain = uncollapsed_gibbs(far, alpha=1e-6, prior=prior, random_state=0)
    states = list(islice(chain, 4000))
    m, c, b, a = naive.posterior(far, prior)
    precision = np.array([state.precisions[0, 0] for state in states])
    mean = np.array([state.means[0, 0] for state in states])
    assert max(len(state.means) for state in states) == 1
    assert precision.mean() == pytest.approx(a / b[0], rel=0.05)
    assert mean.mean() == pytest.approx(m[0], abs=0.1)
    assert mean.var() == pytest.approx(b[0] / (c * (a - 1.0)), rel=0.2)


def test_the_joint_is_that_of_labels_and_parameters():
    for state in islice(uncollapsed_gibbs(X, alpha=ALPHA, prior=PRIOR, random_state=3), 20):
        found = (state.labels, state.means, state.precisions)
        expected = neg_log_joint(X, *found, ALPHA, PRIOR)
        assert state.neg_log_joint == pytest.approx(expected, rel=1e-10)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(1, 12),
    alpha=st.sampled_from([0.1, 1.0, 20.0]),
    a0=st.sampled_from([0.3, 1.0, 4.0]),
    alone=st.booleans(),
)
def test_the_joint_never_rises_and_ends_in_a_mode(seed, n_rows, alpha, a0, alone):
    rng = np.random.default_rng(seed)
    rows = np.round(rng.normal(0.0, 3.0, size=(n_rows, 2)), 1)
    prior = {**PRIOR, "a0": a0}
    init = np.arange(n_rows) if alone else None
    states = list(uncollapsed_map(rows, alpha=alpha, prior=prior, init=init))
    joints = [state.neg_log_joint for state in states]
    slack = 1e-9 * max(1.0, abs(joints[0]))
    assert all(after <= before + slack for before, after in pairwise(joints))
    last = states[-1]
    at = (rows, last.labels, last.means, last.precisions, alpha, prior)
    assert joints[-1] == pytest.approx(neg_log_joint(*at), rel=1e-10, abs=1e-9)
    for better in neighbours(last, rng):
        assert neg_log_joint(rows, *better, alpha, prior) >= joints[-1] - slack


def neighbours(state, rng):
    """States that differ in one label or in a parameter."""
    labels, means, precisions = state.labels, state.means, state.precisions
    for i in np.flatnonzero(np.bincount(labels)[labels] > 1):
        for k in range(len(means)):
            other = labels.copy()
            other[i] = k
            yield other, means, precisions
    for _ in range(4):
        yield labels, means + rng.normal(size=means.shape) * 1e-2, precisions
        yield labels, means, precisions * np.exp(rng.normal(size=means.shape) * 1e-2)


def test_parameters_of_a_descent_are_modes():
    rows, labels = blobs(n_rows=30)
    for state in uncollapsed_map(rows, prior=PRIOR, init=labels):
        for k, (mean, precision) in enumerate(zip(state.means, state.precisions, strict=True)):
            m, _, b, a = naive.posterior(rows[state.labels == k], PRIOR)
            np.testing.assert_allclose(mean, m, rtol=1e-10)
            np.testing.assert_allclose(precision, (a - 0.5) / b, rtol=1e-10)


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_a_cluster_costs_more_in_large_units(unit):
    """N D log(s) is that of the rows' densities; each cluster has D log(s) less."""
    rows, labels = blobs(n_rows=30)
    scaled = {**PRIOR, "m0": PRIOR["m0"] * unit, "b0": PRIOR["b0"] * unit**2}
    for init, n_clusters in ((labels, 3), (np.arange(30), 30)):
        plain = next(uncollapsed_map(rows, prior=PRIOR, init=init)).neg_log_joint
        other = next(uncollapsed_map(rows * unit, prior=scaled, init=init)).neg_log_joint
        difference = 2.0 * (30 - n_clusters) * np.log(unit)
        assert other - plain == pytest.approx(difference, rel=1e-9)


@needs_kernels
def test_both_find_clear_groups():
    rows, labels = blobs(n_rows=40)
    truth = naive.canonical(labels)
    *_, last = uncollapsed_map(rows, prior=PRIOR, init=labels)
    assert naive.canonical(last.labels.tolist()) == truth
    *_, last = islice(uncollapsed_gibbs(rows, prior=PRIOR, random_state=0), 100)
    together = last.labels[:, None] == last.labels
    assert (together == (labels[:, None] == labels)).mean() > 0.9


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha": 0.0}, "alpha must be positive, got 0.0"),
        ({"prior": {"q": 1.0}}, "prior must have keys among m0, c0, a0, b0, got 'q'"),
        ({"init": [0, 1]}, r"init must have shape \(5,\), got \(2,\)"),
    ],
)
def test_errors_come_before_the_first_sweep(given, message):
    for function in (uncollapsed_gibbs, uncollapsed_map):
        with pytest.raises(ValueError, match=message):
            function(X, **given)


def test_chance_must_be_a_generator():
    with pytest.raises(ValueError, match="random_state must be None, a whole number"):
        uncollapsed_gibbs(X, random_state="0")


def test_labels_that_are_given_stay_as_they_are():
    init = np.array([0, 0, 1, 1, 2])
    list(uncollapsed_map(X, init=init))
    assert init.tolist() == [0, 0, 1, 1, 2]
