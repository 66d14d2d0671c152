"""Freed rows: which they are, what becomes of them, and that nothing else changes."""

import threading

import numpy as np
import pytest
from cases import empirical_prior, needs_kernels
from dpmlite.estimators.climb import Climb
from dpmlite.estimators.freeing import Fits, Freeing, drawn
from dpmlite.estimators.problem import Problem
from hypothesis import given
from hypothesis import strategies as st

from dpmlite import MAPDPM, models
from dpmlite.datasets import planted_gaussians
from dpmlite.estimators import freeing

GO_ON = threading.Event()


@given(costs=st.lists(st.integers(0, 4), min_size=1, max_size=30), data=st.data())
def test_of_equal_costs_the_first_are_freed(costs, data):
    n = data.draw(st.integers(1, len(costs)))
    rounding = data.draw(st.lists(st.sampled_from([0.0, 1e-12]), min_size=len(costs)))
    rounded = np.array(costs) + np.array(rounding[: len(costs)])
    found = Fits(rounded, np.ones(len(costs))).worst((n + 0.5) / len(costs), 1e-8)
    first_of_equals = sorted(range(len(costs)), key=lambda i: (-costs[i], i))
    assert found.tolist() == sorted(first_of_equals[:n])


@given(
    costs=st.lists(st.integers(0, 4), min_size=1, max_size=30),
    part=st.floats(0.0, 1.0),
    data=st.data(),
)
def test_a_part_of_the_weight_is_freed(costs, part, data):
    """Of the worst rows, the first of equals first, as many as fit into it; or the very worst."""
    n = len(costs)
    weights = data.draw(st.lists(st.sampled_from([1.0, 2.0, 8.0]), min_size=n, max_size=n))
    found = Fits(np.array(costs, dtype=float), np.array(weights)).worst(part, 1e-8)
    ranked = sorted(range(n), key=lambda i: (-costs[i], i))
    fitting = np.cumsum([weights[i] for i in ranked]) <= part * sum(weights)
    assert found.tolist() == sorted(ranked[: max(1, fitting.sum())])


def test_the_worst_row_is_freed_however_heavy_it_is():
    found = Fits(np.array([1.0, 3.0, 2.0]), np.array([1.0, 50.0, 1.0])).worst(0.1, 1e-8)
    assert found.tolist() == [1]


def test_seeds_are_drawn_as_their_weights():
    rng = np.random.default_rng(0)
    rows, weights = np.arange(10, 14), np.array([1.0, 2.0, 0.0, 7.0]) + 1e-12
    first = [drawn(rows, 1, weights, rng)[0] for _ in range(2000)]
    shares = np.bincount(first, minlength=14)[10:] / 2000
    np.testing.assert_allclose(shares, [0.1, 0.2, 0.0, 0.7], atol=0.04)
    assert sorted(drawn(rows, 9, weights, rng)) == sorted(drawn(rows, 9, np.ones(4), rng))
    assert len(drawn(rows, 3, np.array([1e-300, 1e300, 1e-300, 1.0]), rng)) == 3


def climb_of(X, labels, order):
    """About to begin with some rows of X, in an order of visits."""
    problem = Problem(models.Rows(X), models.NormalGamma(**empirical_prior(X)), 1.0)
    partition = problem.partition(labels[order].astype(np.intp), order)
    return Climb(problem, partition, order, 1000, False, GO_ON, "test")


def three_blobs_in_one_and_a_fourth(rng, n=60):
    blob = np.repeat(np.arange(4), n)
    corners = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0], [40.0, 40.0]])
    return np.tile(corners, 4)[blob] + rng.normal(size=(4 * n, 8)), blob


