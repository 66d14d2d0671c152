"""Rows in chunks: the joint and the labels are those of one partition of all rows."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from cases import needs_kernels

from dpmlite import sweeps
from dpmlite.datasets import unequal_gaussians
from dpmlite.distributed import attempts, descent, proposals, steps
from dpmlite.distributed.chunked_partition import ChunkedPartition, shares
from dpmlite.distributed.descent import descend, groupings_of
from dpmlite.distributed.engine import MapEngine
from dpmlite.distributed.proposals import all_if_changed, batches, each_alone
from dpmlite.distributed.searched_clusters import SearchedClusters
from dpmlite.distributed.statistics import all_others, statistics_of
from dpmlite.distributed.steps import Gather, Mixture, Proposal, Sweep
from dpmlite.estimators.default_model.model import Model
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.map_dpm.chunk_tables import ChunkReader
from dpmlite.estimators.priors import FAMILIES
from dpmlite.search.search import Search

pytestmark = needs_kernels


def rows(n_rows=600, seed=0):
    return unequal_gaussians(3, 6, random_state=seed).sample(n_rows, random_state=seed)[0]


def as_data(X):
    return Data(X.shape, np.ascontiguousarray(X))


def model_of(X, component="normal-gamma", power=1.0):
    family = FAMILIES[component]
    return Model(family, False, family.prior(None, as_data(X)), 1.0, power, has_missing=False)


def mixture_of(model, X, n_clusters=8):
    """Components that rows are dealt to, as a rough start."""
    labels = np.argsort(np.argsort(X[:, 0])) * n_clusters // len(X)
    found = model.problem(as_data(X)).partition(labels.astype(np.intp))
    return Mixture(model, statistics_of(found.component, found.n_clusters))


def chunked(X, n_chunks, map_items=map, **parameters):
    """A partition of the rows in chunks, and its engine."""
    model = model_of(X, **parameters)
    parts = np.array_split(X, n_chunks)
    engine = MapEngine(parts, None, map_items)
    engine.read(ChunkReader(model.family, False, X.shape[1], {}))
    lengths = np.array([len(part) for part in parts])
    return ChunkedPartition(engine, model, mixture_of(model, X), as_data(X[:5]), lengths), engine


def labels_of(partition, engine):
    pairs = zip(partition.clusters.numbers, engine.labels, strict=True)
    return np.concatenate([numbers[labels] for numbers, labels in pairs])


def is_consistent(partition, engine, X):
    """Whether joint, statistics and sizes are those of a local partition with the same labels."""
    labels = labels_of(partition, engine)
    local = partition.model.problem(as_data(X)).partition(labels.astype(np.intp))
    assert local.n_clusters == partition.n_clusters
    assert partition.neg_log_joint == pytest.approx(local.neg_log_joint, rel=1e-10)
    expected = statistics_of(local.component, local.n_clusters)
    totals = statistics_of(partition.totals, partition.n_clusters)
    np.testing.assert_allclose(totals, expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(partition.clusters.sizes.sum(axis=0), np.bincount(labels))
    return True


@pytest.mark.parametrize("component", ["normal-gamma", "normal-inverse-wishart"])
@pytest.mark.parametrize("power", [1.0, 0.3])
@pytest.mark.parametrize("n_chunks", [1, 4])
def test_the_joint_is_that_of_all_rows_after_each_step(component, power, n_chunks):
    X = rows()
    partition, engine = chunked(X, n_chunks, component=component, power=power)
    assert is_consistent(partition, engine, X)
    partition.sweep(2)
    assert is_consistent(partition, engine, X)
    other = mixture_of(partition.model, X[:, ::-1], 5)
    other = Mixture(partition.model, other.statistics)
    partition.cross_over(Proposal.for_all(other, partition.n_clusters))
    assert is_consistent(partition, engine, X)
    descend(partition, Search(), np.random.default_rng(0))
    assert is_consistent(partition, engine, X)


def test_one_chunk_is_swept_as_a_local_partition():
    X = rows()
    partition, engine = chunked(X, 1)
    local = partition.model.problem(as_data(X)).partition(labels_of(partition, engine))
    no_others = np.zeros_like(statistics_of(partition.totals, partition.n_clusters))
    request = Sweep(partition.model, partition.clusters.numbers[0], no_others, 1)
    (reply,) = engine.run(steps.sweep, [request])
    assert reply.n_moved == sweeps.sweep(local) > 0
    np.testing.assert_array_equal(engine.labels[0], np.asarray(local.labels))


def test_a_chunk_moves_rows_as_if_all_others_were_there():
    """Rows of one chunk after the others', which stay: a sweep of all rows that visits it first."""
    X = rows()
    partition, engine = chunked(X, 2)
    labels, n = labels_of(partition, engine), len(engine.labels[0])
    others = all_others(partition.clusters.statistics)[0]
    request = Sweep(
        partition.model,
        partition.clusters.numbers[0],
        statistics_of(others, partition.n_clusters),
        1,
    )
    found, reply = steps.sweep(as_data(X[:n]), engine.labels[0], request)
    local = partition.model.problem(as_data(X)).partition(labels.copy())
    for i in range(n):  # the definition: each row goes where it costs least
        costs = np.asarray(local.costs(i))
        own = int(np.asarray(local.labels)[i])
        best = int(np.argmin(costs))
        if best != own and costs[best] < costs[own] - 1e-9:
            local.move(i, best, costs[best] - costs[own])
    expected = np.asarray(local.labels)[:n]
    np.testing.assert_array_equal(reply.keys[found], expected)


