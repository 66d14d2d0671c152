"""Labels of a Pitman-Yor process: the prior, partitions and all that moves their rows.

What is expected comes from the process itself, row after row (`naive.log_pitman_yor`), and from
lists of all partitions.
"""

from math import exp, lgamma, log

import naive
import numpy as np
import pytest
from cases import STARTS, blobs, empirical_prior, problems, start
from hypothesis import given, settings
from hypothesis import strategies as st

DISCOUNTS = [0.0, 0.3, 0.7]
CLOSE = {"rel": 1e-9, "abs": 1e-8}


def build(twin, X, labels, prior, alpha, discount, weights=None):
    labels, family = np.array(labels, dtype=np.intp), twin.normal_gamma.NormalGamma(**prior)
    rows = twin.rows.Rows(X, weights)
    return twin.partition.Partition(rows, labels, family, alpha, discount=discount)


def joint(X, labels, alpha, prior, discount, copies=None):
    """That of a table in which row i is there copies[i] times."""
    copies = np.ones(len(X), dtype=int) if copies is None else copies
    rows, labels = np.repeat(X, copies, axis=0), np.repeat(np.asarray(labels), copies)
    return naive.neg_log_joint(rows, labels, alpha, prior, discount)


@st.composite
def partitions(draw, max_rows=12, least=0):
    """A problem with a discount, labels, and copies of each row."""
    X, prior, alpha = draw(problems(max_rows=max_rows))
    n, discount = len(X), draw(st.sampled_from([0.3, 0.7]))
    labels = draw(st.lists(st.integers(least, 4), min_size=n, max_size=n))
    most = draw(st.sampled_from([1, 3]))
    copies = draw(st.lists(st.integers(1, most), min_size=n, max_size=n))
    return X, prior, alpha, discount, labels, np.array(copies)


def built(twin, problem):
    X, prior, alpha, discount, labels, copies = problem
    return build(twin, X, labels, prior, alpha, discount, copies.astype(float))


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("alpha", [1e-3, 0.5, 7.0])
@pytest.mark.parametrize("n", [0, 1, 4, 8])
def test_probabilities_of_all_partitions_add_up_to_one(kernel, n, alpha, discount):
    total = sum(exp(kernel.crp.log_prob(z, alpha, discount)) for z in naive.partitions(n))
    assert total == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("discount", DISCOUNTS)
@pytest.mark.parametrize("alpha", [1e-3, 0.5, 7.0])
def test_the_prior_is_that_of_rows_in_turn_and_the_formula(twin, alpha, discount):
    for labels in naive.partitions(6):
        counts = np.bincount(labels)
        n, k = counts.sum(), np.arange(1, len(counts))
        formula = np.log(alpha + k * discount).sum() - lgamma(alpha + n) + lgamma(alpha + 1.0)
        formula += sum(lgamma(c - discount) - lgamma(1.0 - discount) for c in counts)
        found = twin.crp.log_prob(labels, alpha, discount)
        assert found == pytest.approx(naive.log_pitman_yor(labels, alpha, discount), rel=1e-12)
        assert found == pytest.approx(formula, rel=1e-11, abs=1e-12)


def test_the_next_row_and_draws(twin):
    alpha, discount, n_draws = 1.3, 0.6, 20_000
    assert twin.crp.predictive([3.0, 1.0], alpha, discount) == pytest.approx(
        [2.4 / 5.3, 0.4 / 5.3, 2.5 / 5.3], rel=1e-14
    )
    rng, seen = np.random.default_rng(0), {}
    for _ in range(n_draws):
        key = tuple(twin.crp.sample(rng.random(4), alpha, discount))
        seen[key] = seen.get(key, 0) + 1
    for labels in naive.partitions(4):
        p = exp(naive.log_pitman_yor(labels, alpha, discount))
        error = (p * (1.0 - p) / n_draws) ** 0.5
        assert seen.get(tuple(labels), 0) / n_draws == pytest.approx(p, abs=5.0 * error)


