"""Reseeded rows: which they are, what becomes of them, and that nothing else changes."""

from dataclasses import replace

import numpy as np
import pytest
from cases import empirical_prior, needs_kernels
from contexts import context_of
from hypothesis import given
from hypothesis import strategies as st

from dpmlite import MAPDPM, core, families, moves
from dpmlite.datasets import planted_gaussians
from dpmlite.search import reseeding
from dpmlite.search.context import Context, Problem
from dpmlite.search.progress import Progress
from dpmlite.search.reseeding import Reseeding, reseed_rows
from dpmlite.search.result import SearchResult
from dpmlite.search.row_costs import RowCosts, drawn


@given(costs=st.lists(st.integers(0, 4), min_size=1, max_size=30), data=st.data())
def test_of_equal_costs_the_first_are_reseeded(costs, data):
    n = data.draw(st.integers(1, len(costs)))
    rounding = data.draw(st.lists(st.sampled_from([0.0, 1e-12]), min_size=len(costs)))
    rounded = np.array(costs) + np.array(rounding[: len(costs)])
    found = RowCosts(rounded, np.ones(len(costs))).worst((n + 0.5) / len(costs), 1e-8)
    first_of_equals = sorted(range(len(costs)), key=lambda i: (-costs[i], i))
    assert found.tolist() == sorted(first_of_equals[:n])


@given(
    costs=st.lists(st.integers(0, 4), min_size=1, max_size=30),
    fraction=st.floats(0.0, 1.0),
    data=st.data(),
)
def test_a_fraction_of_the_weight_is_reseeded(costs, fraction, data):
    """Of the worst rows, the first of equals first, as many as fit into it; or the very worst."""
    n = len(costs)
    weights = data.draw(st.lists(st.sampled_from([1.0, 2.0, 8.0]), min_size=n, max_size=n))
    found = RowCosts(np.array(costs, dtype=float), np.array(weights)).worst(fraction, 1e-8)
    ranked = sorted(range(n), key=lambda i: (-costs[i], i))
    fitting = np.cumsum([weights[i] for i in ranked]) <= fraction * sum(weights)
    assert found.tolist() == sorted(ranked[: max(1, fitting.sum())])


def test_the_worst_row_is_reseeded_however_heavy_it_is():
    found = RowCosts(np.array([1.0, 3.0, 2.0]), np.array([1.0, 50.0, 1.0])).worst(0.1, 1e-8)
    assert found.tolist() == [1]


def test_seeds_are_drawn_as_their_weights():
    rng = np.random.default_rng(0)
    rows, weights = np.arange(10, 14), np.array([1.0, 2.0, 0.0, 7.0]) + 1e-12
    first = [drawn(rows, 1, weights, rng)[0] for _ in range(2000)]
    frequencies = np.bincount(first, minlength=14)[10:] / 2000
    np.testing.assert_allclose(frequencies, [0.1, 0.2, 0.0, 0.7], atol=0.04)
    assert sorted(drawn(rows, 9, weights, rng)) == sorted(drawn(rows, 9, np.ones(4), rng))
    assert len(drawn(rows, 3, np.array([1e-300, 1e300, 1e-300, 1.0]), rng)) == 3


@pytest.fixture
def asked(monkeypatch):
    """Gets every object whose rows are reseeded."""
    found, run = [], Reseeding.run
    monkeypatch.setattr(Reseeding, "run", lambda self: found.append(self) or run(self))
    return found


@pytest.mark.parametrize(
    ("weight", "power"), [(1.0, 0.02), (64.0, 0.02 / 64.0), (64.0, 1.0 / 64.0)]
)
def test_a_trial_has_fewer_rows_the_less_a_row_of_mean_weight_counts(weight, power):
    X = np.random.default_rng(0).normal(size=(200, 2))
    component = families.NormalGamma(**empirical_prior(X), power=power)
    weights = weight * np.tile([0.5, 1.5], 100)
    problem = Problem(core.Rows(X, weights), component, 1.0)
    context = Context(problem, np.random.default_rng(0), Progress())
    partition = context.partition(np.zeros(200, dtype=np.intp))
    attempts = Reseeding(context, partition, None, SearchResult(partition))
    assert attempts.step == max(1, int(0.25 / (weight * power)))
    assert (attempts.max_moved == 0.0) == (attempts.step == 1)  # all rows: to a fixed point


def three_blobs_in_one_and_a_fourth(rng, n=60):
    blob = np.repeat(np.arange(4), n)
    corners = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0], [40.0, 40.0]])
    return np.tile(corners, 4)[blob] + rng.normal(size=(4 * n, 8)), blob