def local_mixture(model, X, labels):
    """The clusters of rows as components."""
    found = model.problem(as_data(X)).partition(np.unique(labels, return_inverse=True)[1])
    return Mixture.of(model, found.component, found.n_clusters)


def of_one_cluster(X, n_chunks):
    """A partition of the rows in a single cluster, and its engine."""
    partition, engine = chunked(X, n_chunks)
    partition.start(local_mixture(partition.model, X, np.zeros(len(X))))
    assert partition.n_clusters == 1
    return partition, engine


def test_a_crossover_that_does_not_help_changes_nothing():
    X = rows()
    partition, engine = chunked(X, 3)
    descend(partition, Search(), np.random.default_rng(0))
    before, joint = labels_of(partition, engine), partition.neg_log_joint
    for other in (np.zeros(len(X)), np.random.default_rng(0).integers(40, size=len(X))):
        mixture = local_mixture(partition.model, X, other)
        proposal = Proposal.for_all(mixture, partition.n_clusters)
        assert not attempts.cross_over(partition, Search(), proposal)
        assert partition.neg_log_joint == joint
        np.testing.assert_array_equal(labels_of(partition, engine), before)
        assert is_consistent(partition, engine, X)


def test_a_crossover_takes_what_lowers_the_joint():
    """From a single cluster, a proposal of the true ones is taken whole."""
    X, truth = unequal_gaussians(3, 6, random_state=0).sample(600, random_state=0)
    partition, engine = of_one_cluster(X, 3)
    before = partition.neg_log_joint
    proposal = Proposal.for_all(local_mixture(partition.model, X, truth), 1)
    assert attempts.cross_over(partition, Search(), proposal)
    assert partition.neg_log_joint < before
    assert is_consistent(partition, engine, X)


def test_a_state_of_before_comes_back_after_other_steps():
    X = rows()
    partition, engine = chunked(X, 3)
    before, state, joint = labels_of(partition, engine), partition.state, partition.neg_log_joint
    partition.sweep(2)
    partition.start(local_mixture(partition.model, X, np.zeros(len(X))))
    partition.restore(state)
    assert partition.neg_log_joint == joint
    np.testing.assert_array_equal(labels_of(partition, engine), before)
    assert is_consistent(partition, engine, X)


@pytest.fixture
def small_samples(monkeypatch):
    for module in (proposals, attempts, descent):
        monkeypatch.setattr(module, "GATHERED_ROWS", 200)


def test_a_restart_finds_what_a_single_cluster_hides(small_samples):
    X = rows(900)
    partition, engine = of_one_cluster(X, 3)
    before = partition.neg_log_joint
    assert attempts.restart(partition, Search(), np.random.default_rng(0))
    assert partition.neg_log_joint < before
    assert partition.n_clusters > 1
    assert is_consistent(partition, engine, X)


def test_restarts_never_raise_the_joint(small_samples):
    X, truth = unequal_gaussians(3, 6, random_state=0).sample(900, random_state=0)
    partition, engine = chunked(X, 3)
    partition.start(local_mixture(partition.model, X, truth))
    for seed in range(3):
        before = partition.neg_log_joint
        helped = attempts.restart(partition, Search(), np.random.default_rng(seed))
        gain = before - partition.neg_log_joint
        assert gain > -partition.worthwhile_gain  # chunks that sweep at once may raise it a little
        assert helped == (gain > partition.worthwhile_gain)
        assert is_consistent(partition, engine, X)


def test_rows_in_one_sample_have_no_other():
    partition, _ = chunked(rows(), 3)
    clusters = partition.clusters
    assert not attempts.restart(partition, Search(), np.random.default_rng(0))
    assert partition.clusters is clusters


