"""Starts from other samples: when they are made, and that they only ever help."""

import threading

import numpy as np
import pytest
from cases import needs_kernels
from contexts import context_of

from dpmlite import MAPDPM, sweeps
from dpmlite.search import descent, restart_from_sample, samples
from dpmlite.search.descent import descend
from dpmlite.search.reseeding import reseed_rows
from dpmlite.search.restart_from_sample import improve_from_other_samples
from dpmlite.search.result import SearchResult


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    """Of 40 rows, so that the plain twin has few."""
    monkeypatch.setattr(samples, "SAMPLE_ROWS", 40)


def uniform(n_rows=150, seed=0):
    """Rows that no cluster of normals looks like."""
    return np.random.default_rng(seed).random((n_rows, 2)) ** 2


def descended(X, max_sweeps=1000):
    moves = [move for move in descent.MOVES if move is not reseed_rows]
    context = context_of(X, moves=moves, max_sweeps=max_sweeps)
    return descend(context, SearchResult(context.partition(np.zeros(len(X), dtype=np.intp))))


def resampled(X, result, seed=0, stop=None):
    return improve_from_other_samples(context_of(X, seed, stop, moves=descent.MOVES), result)


@pytest.fixture
def attempts(monkeypatch):
    """Grows by one with each attempt."""
    made, attempt = [], restart_from_sample.cross_over_with_sample

    def counted(context, result):
        made.append(result)
        return attempt(context, result)

    monkeypatch.setattr(restart_from_sample, "cross_over_with_sample", counted)
    return made


def test_restarts_never_raise_the_joint(attempts):
    gains = []
    for seed in (0, 3, 7):
        X = uniform(seed=seed)
        before = descended(X)
        joint, trace = before.neg_log_joint, list(before.trace)
        after = resampled(X, before, seed)
        gains.append(joint - after.neg_log_joint)
        exact = context_of(X).partition(after.labels().copy()).neg_log_joint
        assert after.neg_log_joint == pytest.approx(exact)
        assert after.converged
        assert after.trace[: len(trace)] == trace
        assert (np.diff(after.trace) <= 0.0).all()
        assert (gains[-1] == 0.0) == (after is before)
    assert min(gains) >= 0.0
    assert max(gains) > 1.0
    assert len(attempts) >= 3 * restart_from_sample.MAX_FAILURES


@pytest.mark.parametrize(("seed", "helps"), [(3, False), (7, True)])
def test_sweeps_over_all_rows_are_counted(monkeypatch, seed, helps):
    X = uniform(seed=seed)
    before = descended(X)
    n_sweeps = before.n_sweeps
    swept, sweep = [], sweeps.sweep

    def counted(partition, order=None):
        swept.append(partition.n_rows)
        return sweep(partition, order)

    monkeypatch.setattr(sweeps, "sweep", counted)
    after = resampled(X, before, seed)
    assert (after is not before) == helps
    assert after.n_sweeps - n_sweeps == swept.count(150)


def test_restarts_end_after_failures_in_a_row(attempts):
    X = uniform()
    result = descended(X)
    for seed in range(9):
        attempts.clear()
        better = resampled(X, result, seed)
        if better is result:
            assert len(attempts) == restart_from_sample.MAX_FAILURES
            return
        result = better
    raise AssertionError("every sample helped")


@pytest.mark.parametrize("reason", ["normal", "large", "not converged", "stop"])
def test_no_restart_of_normal_large_stopped_or_unconverged_fits(attempts, monkeypatch, reason):
    X = np.random.default_rng(0).normal(size=(150, 2)) if reason == "normal" else uniform()
    stop = threading.Event()
    result = descended(X, 1 if reason == "not converged" else 1000)
    if reason == "large":
        monkeypatch.setattr(restart_from_sample, "MAX_CELLS", X.size - 1)
    if reason == "stop":
        stop.set()
    assert resampled(X, result, stop=stop) is result
    assert attempts == []


def test_the_default_makes_them_for_tables_larger_than_the_sample(attempts):
    X = uniform()
    MAPDPM(prior="paper", random_state=0).fit(X[:40])
    assert attempts == []
    one, two = (MAPDPM(prior="paper", random_state=0, n_jobs=n).fit(X) for n in (1, 2))
    assert len(attempts) >= 2 * restart_from_sample.MAX_FAILURES
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert (np.diff(one.neg_log_joint_trace_) <= 0.0).all()


@needs_kernels
def test_bits_whose_clusters_a_sample_does_not_tell(monkeypatch):
    """Few patterns that many rows share: what single rows and splits cannot leave."""
    rng = np.random.default_rng(2)
    X = (rng.random((2000, 6)) < rng.random((4, 6))[rng.integers(4, size=2000)]).astype(float)
    joints = []
    for max_failures in (0, restart_from_sample.MAX_FAILURES):
        monkeypatch.setattr(restart_from_sample, "MAX_FAILURES", max_failures)
        models_ = [
            MAPDPM(prior="paper", component="beta-bernoulli", random_state=s).fit(X)
            for s in range(4)
        ]
        joints.append([model.neg_log_joint_ for model in models_])
    gains = np.subtract(*joints)
    assert gains.min() >= 0.0
    assert gains.mean() > 5.0