@settings(max_examples=25)
@given(problem=partitions())
def test_the_joint_is_the_naive_one(twin, problem):
    X, prior, alpha, discount, labels, copies = problem
    partition = built(twin, problem)
    expected = joint(X, labels, alpha, prior, discount, copies)
    assert partition.neg_log_joint == pytest.approx(expected, **CLOSE)
    partition.set_alpha(2.0 * alpha)
    expected = joint(X, labels, 2.0 * alpha, prior, discount, copies)
    assert partition.neg_log_joint == pytest.approx(expected, **CLOSE)


@settings(max_examples=25)
@given(problem=partitions(), data=st.data())
def test_costs_are_changes_of_the_joint(twin, problem, data):
    X, prior, alpha, discount, _, copies = problem
    partition = built(twin, problem)
    i = data.draw(st.integers(0, len(X) - 1))
    costs, own, before = partition.costs(i), partition.labels[i], partition.exact_neg_log_joint()
    for k, q in enumerate(costs):
        labels = np.array(partition.labels)
        labels[i] = k
        change = joint(X, labels, alpha, prior, discount, copies) - before
        if k == own or list(partition.labels).count(own) > 1 or partition.component.counts[k] > 0:
            assert q - costs[own] == pytest.approx(change, rel=1e-9, abs=1e-7)
        else:  # a row that is alone founds a cluster as well elsewhere
            assert q == pytest.approx(costs[own], **CLOSE)


@settings(max_examples=25)
@given(problem=partitions(least=-1), data=st.data())
def test_moves_keep_the_joint(twin, problem, data):
    partition = built(twin, problem)
    for _ in range(10):
        i = data.draw(st.integers(0, partition.n_rows - 1))
        k = data.draw(st.integers(0, partition.component.n_slots - 1))
        costs, own = partition.costs(i), partition.labels[i]
        if k != own:
            partition.move(i, k, costs[k] - (0.0 if own == -1 else costs[own]))
    assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)


@settings(max_examples=25)
@given(problem=partitions())
def test_a_part_has_the_conditional_prior(twin, problem):
    """Its joint changes as that of all rows does, whatever the division."""
    X, prior, alpha, discount, _, copies = problem
    partition = built(twin, problem)
    members = np.flatnonzero(np.array(partition.labels) == 0)
    changes = []
    for sides in (np.zeros(len(members), dtype=np.intp), np.arange(len(members)) % 3):
        part = partition.part(members.astype(np.intp), np.array(sides, dtype=np.intp))
        labels = np.array(partition.labels)
        labels[members] = np.where(sides == 0, 0, sides + labels.max())
        whole = joint(X, labels, alpha, prior, discount, copies)
        changes.append(part.neg_log_joint - whole)
    assert changes[0] == pytest.approx(changes[1], **CLOSE)


@settings(max_examples=25)
@given(problem=partitions(max_rows=8))
def test_merges_are_the_best_ones(twin, problem):
    X, prior, alpha, discount, _, copies = problem
    partition = built(twin, problem)
    for j in range(partition.n_clusters):
        for k in range(j):
            merged = np.where(np.array(partition.labels) == j, k, partition.labels)
            change = joint(X, merged, alpha, prior, discount, copies) - partition.neg_log_joint
            found = twin.merges.merge_change(partition, j, k)
            assert found == pytest.approx(change, rel=1e-9, abs=1e-7)
    twin.merges.merge(partition)
    least = joint(X, partition.labels, alpha, prior, discount, copies)
    assert partition.neg_log_joint == pytest.approx(least, **CLOSE)
    for j in range(partition.n_clusters):
        for k in range(j):
            assert twin.merges.merge_change(partition, j, k) > -1e-6


@settings(max_examples=25)
@given(problem=partitions(), kind=st.sampled_from(STARTS), seed=st.integers(0, 99))
def test_twins_sweep_alike(twins, problem, kind, seed):
    X, prior, alpha, discount, _, copies = problem
    paths = []
    for twin in twins:
        partition = build(twin, X, start(kind, len(X)), prior, alpha, discount, 1.0 * copies)
        rng, path = np.random.default_rng(seed), []
        for _ in range(3):
            twin.gibbs.gibbs_sweep(partition, rng.random(len(X)))
            twin.jain_neal.propose_split_merge(partition, 1, rng.random(3 + 3 * len(X)))
            path.append(list(partition.labels))
        moved = twin.map_dpm.converge(partition, 50)
        path.append((moved, list(partition.labels)))
        assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)
        paths.append(path)
    assert paths[0] == paths[1]