def test_rows_join_only_what_their_clusters_may():
    X = rows(300)
    model = model_of(X)
    clusters = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.6]))
    parts = [np.flatnonzero(clusters == k) for k in range(3)]
    mixtures = [mixture_of(model, X[parts[k]], 3) for k in (2, 0)]
    found = Proposal(mixtures, np.array([1, -1, 0])).labels(as_data(X), clusters)
    assert (found[parts[1]] == 0).all()
    for k, mixture, first in ((2, mixtures[0], 1), (0, mixtures[1], 4)):
        alone = mixture.labels(as_data(X[parts[k]]), np.arange(len(parts[k])))
        np.testing.assert_array_equal(found[parts[k]], first + alone)


def test_gathered_rows_are_of_the_groups_asked_for():
    X, labels = rows(50), np.arange(50) % 5
    numbers, groups = np.array([4, 3, 2, 1, 0]), np.array([0, -1, 0, 1, -1])
    request = Gather(numbers, groups, np.array([5, 10]), seed=1)
    unchanged, (table, clusters) = steps.gather(as_data(X), labels, request)
    assert unchanged is labels
    assert np.bincount(groups[clusters]).tolist() == [5, 10]
    for row, k in zip(table.values, clusters, strict=True):
        (i,) = np.flatnonzero((row == X).all(axis=1))
        assert numbers[labels[i]] == k


def test_no_rows_are_gathered_of_a_chunk_without_the_cluster():
    request = Gather(np.arange(2), np.array([-1, 0]), np.array([0]), seed=1)
    assert steps.gather(as_data(rows(4)), np.zeros(4, dtype=np.intp), request)[1] is None


