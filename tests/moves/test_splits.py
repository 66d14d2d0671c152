"""Splits; and for every move of whole clusters, that it only lowers the joint."""

import naive
import numpy as np
import pytest
from cases import POWERS, build, empirical_prior, problems
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from dpmlite.core.constants import JOINING_PROBE_STEP, MIN_JOINING_PROBES
from dpmlite.core.threads import use_threads
from dpmlite.datasets import planted_gaussians

CLOSE = {"rel": 1e-9, "abs": 1e-8}


def thin_grid(n_wide, n_long, n_each):
    """Round clusters 30 standard deviations apart: to halve a row of them gains nothing."""
    corners = np.array([(x, y) for x in range(n_wide) for y in range(n_long)]) * 30.0
    noise = np.random.default_rng(0).normal(size=(len(corners), n_each, 2))
    return (corners[:, None] + noise).reshape(-1, 2)


@given(problem=problems(powers=POWERS), data=st.data())
def test_moves_lower_the_joint_or_do_nothing(twin, problem, data):
    X, prior, alpha = problem
    labels = data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X)))
    partition = build(twin, X, labels, prior, alpha)
    rng = np.random.default_rng(len(X))
    moves = (
        (twin.splits.split, (2, 2)),
        (twin.exchanges.exchange, (2, 2, 2)),
        (twin.merges.merge, None),
    )
    for move, shape in moves:
        before, old = partition.neg_log_joint, list(partition.labels)
        n_slots = partition.component.n_slots
        done = move(partition) if shape is None else move(partition, rng.random((n_slots, *shape)))
        if done:
            assert partition.neg_log_joint < before
        else:
            assert list(partition.labels) == old
        assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)


@given(problem=problems(powers=POWERS), data=st.data())
def test_weights_do_not_count_as_rows(twin, problem, data):
    """Slots whose weight is not their number of rows: a heavy row alone, many light ones."""
    X, prior, alpha = problem
    n = len(X)
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    weights = data.draw(st.lists(st.sampled_from([0.1, 1.0, 4.5]), min_size=n, max_size=n))
    rows = twin.rows.Rows(X, np.array(weights))
    partition = build(twin, rows, labels, prior, alpha)
    for k in range(partition.n_clusters):
        assert list(twin.division.members_of(partition, [k])) == partition.members(k)
    some = [*range(0, partition.n_clusters, 2), 0]
    of_some = sorted(i for k in set(some) for i in partition.members(k))
    assert list(twin.division.members_of(partition, some)) == of_some
    rng = np.random.default_rng(n)
    for move, shape in (("split", (2, 2)), ("exchange", (2, 2, 2))):
        uniforms = rng.random((partition.component.n_slots, *shape))
        getattr(getattr(twin, f"{move}s"), move)(partition, uniforms)
        assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)


def test_split_parts_what_sweeps_cannot(twin):
    X = np.concatenate([np.full((20, 1), -3.0), np.full((20, 1), 3.0)])
    X += np.random.default_rng(0).normal(size=(40, 1))
    prior = empirical_prior(X)
    partition = build(twin, X, np.zeros(40), prior)
    assert twin.map_dpm.sweep(partition) == 0
    assert twin.splits.split(partition, np.random.default_rng(1).random((2, 4, 2))) == 1
    assert len(set(partition.labels[:20])) == len(set(partition.labels[20:])) == 1
    assert partition.n_clusters == 2


def test_seeds_part_what_rows_joining_one_by_one_cannot(twin):
    """Two clusters in 8 columns, five deviations apart, under a prior much wider than they are."""
    X = np.random.default_rng(0).normal(size=(600, 8))
    X[300:, :2] += 3.5
    prior = {"m0": np.zeros(8), "c0": 1e-5, "a0": 1.0, "b0": np.full(8, 30.0)}
    partition = build(twin, X, np.zeros(600), prior)
    assert twin.splits.split(partition, np.array([[[0.1, 0.9]]] * 2)) == 1
    assert naive.canonical(partition.labels) == [0] * 300 + [1] * 300
    alone = build(twin, X, np.zeros(600), prior)
    seeds = np.full(600, -1, dtype=np.intp)
    seeds[60], seeds[540] = 0, 1
    members = twin.division.members_of(alone, [0])
    assert twin.division.divided(alone, [0], members, [seeds]) is None


