"""Starts from other samples: when they are made, and that they only ever help."""

import threading

import numpy as np
import pytest
from cases import empirical_prior, needs_kernels
from dpmlite.estimators.problem import Problem
from dpmlite.estimators.resampling import Resampling

from dpmlite import MAPDPM, inference, models
from dpmlite.estimators import climb as climbs
from dpmlite.estimators import resampling, starts


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    """Of 40 rows, so that the plain twin has few."""
    monkeypatch.setattr(starts, "SAMPLE_ROWS", 40)


def uniform(n_rows=150, seed=0):
    """Rows that no cluster of normals looks like."""
    return np.random.default_rng(seed).random((n_rows, 2)) ** 2


def climbed(X, max_sweeps=1000):
    problem = Problem(models.Rows(X), models.NormalGamma(**empirical_prior(X)), 1.0)
    partition = problem.partition(np.zeros(len(X), dtype=np.intp))
    climb = climbs.Climb(problem, partition, None, max_sweeps, False, threading.Event(), "one")
    climb.run(np.random.default_rng(0), split_merge=True, frees=False)
    return climb


def resampled(climb, seed=0, stop=None):
    stop = stop or threading.Event()
    rng = np.random.default_rng(seed)
    return Resampling(climb.problem, rng, 1000, verbose=False, stop=stop).improved(climb)


@pytest.fixture
def attempts(monkeypatch):
    """Grows by one with each attempt."""
    made, attempt = [], Resampling._attempt

    def counted(self, climb):
        made.append(climb)
        return attempt(self, climb)

    monkeypatch.setattr(Resampling, "_attempt", counted)
    return made


def test_it_only_ever_helps(attempts):
    gains = []
    for seed in (0, 3, 7):
        before = climbed(uniform(seed=seed))
        joint, trace = before.objective, list(before.trace)
        after = resampled(before, seed)
        gains.append(joint - after.objective)
        problem = before.problem
        assert problem.partition(after.labels()).neg_log_joint == pytest.approx(after.objective)
        assert after.converged
        assert after.trace[: len(trace)] == trace
        assert (np.diff(after.trace) <= 0.0).all()
        assert (gains[-1] == 0.0) == (after is before)
    assert min(gains) >= 0.0
    assert max(gains) > 1.0
    assert len(attempts) >= 3 * resampling.IN_VAIN


@pytest.mark.parametrize(("seed", "helps"), [(3, False), (7, True)])
def test_sweeps_over_all_rows_are_counted(monkeypatch, seed, helps):
    before = climbed(uniform(seed=seed))
    n_sweeps = before.n_sweeps + before.n_sweeps_aside
    swept, sweep = [], inference.sweep

    def counted(partition, *n_threads):
        swept.append(partition.n_rows)
        return sweep(partition, *n_threads)

    monkeypatch.setattr(inference, "sweep", counted)
    after = resampled(before, seed)
    assert (after is not before) == helps
    assert after.n_sweeps + after.n_sweeps_aside - n_sweeps == swept.count(150)


def test_attempts_in_vain_end_it(attempts):
    climb = climbed(uniform())
    for seed in range(9):
        attempts.clear()
        better = resampled(climb, seed)
        if better is climb:
            assert len(attempts) == resampling.IN_VAIN
            return
        climb = better
    raise AssertionError("every sample helped")


@pytest.mark.parametrize("reason", ["normal", "large", "not converged", "stop"])
def test_when_there_are_none(attempts, monkeypatch, reason):
    X = np.random.default_rng(0).normal(size=(150, 2))
    stop = threading.Event()
    climb = climbed(
        X if reason == "normal" else uniform(), 1 if reason == "not converged" else 1000
    )
    if reason == "large":
        monkeypatch.setattr(resampling, "MOST_CELLS", X.size - 1)
    if reason == "stop":
        stop.set()
    assert resampled(climb, stop=stop) is climb
    assert attempts == []


def test_the_default_makes_them_for_tables_larger_than_the_sample(attempts):
    X = uniform()
    MAPDPM(random_state=0).fit(X[:40])
    assert attempts == []
    one, two = (MAPDPM(random_state=0, n_jobs=n).fit(X) for n in (1, 2))
    assert len(attempts) >= 2 * resampling.IN_VAIN
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert (np.diff(one.neg_log_joint_trace_) <= 0.0).all()


@needs_kernels
def test_bits_whose_clusters_a_sample_does_not_tell(monkeypatch):
    """Few patterns that many rows share: what single rows and splits cannot leave."""
    rng = np.random.default_rng(2)
    X = (rng.random((2000, 6)) < rng.random((4, 6))[rng.integers(4, size=2000)]).astype(float)
    joints = []
    for in_vain in (0, resampling.IN_VAIN):
        monkeypatch.setattr(resampling, "IN_VAIN", in_vain)
        models_ = [MAPDPM(component="beta-bernoulli", random_state=s).fit(X) for s in range(4)]
        joints.append([model.neg_log_joint_ for model in models_])
    gains = np.subtract(*joints)
    assert gains.min() >= 0.0
    assert gains.mean() > 5.0
