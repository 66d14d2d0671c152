"""Split-merge proposals: each is accepted at its exact ratio, and the chains' target is right."""

from math import exp, log

import chains
import naive
import numpy as np
import pytest
from cases import problems
from hypothesis import given, settings
from hypothesis import strategies as st

CLOSE = {"rel": 1e-9, "abs": 1e-7}
N_SCANS = st.sampled_from([None, 0, 1, 3])


def n_uniforms(n_rows, n_scans):
    return 3 + n_rows * (1 if n_scans is None else n_scans + 2)


def run(twin, problem, labels, weights, n_scans, seed):
    X, prior, alpha = problem
    partition = chains.build(twin, X, labels, alpha, prior, weights)
    rng, path = np.random.default_rng(seed), []
    for _ in range(6):
        uniforms = rng.random(n_uniforms(len(X), n_scans))
        accepted = twin.jain_neal.propose_split_merge(partition, n_scans, uniforms)
        path.append((accepted, partition.labels.tolist(), list(partition.component.counts)))
    return path, partition


def draw_start(data, n):
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    values = data.draw(st.sampled_from([[1.0], [1.0, 2.0, 5.0], [0.3, 1.0, 2.7]]))
    return labels, np.array(data.draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)))


@settings(max_examples=60, deadline=None)
@given(problem=problems(), data=st.data(), n_scans=N_SCANS, seed=st.integers(0, 99))
def test_twins_take_the_same_path(twins, problem, data, n_scans, seed):
    labels, weights = draw_start(data, len(problem[0]))
    runs = [run(twin, problem, labels, weights, n_scans, seed) for twin in twins]
    (plain, ours), (kernel, theirs) = runs
    for (accepted, z, counts), other in zip(plain, kernel, strict=True):
        assert (accepted, z) == other[:2]
        assert counts == pytest.approx(other[2])
    assert ours.neg_log_joint == pytest.approx(theirs.neg_log_joint, **CLOSE)


@given(problem=problems(), data=st.data(), n_scans=N_SCANS, seed=st.integers(0, 99))
def test_proposals_keep_the_joint(twin, problem, data, n_scans, seed):
    labels, weights = draw_start(data, len(problem[0]))
    _, partition = run(twin, problem, labels, weights, n_scans, seed)
    assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)
    assert partition.component.n_slots == partition.n_clusters + 1


def naive_proposal(labels, n_scans, uniforms, joint):
    """The paper with whole joints: what is proposed, and the log of the acceptance ratio."""
    n = len(labels)
    i, j = int(uniforms[0] * n), int(uniforms[1] * (n - 1))
    j += j >= i
    splits = labels[i] == labels[j]
    members = [m for m in range(n) if labels[m] in (labels[i], labels[j])]
    side_of = {m: 100 + int(u >= 0.5) for m, u in zip(members, uniforms[3:], strict=False)}
    z = [side_of.get(m, labels[m]) for m in range(n)]
    z[i], z[j] = 100, 101
    free = [(r, m) for r, m in enumerate(members) if m not in (i, j)]
    log_q = -len(free) * log(2.0)
    for scan in range(0 if n_scans is None else n_scans + 1):
        log_q = 0.0
        for r, m in free:
            joints = [joint([*z[:m], side, *z[m + 1 :]]) for side in (100, 101)]
            p = 1.0 / (1.0 + exp(joints[0] - joints[1]))
            z[m] = 100 if uniforms[3 + (scan + 1) * len(members) + r] < p else 101
            if scan == n_scans and not splits:
                z[m] = 100 if labels[m] == labels[i] else 101
            log_q += log(p if z[m] == 100 else 1.0 - p)
    if splits:
        return z, joint(labels) - joint(z) - log_q
    merged = [100 if m in members else labels[m] for m in range(n)]
    return merged, joint(labels) - joint(merged) + log_q


