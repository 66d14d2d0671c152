"""The partition: every change keeps statistics, counts and the exact joint right."""

import subprocess
import sys

import naive
import numpy as np
import pytest
from cases import POWERS, build, needs_kernels, problems
from hypothesis import given
from hypothesis import strategies as st

CLOSE = {"rel": 1e-9, "abs": 1e-8}


def draw_labels(data, n, least=0):
    return data.draw(st.lists(st.integers(least, 4), min_size=n, max_size=n))


@given(problem=problems(powers=POWERS), data=st.data())
def test_the_joint_is_the_naive_one(twin, problem, data):
    X, prior, alpha = problem
    labels = draw_labels(data, len(X))
    partition = build(twin, X, labels, prior, alpha)
    expected = naive.neg_log_joint(X, labels, alpha, prior)
    assert partition.neg_log_joint == pytest.approx(expected, **CLOSE)
    assert partition.exact_neg_log_joint() == pytest.approx(expected, **CLOSE)
    assert naive.canonical(partition.labels) == naive.canonical(labels)
    assert partition.n_clusters == len(set(labels))
    assert partition.component.counts[-1] == 0.0


@given(problem=problems(powers=POWERS), data=st.data())
def test_costs_are_changes_of_the_joint(twin, problem, data):
    X, prior, alpha = problem
    partition = build(twin, X, draw_labels(data, len(X)), prior, alpha)
    i = data.draw(st.integers(0, len(X) - 1))
    costs, own = partition.costs(i), partition.labels[i]
    for k, q in enumerate(costs):
        labels = np.array(partition.labels)
        labels[i] = k
        expected = naive.neg_log_joint(X, labels, alpha, prior)
        change = expected - partition.exact_neg_log_joint()
        assert q - costs[own] == pytest.approx(change, rel=1e-9, abs=1e-7)


@given(problem=problems(powers=POWERS), data=st.data())
def test_moves_keep_the_joint(twin, problem, data):
    X, prior, alpha = problem
    partition = build(twin, X, draw_labels(data, len(X), least=-1), prior, alpha)
    for _ in range(10):
        i = data.draw(st.integers(0, len(X) - 1))
        k = data.draw(st.integers(0, partition.component.n_slots - 1))
        costs, own = partition.costs(i), partition.labels[i]
        if k != own:
            partition.move(i, k, costs[k] - (0.0 if own == -1 else costs[own]))
        assert partition.component.counts[-1] == 0.0
    assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)
    labels = np.array(partition.labels)
    placed = labels >= 0
    if placed.any():
        expected = naive.neg_log_joint(X[placed], labels[placed], alpha, prior)
        assert partition.neg_log_joint == pytest.approx(expected, **CLOSE)
    partition.tidy()
    assert naive.canonical(partition.labels) == naive.canonical(labels)
    assert sorted(set(partition.labels) - {-1}) == list(range(partition.n_clusters))


@given(problem=problems(powers=POWERS), data=st.data(), other=st.sampled_from([0.01, 1.0, 30.0]))
def test_alpha_can_change(twin, problem, data, other):
    X, prior, alpha = problem
    labels = draw_labels(data, len(X), least=-1)
    partition = build(twin, X, labels, prior, alpha)
    partition.set_alpha(other)
    assert partition.alpha == other
    expected = build(twin, X, labels, prior, other)
    assert partition.neg_log_joint == pytest.approx(expected.neg_log_joint, **CLOSE)
    for i in range(len(X)):
        assert partition.costs(i) == pytest.approx(expected.costs(i), **CLOSE)
    with pytest.raises(ValueError, match=r"alpha must be positive, got 0\.0"):
        partition.set_alpha(0.0)


def test_rows_choose_and_order(twin):
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    prior = {"m0": [5.0], "c0": 0.5, "a0": 1.0, "b0": [20.0]}
    rows = np.array([3, 0, 2], dtype=np.intp)
    partition = build(twin, X, [0, 1, 0], prior, 1.0, rows)
    expected = naive.neg_log_joint(
        X[rows], [0, 1, 0], 1.0, {k: np.array(v) for k, v in prior.items()}
    )
    assert partition.n_rows == 3
    assert partition.neg_log_joint == pytest.approx(expected, **CLOSE)
    part = partition.part(np.array([0, 2], dtype=np.intp), np.array([0, 0], dtype=np.intp))
    expected = naive.neg_log_joint(
        X[[3, 2]], [0, 0], 1.0, {k: np.array(v) for k, v in prior.items()}
    )
    assert part.neg_log_joint == pytest.approx(expected, **CLOSE)


@given(problem=problems(), data=st.data())
def test_scores_with_a_row_are_what_it_predicts_alone(twin, problem, data):
    X, prior, alpha = problem
    partition = build(twin, X, np.zeros(len(X)), prior, alpha)
    members = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X))))
    i = data.draw(st.integers(0, len(X) - 1))
    b0 = np.asarray(prior["b0"])  # scores are in units of the prior
    expected = [naive.log_student(X[m], X[[i]], prior) + 0.5 * np.log(b0).sum() for m in members]
    np.testing.assert_allclose(partition.scores_with(i, members), expected, rtol=1e-9, atol=1e-8)