@pytest.mark.parametrize("u", [0.1, 0.3, 0.6])
def test_seeds_are_in_clusters_apart(twin, u):
    """Neighbours in the table, which are together, would divide the rows across the gap."""
    X = np.random.default_rng(0).normal(size=(3000, 2))
    X[1500:] += 10.0
    prior = {"m0": np.full(2, 5.0), "c0": 1e-3, "a0": 1.0, "b0": np.full(2, 1e4)}
    partition = build(twin, X, np.zeros(3000), prior)
    assert twin.splits.split(partition, np.full((2, 1, 2), u)) == 1
    assert naive.canonical(partition.labels) == [0] * 1500 + [1] * 1500


def split_on(twin, partition, thorough):
    """Split until that is in vain."""
    while twin.splits.split(partition, np.full((partition.component.n_slots, 1, 2), 0.5), thorough):
        pass


def test_thorough_trials_ask_so_many_rows_that_a_wide_prior_counts_little(twins):
    X, found = thin_grid(2, 6, 400), []
    for twin in twins:
        partition = build(twin, X, np.zeros(4800), empirical_prior(X))
        split_on(twin, partition, thorough=True)
        assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)
        found.append(naive.canonical(partition.labels))
    assert found[0] == found[1] == naive.canonical(np.arange(4800) // 400)


def split_levels(twin, X, power, beta0):
    """Split one cluster of rows of four levels a column; the likelihood counts with a power."""
    family = twin.categorical.Categorical([[beta0] * 4] * X.shape[1], power)
    labels = np.zeros(len(X), dtype=np.intp)
    partition = twin.partition.Partition(twin.rows.Rows(X), labels, family, 1.0)
    uniforms = np.full((partition.component.n_slots, 1, 2), 0.5)
    return twin.splits.split(partition, uniforms, True)


@pytest.mark.parametrize(("beta0", "is_tried"), [(1.0, True), (5.0, False)])
def test_rows_that_would_found_a_cluster_each_are_no_start(twins, monkeypatch, beta0, is_tried):
    """Under the second prior a row does not gain by joining another with equal cells."""
    plain, n_starts = twins[0], []
    monkeypatch.setattr(plain.splits, "best_runs", lambda *_: None)
    monkeypatch.setattr(
        plain.splits, "trial_division", lambda *arguments: n_starts.append(len(arguments[3]))
    )
    levels = np.random.default_rng(0).integers(4, size=(4800, 1)).astype(float)
    assert split_levels(plain, np.broadcast_to(levels, (4800, 30)), 0.05, beta0) == 0
    assert n_starts == [int(is_tried)]


def topics_with_loners():
    """Sparse rows of two topics; each sixteenth row has words that no other row has.

    Sparse rows have no runs along a column, so that only joining rows one by one finds the topics.
    """
    loners = JOINING_PROBE_STEP * np.arange(MIN_JOINING_PROBES + 1)
    words = np.arange(loners[-1] + JOINING_PROBE_STEP) % 2
    words[loners] = 2 + np.arange(len(loners))
    return sparse.csr_matrix((np.full(len(words), 20.0), words, np.arange(len(words) + 1)))


def split_topics(twin, X):
    """Split one cluster of all rows thoroughly, once."""
    columns, starts = X.indices.astype(np.intp), X.indptr.astype(np.intp)
    rows = twin.rows.Rows.sparse(X.data, columns, starts, X.shape[1])
    family = twin.dirichlet_multinomial.DirichletMultinomial([1.0] * X.shape[1])
    partition = twin.partition.Partition(rows, np.zeros(X.shape[0], dtype=np.intp), family, 1.0)
    return twin.splits.split(partition, np.full((2, 1, 2), 0.5), True)


def test_probed_rows_that_would_found_a_cluster_each_leave_their_cluster_whole(twin):
    assert split_topics(twin, topics_with_loners()) == 0


def test_a_cluster_is_split_if_the_probed_rows_would_join_each_other(kernel):
    """The same rows, in an order in which most of the probed ones are of a topic."""
    X = topics_with_loners()
    assert split_topics(kernel, X[np.random.default_rng(0).permutation(X.shape[0])]) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("n_others", "n_clusters"), [(0, 2), (9000, 12), (80_000, 2)])