@settings(deadline=None)
@given(seed=st.integers(0, 9_999), n_scans=st.sampled_from([None, 0, 2]), heavy=st.booleans())
def test_a_proposal_is_accepted_at_its_exact_ratio(twin, seed, n_scans, heavy):
    """Just below the ratio it is, just above it is not."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    X = rng.normal(size=(n, 2))
    prior = {"m0": np.zeros(2), "c0": 0.3, "a0": 1.0, "b0": np.ones(2)}
    weights = rng.integers(1, 4, size=n) if heavy else np.ones(n, dtype=int)
    labels = rng.integers(3, size=n).tolist()
    uniforms = rng.random(n_uniforms(n, n_scans))
    proposed, log_ratio = naive_proposal(
        labels, n_scans, uniforms, lambda z: chains.repeated_joint(X, z, 0.7, prior, weights)
    )
    ratio = exp(log_ratio)
    for u, expected in ((min(ratio * (1.0 - 1e-6), 0.999), True), (ratio * (1.0 + 1e-6), False)):
        if u >= 1.0:
            continue
        uniforms[2] = u
        partition = chains.build(twin, X, labels, 0.7, prior, weights.astype(float))
        accepted = twin.jain_neal.propose_split_merge(partition, n_scans, uniforms)
        assert accepted == expected
        now = proposed if expected else labels
        assert naive.canonical(partition.labels.tolist()) == naive.canonical(now)
        joint = chains.repeated_joint(X, now, 0.7, prior, weights)
        assert partition.neg_log_joint == pytest.approx(joint, **CLOSE)


@pytest.mark.slow
@pytest.mark.parametrize("variant", chains.SPLIT_MERGE)
@pytest.mark.parametrize("weights", [None, (2, 1, 1, 1, 1, 2)])
def test_the_long_run_is_the_posterior(twin, variant, weights):
    chains.check_stationary(twin, chains.SPLIT_MERGE[variant], weights)


@pytest.mark.slow
@pytest.mark.parametrize("variant", chains.SPLIT_MERGE)
def test_proposals_pass_geweke_s_test(twin, variant):
    chains.check_geweke(twin, chains.SPLIT_MERGE[variant])


def test_proposals_part_two_clusters_that_sweeps_do_not(twin):
    """Two clusters under one label: no row leaves alone, while proposals part them."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.1, size=(15, 2)) for c in (-1.0, 1.0)])
    prior = {"m0": np.zeros(2), "c0": 0.1, "a0": 1.0, "b0": np.ones(2)}
    partition = chains.build(twin, X, np.zeros(30), 1e-3, prior)
    for _ in range(5):
        chains.gibbs(twin, partition, rng)
    assert partition.n_clusters == 1
    chains.proposals(twin, partition, rng, 3, 30)
    chains.gibbs(twin, partition, rng)  # strays that were split off come back
    assert naive.canonical(partition.labels.tolist()) == [0] * 15 + [1] * 15


def test_one_row_stays_alone(twin):
    prior = {"m0": [0.0], "c0": 1.0, "a0": 1.0, "b0": [1.0]}
    partition = chains.build(twin, np.zeros((1, 1)), [0], 1.0, prior)
    assert twin.jain_neal.propose_split_merge(partition, 0, np.zeros(3)) is False
    assert partition.labels.tolist() == [0]


def test_only_the_members_need_uniforms(twin):
    prior = {"m0": [0.0], "c0": 1.0, "a0": 1.0, "b0": [1.0]}
    X, labels = np.arange(5.0)[:, None], [0, 0, 1, 1, 1]
    leading = [0.9, 0.9, 0.0]  # rows 4 and 3
    assert twin.seeds.two_of(5, 0.9, 0.9) == (4, 3)
    for n_scans, needed in ((None, 6), (0, 9), (2, 15)):
        partition = chains.build(twin, X, labels, 1.0, prior)
        uniforms = np.array(leading + [0.4] * (needed - 3))
        assert twin.jain_neal.propose_split_merge(partition, n_scans, uniforms) is True
        partition = chains.build(twin, X, labels, 1.0, prior)
        message = rf"^uniforms must have at least {needed} values, got {needed - 1}$"
        with pytest.raises(ValueError, match=message):
            twin.jain_neal.propose_split_merge(partition, n_scans, uniforms[:-1])


def test_errors_state_the_rule_that_is_broken(twin):
    prior = {"m0": [0.0], "c0": 1.0, "a0": 1.0, "b0": [1.0]}
    propose = twin.jain_neal.propose_split_merge
    partition = chains.build(twin, np.zeros((3, 1)), [0, 1, 1], 1.0, prior)
    with pytest.raises(ValueError, match=r"^n_scans must not be negative, got -1$"):
        propose(partition, -1, np.zeros(9))
    with pytest.raises(ValueError, match=r"^uniforms must have at least 3 values, got 2$"):
        propose(partition, 0, np.zeros(2))
    for k in (0, 2, 4):
        uniforms = np.zeros(9)
        uniforms[k] = 1.0
        with pytest.raises(ValueError, match=r"^uniforms must be in \[0, 1\), got 1\.0$"):
            propose(partition, 0, uniforms)
    unplaced = chains.build(twin, np.zeros((2, 1)), [0, -1], 1.0, prior)
    with pytest.raises(ValueError, match=r"^every row must have a label$"):
        propose(unplaced, 0, np.zeros(9))
    with pytest.raises(ValueError, match=r"^n must be at least 2, got 1$"):
        twin.seeds.two_of(1, 0.0, 0.0)
    for of in (twin.division.members_of, twin.division.joint_of):
        with pytest.raises(IndexError, match=r"^slot must be in 0\.\.2, got 3$"):
            of(partition, [3])