@pytest.mark.parametrize("discount", [0.3, 0.7])
def test_twins_move_clusters_alike(twins, discount):
    X, _ = blobs(n_rows=50, n_clusters=5, seed=2)
    uniforms, found = np.random.default_rng(0).random((64, 3, 3, 2)), []
    for twin in twins:
        labels = np.arange(50) % 4
        partition = build(twin, X, labels, empirical_prior(X), 1.0, discount)
        joints = [partition.neg_log_joint]
        for _ in range(2):
            n = partition.component.n_slots
            twin.splits.split(partition, uniforms[:n, 0].copy())
            twin.splits.split(partition, uniforms[: partition.component.n_slots, 1].copy(), True)
            twin.exchanges.exchange(partition, uniforms[: partition.component.n_slots].copy())
            twin.merges.merge(partition)
            twin.map_dpm.converge(partition, 20)
            joints.append(partition.neg_log_joint)
            assert joints[-1] == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)
        assert np.all(np.diff(joints) <= 1e-9)
        found.append(list(partition.labels))
    assert found[0] == found[1]
    assert len(set(found[0])) > 1


def test_an_unreinforced_sweep_takes_the_cluster_for_one_row(twins):
    X, _ = blobs(n_rows=60, n_clusters=3, seed=4)
    found = []
    for twin in twins:
        partition = build(twin, X, np.zeros(60), empirical_prior(X), 3.0, 0.5)
        twin.unreinforced.unreinforced_sweep(partition)
        assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)
        found.append(list(partition.labels))
    assert found[0] == found[1]
    assert len(set(found[0])) > 1


@pytest.mark.parametrize("discount", [-0.1, 1.0, float("nan")])
def test_a_discount_must_be_in_its_range(twin, discount):
    X = np.zeros((1, 1))
    prior = {"m0": np.zeros(1), "c0": 1.0, "a0": 1.0, "b0": np.ones(1)}
    for call in (
        lambda: twin.crp.log_prob([0], 1.0, discount),
        lambda: twin.crp.log_prob_counts([1.0], 1.0, discount=discount),
        lambda: twin.crp.predictive([1.0], 1.0, discount),
        lambda: twin.crp.sample(np.array([0.5]), 1.0, discount),
        lambda: build(twin, X, [0], prior, 1.0, discount),
    ):
        with pytest.raises(ValueError, match="discount must be at least 0 and below 1, got"):
            call()


def test_a_discount_takes_neither_power_nor_light_rows(twin):
    X = np.zeros((2, 1))
    prior = {"m0": np.zeros(1), "c0": 1.0, "a0": 1.0, "b0": np.ones(1)}
    with pytest.raises(ValueError, match=r"discount must be 0 where .* power below 1, got 0\.5"):
        build(twin, X, [0, 0], prior | {"power": 0.5}, 1.0, 0.5)
    with pytest.raises(ValueError, match=r"got 0\.5 and a row of weight 0\.25"):
        build(twin, X, [0, 0], prior, 1.0, 0.5, np.array([1.0, 0.25]))
    with pytest.raises(ValueError, match=r"counts must be above the discount, 0\.5, got 0\.5"):
        twin.crp.log_prob_counts([0.5], 1.0, discount=0.5)


def test_the_log_of_a_lone_cluster_is_that_of_alpha(twin):
    """A first cluster has no discount: -log of the weight alpha, and of the density."""
    X = np.array([[0.5]])
    prior = {"m0": np.zeros(1), "c0": 1.0, "a0": 1.0, "b0": np.ones(1)}
    partition = build(twin, X, [0], prior, 2.0, 0.7)
    expected = -log(2.0) - naive.log_student(X[0], X[:0], prior)
    assert partition.costs(0) == pytest.approx([expected, expected], rel=1e-12)