@pytest.mark.parametrize("power", [1.0, 0.3])
def test_the_worst_rows_are_those_of_the_greatest_cost_in_their_clusters(power):
    X = rows(600)
    partition, engine = chunked(X, 3, power=power)
    labels, n_clusters = labels_of(partition, engine), partition.n_clusters
    local = partition.model.problem(as_data(X)).partition(labels.astype(np.intp))
    costs = np.array([np.asarray(local.costs(i))[labels[i]] for i in range(len(X))])
    table, rest = partition.worst_rows(60)
    chosen = (X[:, None] == table.values).all(axis=2).any(axis=1)
    chunk = np.repeat(np.arange(3), 200)
    assert len(table.values) == chosen.sum()
    assert (
        np.bincount(labels[chosen], minlength=n_clusters).tolist()
        == ((np.bincount(labels) * 60) // 600).tolist()
    )
    for of_both in ((labels == k) & (chunk == c) for k in range(n_clusters) for c in range(3)):
        worst, others = costs[of_both & chosen], costs[of_both & ~chosen]
        assert not len(worst) or not len(others) or worst.min() > others.max()
    left = partition.model.problem(as_data(X[~chosen])).partition(labels[~chosen].astype(np.intp))
    np.testing.assert_allclose(
        statistics_of(rest, n_clusters), statistics_of(left.component, n_clusters), rtol=1e-9
    )


def with_a_hidden_cluster():
    """Rows of two clusters in whose tails are most rows of a third, and their labels."""
    rng, n_rows = np.random.default_rng(0), np.array([2000, 2000, 80])
    truth = np.repeat(np.arange(3), n_rows)
    centres, widths = np.array([-3.0, 3.0, 0.0]), np.array([1.0, 1.0, 2.5])
    X = centres[truth, None] + widths[truth, None] * rng.normal(size=(len(truth), 3))
    order = rng.permutation(len(X))
    return X[order], truth[order]


def test_rows_that_fit_worst_show_a_cluster_in_the_tails_of_others(small_samples):
    X, truth = with_a_hidden_cluster()
    partition, engine = chunked(X, 3)
    partition.start(local_mixture(partition.model, X, (X[:, 0] > 0.0).astype(int)))
    before = partition.neg_log_joint
    assert partition.n_clusters == 2
    assert descent.try_worst_rows(partition, Search(), np.random.default_rng(0))
    assert partition.neg_log_joint < before - partition.worthwhile_gain
    assert partition.n_clusters == 3
    assert is_consistent(partition, engine, X)
    found = labels_of(partition, engine)
    hidden = np.bincount(found).argmin()
    assert (truth[found == hidden] == 2).mean() > 0.9


def test_under_a_power_no_worst_rows_are_gathered(small_samples):
    partition, _ = chunked(rows(900), 2, power=0.01)
    clusters = partition.clusters
    assert not descent.try_worst_rows(partition, Search(), np.random.default_rng(0))
    assert partition.clusters is clusters


@pytest.mark.parametrize("groups", [[0, 0, 1, -1], [-1, 0, -1, 0]])
def test_samples_are_of_all_chunks_in_proportion(groups):
    partition, engine = chunked(rows(), 3)
    groups = np.resize(groups, partition.n_clusters)
    table, clusters = partition.sample(groups, 60, np.random.default_rng(0))
    everyone = groups[labels_of(partition, engine)]
    expected = [min(60, (everyone == g).sum()) for g in range(groups.max() + 1)]
    assert np.bincount(groups[clusters]).tolist() == expected
    assert table.shape == (sum(expected), 3)


def test_clusters_that_were_not_chosen_have_no_group():
    partition, _ = chunked(rows(), 2)
    rng, nobody = np.random.default_rng(0), np.zeros(partition.n_clusters, dtype=bool)
    for groups_of in (each_alone, all_if_changed):
        groups = groups_of(partition, nobody)
        assert (groups == -1).all()
        assert proposals.proposed(partition, Search(), groups, rng) is None
    chosen = np.arange(partition.n_clusters) % 3 == 1
    groups = each_alone(partition, chosen)
    assert groups[chosen].tolist() == list(range(chosen.sum()))
    assert (groups[~chosen] == -1).all()
    assert (all_if_changed(partition, chosen) == 0).all()


@pytest.mark.parametrize("power", [1.0, 0.01])
def test_few_clusters_are_searched_where_more_of_their_rows_tell_more(power, small_samples):
    partition, _ = chunked(rows(900), 2, power=power)
    alone = each_alone in groupings_of(partition)
    assert alone == (power == 1.0)  # 200 rows of a power of 4.5 % are as sure as 900 of 1 %


def test_clusters_are_searched_again_once_they_have_changed():
    searched, rng = SearchedClusters(), np.random.default_rng(0)
    clusters = np.column_stack([rng.uniform(50.0, 100.0, 6), rng.normal(size=(6, 4))])
    assert searched.are_new(clusters).all()
    in_other_order = clusters[[3, 1, 0, 5, 2, 4]]
    assert not searched.are_new(in_other_order).any()
    changed = in_other_order[:5].copy()
    changed[1, 0] *= 1.05
    changed[3, 2] += 0.5
    assert searched.are_new(changed).tolist() == [False, True, False, True, False]
    assert not searched.are_new(changed).any()


def test_slow_changes_of_a_cluster_add_up():
    searched, weight = SearchedClusters(), np.array([[100.0, 1.0]])
    assert searched.are_new(weight).all()
    found = [bool(searched.are_new(weight * [1.0 + 0.015 * step, 1.0])) for step in range(1, 4)]
    assert found == [False, True, False]


@pytest.mark.parametrize("n", [0, 7, 99, 100])
def test_shares_of_chunks_sum_up_and_fit(n):
    sizes = np.array([0, 1, 50, 49])
    found = shares(sizes, n)
    assert found.sum() == n
    assert (found <= sizes).all()
    assert (np.abs(found - n * sizes / 100) < 1.0).all()


def test_shares_of_a_billion_rows_do_not_overflow():
    assert shares(np.full(1000, 10**7), 20_000).tolist() == [20] * 1000


def test_batches_of_clusters_are_bounded():
    sizes = np.array([10**6, 30_000, 5, 10**5, 10**5, 10**5, 7])
    found = list(batches(sizes))
    assert [k for batch in found for k in batch] == list(range(7))
    assert all(np.minimum(sizes[batch], 20_000).sum() <= 100_000 for batch in found)


def fitted_labels(map_items, X, n_chunks=4):
    partition, engine = chunked(X, n_chunks, map_items)
    descend(partition, Search(), np.random.default_rng(0))
    return labels_of(partition, engine), partition.neg_log_joint


def test_labels_do_not_depend_on_the_number_of_workers():
    X = rows()
    labels, joint = fitted_labels(map, X)
    for n_workers in (1, 2, 4):
        with ThreadPoolExecutor(n_workers) as pool:
            found, same = fitted_labels(pool.map, X)
        assert same == joint
        np.testing.assert_array_equal(found, labels)


def test_the_core_runs_on_processes():
    """What Spark, Ray and others need: pure functions and messages that can be pickled."""
    X = rows(300)
    labels, joint = fitted_labels(map, X)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        found, same = fitted_labels(pool.map, X)
    assert same == joint
    np.testing.assert_array_equal(found, labels)