def test_trials_of_what_is_small_beside_all_rows_are_not_thorough(twin, n_others, n_clusters):
    """Nor those that nobody asked to be."""
    X = thin_grid(2, 6, 400)
    table = np.concatenate([X, np.full((n_others, 2), 1e3)])
    partition = build(twin, table, np.repeat([0, 1], [4800, n_others]), empirical_prior(X))
    twin.split_memory.split_memory_of(partition).mark_tried(1)
    split_on(twin, partition, thorough=n_others > 0)
    assert partition.n_clusters - (n_others > 0) == n_clusters


@pytest.mark.parametrize("dtype", [np.float64, np.float32])  # rows of the second are copied
@pytest.mark.parametrize("n", [4000, 50_000])  # of the second, trials are of a part
def test_threads_change_nothing(twins, dtype, n):
    X, _ = planted_gaussians(n, 3, 40, separation=4.0, random_state=0)
    X = X.astype(dtype)
    labels = np.random.default_rng(0).integers(12, size=n)
    labels[: n // 2] = 0
    found = []
    for n_threads in (1, 2, 5):
        partition = build(twins[1], X, labels, empirical_prior(X))
        rng, done = np.random.default_rng(1), []
        for _ in range(4):
            n_slots = partition.component.n_slots
            with use_threads(n_threads):
                split = twins[1].splits.split(partition, rng.random((n_slots, 1, 2)))
                uniforms = rng.random((partition.component.n_slots, 2, 1, 2))
                done.append((split, twins[1].exchanges.exchange(partition, uniforms)))
        found.append((done, list(partition.labels), partition.neg_log_joint))
    assert found[0] == found[1] == found[2]
    assert min(np.sum(found[0][0], axis=0)) > 10


def test_a_cluster_that_could_not_be_split_is_not_tried_again(twin):
    X = np.random.default_rng(0).normal(size=(30, 2))
    partition = build(twin, X, np.zeros(30), empirical_prior(X))
    memory = twin.split_memory.split_memory_of(partition)
    assert memory.n_changed == [partition.n_rows] * 2
    twin.splits.split(partition, np.random.default_rng(1).random((2, 3, 2)))
    assert memory.n_changed[0] == 0


def never_normal(twin, X):
    """Rows of one column in one cluster, of a family of which `look_normal` says nothing."""
    prior = empirical_prior(X)
    component = twin.normal_inverse_wishart.NormalInverseWishart(
        prior["m0"], prior["c0"], 2.0, np.atleast_2d(2.0 * prior["b0"])
    )
    return twin.partition.Partition(X, np.zeros(len(X), dtype=np.intp), component, 1.0)


def test_a_joint_lowered_by_rounding_is_no_split(twin):
    """Where a slot has forgotten digits, the same rows may be worth more in a new one."""
    X = np.random.default_rng(0).normal(size=(60, 1))
    partition = never_normal(twin, X)
    statistics = np.array(partition.component.statistics(0))
    statistics[2] *= 1.0 + 1e-7  # of which the joint is made
    partition.component.load(0, statistics)
    assert twin.normality.look_normal(partition, [0]) == [False]
    assert partition.exact_neg_log_joint() > partition.neg_log_joint + 1e-6
    assert twin.splits.split(partition, np.random.default_rng(1).random((2, 1, 2))) == 0
    assert partition.n_clusters == 1