def test_a_part_of_every_other_row_has_twice_the_power(twin):
    X, rows = np.random.default_rng(0).normal(size=(12, 2)), np.arange(0, 12, 2)
    prior = {"m0": np.zeros(2), "c0": 0.5, "a0": 1.0, "b0": np.ones(2)}
    for power, step, expected in ((0.3, 2, 0.6), (0.3, 1, 0.3), (0.3, 5, 1.0), (1.0, 2, 1.0)):
        partition = build(twin, X, np.zeros(12), prior | {"power": power})
        part = partition.part(rows, np.array([0, 0, 1, 1, 0, 1], dtype=np.intp), step=step)
        joint = naive.neg_log_joint(X[rows], [0, 0, 1, 1, 0, 1], 1.0, prior | {"power": expected})
        assert part.component.power == expected
        assert part.neg_log_joint == pytest.approx(joint, **CLOSE)


def test_a_row_that_predicts_others_counts_as_a_whole_one(twin):
    """Else its cluster would hardly differ from an empty one."""
    X, prior = np.array([[0.0], [4.0], [4.5]]), {"m0": [0.0], "c0": 0.1, "a0": 1.0, "b0": [1.0]}
    found = build(twin, X, [0, 0, 0], prior | {"power": 0.01}).scores_with(1, np.array([0, 2]))
    assert found[1] > found[0] + 1.0


def test_merge_and_replace(twin):
    X = np.random.default_rng(0).normal(size=(12, 2))
    prior = {"m0": np.zeros(2), "c0": 0.5, "a0": 1.0, "b0": np.ones(2)}
    partition = build(twin, X, [0, 1, 2] * 4, prior, 1.0)
    before = partition.neg_log_joint
    merged = [0, 1, 0] * 4
    partition.merge(0, 2, naive.neg_log_joint(X, merged, 1.0, prior) - before)
    assert list(partition.labels) == merged
    assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)

    members = np.array(partition.members(0), dtype=np.intp)
    other = partition.part(members, np.arange(len(members), dtype=np.intp) % 4)
    labels = np.array(partition.labels)
    labels[members] = 10 + np.arange(len(members)) % 4
    change = naive.neg_log_joint(X, labels, 1.0, prior) - partition.neg_log_joint
    partition.replace([0], members, other, change)
    assert naive.canonical(partition.labels) == naive.canonical(labels)
    assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)


def test_an_empty_slot_is_left_when_rows_are_merged_into_the_last(twin):
    partition = build(twin, np.zeros((2, 1)), [0, 1], {"m0": [0], "c0": 1, "a0": 1, "b0": [1]}, 1.0)
    partition.merge(2, 0, 0.0)
    assert list(partition.labels) == [2, 1]
    assert partition.component.counts == [0.0, 1.0, 1.0, 0.0]


def test_slots_are_reused_before_new_ones_are_made(twin):
    X = np.arange(4.0)[:, None]
    prior = {"m0": [0.0], "c0": 1.0, "a0": 1.0, "b0": [1.0]}
    partition = build(twin, X, [0, 1, 2, 3], prior, 1.0)
    assert partition.component.n_slots == 5
    partition.move(1, 0, 0.0)
    partition.move(0, 1, 0.0)
    assert partition.component.counts == [1.0, 1.0, 1.0, 1.0, 0.0]


def test_errors_state_the_rule_that_is_broken(twin):
    X = np.zeros((3, 2))
    prior = {"m0": [0.0, 0.0], "c0": 1.0, "a0": 1.0, "b0": [1.0, 1.0]}
    with pytest.raises(ValueError, match="labels must have 3 values, got 2"):
        build(twin, X, [0, 0], prior, 1.0)
    with pytest.raises(ValueError, match="row must have 2 values, got 1"):
        build(twin, X[:, :1].copy(), [0, 0, 0], prior, 1.0)
    partition = build(twin, X, [0, 0, 0], prior, 1.0)
    with pytest.raises(IndexError):
        partition.move(3, 0, 0.0)
    with pytest.raises(IndexError):
        partition.move(0, 2, 0.0)
    with pytest.raises(ValueError, match="two slots are merged, got slot 1 twice"):
        partition.merge(1, 1, 0.0)
    partition.labels[1] = 2
    with pytest.raises(ValueError, match="labels must be below 2, got 2"):
        partition.rebuild()


# Three of four rows are lost in the sums of the fourth: what it costs that one to stay is found
# from these anew, for which there is no memory.
WITHOUT_MEMORY = """
import resource
import numpy as np
from dpmlite import families
from dpmlite.partition import Partition
X = np.random.default_rng(0).standard_normal((4, 100_000))
X[0] = 1e9
ones = np.ones(X.shape[1])
component = families.NormalGamma(0.0 * ones, 1.0, 1.0, ones)
partition = Partition(X, np.zeros(4, dtype=np.intp), component, 1.0)
with open("/proc/self/statm") as file:
    n_bytes = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (n_bytes + 20_000_000,) * 2)
try:
    print(partition.costs(0))
except MemoryError as error:
    print("MemoryError:", error)
"""


@needs_kernels
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_a_lack_of_memory_is_no_cost(tmp_path):
    command = [sys.executable, "-c", WITHOUT_MEMORY]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("MemoryError: no memory for the statistics"), done.stderr