def test_only_rows_of_clusters_that_do_not_look_normal_are_freed(monkeypatch):
    asked = []
    run = Freeing.run
    monkeypatch.setattr(
        Freeing, "run", lambda self, rng: asked.append(np.sort(self.order)) or run(self, rng)
    )
    rng = np.random.default_rng(2)
    X, blob = three_blobs_in_one_and_a_fourth(rng)
    order = rng.permutation(len(X))[:-20].astype(np.intp)
    climb = climb_of(X, blob // 3, order)
    climb.partition.mark_unchanged(1, normal=True)
    assert climb._free(rng)
    np.testing.assert_array_equal(asked, [np.sort(order[blob[order] < 3])])
    partition = climb.partition
    assert partition.n_clusters > 2
    found = np.asarray(partition.labels)
    fourth = found[np.flatnonzero(blob[order] == 3)[0]]
    np.testing.assert_array_equal(found == fourth, blob[order] == 3)
    exact = climb.problem.partition(found.copy(), order).neg_log_joint
    assert partition.neg_log_joint == pytest.approx(exact, rel=1e-12)
    assert climb.trace == [partition.neg_log_joint]
    assert climb.n_sweeps_aside > 0


def test_settled_groups_of_these_clusters_come_along(monkeypatch):
    """One with each of the first two clusters; another cluster is a group without rows."""
    asked = []
    run = Freeing.run
    monkeypatch.setattr(
        Freeing, "run", lambda self, rng: asked.append(self.partition) or run(self, rng)
    )
    rng = np.random.default_rng(3)
    X, blob = three_blobs_in_one_and_a_fourth(rng)
    component = models.NormalGamma(**empirical_prior(X))
    settled = component.like()
    settled.resize(3)
    for g, corner in enumerate([X[-1], X[0], np.full(8, -50.0)]):
        for row in corner + rng.normal(size=(40, 8)):
            settled.add(row, g)
    problem = Problem(models.Rows(X), component, 1.0, settled=settled)
    labels, homes = (1 - blob // 3).astype(np.intp), np.array([0, 1, 2], dtype=np.intp)
    partition = problem.partition(labels, None, homes)
    partition.mark_unchanged(0, normal=True)
    climb = Climb(problem, partition, None, 1000, False, GO_ON, "test")
    assert climb._free(rng)
    assert [(len(part.labels), len(part.homes)) for part in asked] == [(180, 1)]
    found, homes = np.array(climb.partition.labels), np.array(climb.partition.homes)
    np.testing.assert_array_equal(found == found[-1], blob == 3)
    assert homes[0] == found[-1]
    assert homes[1] == found[0]
    assert homes[2] not in found
    exact = problem.partition(found.copy(), None, homes.copy()).neg_log_joint
    assert climb.partition.neg_log_joint == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("n_normal", [0, 4])
def test_of_clusters_that_look_alike_all_rows_are_freed_or_none(monkeypatch, n_normal):
    asked = []
    monkeypatch.setattr(Freeing, "run", lambda self, rng: asked.append(self.partition))
    X, blob = three_blobs_in_one_and_a_fourth(np.random.default_rng(1))
    climb = climb_of(X, blob, np.arange(len(X), dtype=np.intp))
    for k in range(n_normal):
        climb.partition.mark_unchanged(k, normal=True)
    assert not climb._free(np.random.default_rng(2))
    assert asked == ([] if n_normal else [climb.partition])


@needs_kernels
def test_what_helped_a_part_of_the_rows_is_extended_on_threads(monkeypatch):
    """All rows follow attempts of freed rows, on threads, with the counts of one thread."""
    monkeypatch.setattr(freeing, "FREE_ROWS", 200)
    extended = []
    attempt = freeing.Freeing._attempt

    def noted(*args):
        found = attempt(*args)
        extended.append(found.of_all is not None)
        return found

    monkeypatch.setattr(freeing.Freeing, "_attempt", noted)
    for seed in (7, 26):
        X, _ = planted_gaussians(1500, 3, 25, separation=3.5, random_state=seed)
        one, three = (MAPDPM(random_state=seed, n_jobs=n).fit(X) for n in (1, 3))
        np.testing.assert_array_equal(three.labels_, one.labels_)
        np.testing.assert_array_equal(three.neg_log_joint_trace_, one.neg_log_joint_trace_)
        assert (three.n_sweeps_, three.n_empty_clusters_) == (one.n_sweeps_, one.n_empty_clusters_)
    assert any(extended)