def test_only_rows_of_clusters_that_do_not_look_normal_are_reseeded(asked):
    rng = np.random.default_rng(2)
    X, blob = three_blobs_in_one_and_a_fourth(rng)
    order = rng.permutation(len(X))[:-20].astype(np.intp)
    context = context_of(X, rng)
    result = SearchResult(context.partition((blob // 3)[order].astype(np.intp), order), order)
    moves.split_memory_of(result.partition).mark_tried(1, looked_normal=True)
    assert reseed_rows(context, result)
    np.testing.assert_array_equal(np.sort(asked[0].order), np.sort(order[blob[order] < 3]))
    assert len(asked) == 1
    partition = result.partition
    assert partition.n_clusters > 2
    found = np.asarray(partition.labels)
    fourth = found[np.flatnonzero(blob[order] == 3)[0]]
    np.testing.assert_array_equal(found == fourth, blob[order] == 3)
    exact = context.partition(found.copy(), order).neg_log_joint
    assert partition.neg_log_joint == pytest.approx(exact, rel=1e-12)
    assert result.trace == [partition.neg_log_joint]
    assert result.n_sweeps > 0


@pytest.mark.parametrize("quick", [True, False])
def test_a_quick_search_does_not_reseed_where_sweeps_take_long(asked, monkeypatch, quick):
    X, blob = three_blobs_in_one_and_a_fourth(np.random.default_rng(2))
    own = replace(context_of(X), quick=quick)
    monkeypatch.setattr("dpmlite.search.context.MAX_QUICK_TERMS", X.size)
    result = SearchResult(own.partition((blob // 3).astype(np.intp)))
    gains = reseed_rows(own, result)
    assert bool(asked) != quick
    assert not (quick and gains)


def test_absorbed_groups_of_these_clusters_come_along(asked):
    """One with each of the first two clusters; another cluster is a group without rows."""
    rng = np.random.default_rng(3)
    X, blob = three_blobs_in_one_and_a_fourth(rng)
    groups = families.NormalGamma(**empirical_prior(X))
    groups.resize(3)
    for g, corner in enumerate([X[-1], X[0], np.full(8, -50.0)]):
        for row in corner + rng.normal(size=(40, 8)):
            groups.add(row, g)
    context = context_of(X, rng, groups=groups)
    labels, group_labels = (1 - blob // 3).astype(np.intp), np.array([0, 1, 2], dtype=np.intp)
    result = SearchResult(context.partition(labels, None, group_labels))
    moves.split_memory_of(result.partition).mark_tried(0, looked_normal=True)
    assert reseed_rows(context, result)
    parts = [reseeding.partition for reseeding in asked]
    assert [(len(part.labels), len(part.group_labels)) for part in parts] == [(180, 1)]
    found, group_labels = np.array(result.partition.labels), np.array(result.partition.group_labels)
    np.testing.assert_array_equal(found == found[-1], blob == 3)
    assert group_labels[0] == found[-1]
    assert group_labels[1] == found[0]
    assert group_labels[2] not in found
    exact = context.partition(found.copy(), None, group_labels.copy()).neg_log_joint
    assert result.neg_log_joint == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("n_normal", [0, 4])
def test_of_clusters_that_look_alike_all_rows_are_reseeded_or_none(monkeypatch, n_normal):
    asked = []
    monkeypatch.setattr(Reseeding, "run", lambda self: asked.append(self.partition))
    X, blob = three_blobs_in_one_and_a_fourth(np.random.default_rng(1))
    context = context_of(X, np.random.default_rng(2))
    result = SearchResult(context.partition(blob.astype(np.intp)))
    for k in range(n_normal):
        moves.split_memory_of(result.partition).mark_tried(k, looked_normal=True)
    assert not reseed_rows(context, result)
    assert asked == ([] if n_normal else [result.partition])


@needs_kernels
def test_all_rows_follow_attempts_on_a_part_of_them_alike_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(reseeding, "MAX_TRIAL_ROWS", 200)
    extended = []
    extend = Reseeding._extended

    def recorded(*args):
        extended.append(extend(*args))
        return extended[-1]

    monkeypatch.setattr(Reseeding, "_extended", recorded)
    for seed in (7, 26):
        X, _ = planted_gaussians(1500, 3, 25, separation=3.5, random_state=seed)
        one, three = (MAPDPM(prior="paper", random_state=seed, n_jobs=n).fit(X) for n in (1, 3))
        np.testing.assert_array_equal(three.labels_, one.labels_)
        np.testing.assert_array_equal(three.neg_log_joint_trace_, one.neg_log_joint_trace_)
        assert (three.n_sweeps_, three.n_empty_clusters_) == (one.n_sweeps_, one.n_empty_clusters_)
    assert extended
