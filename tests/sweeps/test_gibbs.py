"""Collapsed Gibbs: every draw is that of the exact conditional, and the chain's target is right."""

import chains
import naive
import numpy as np
import pytest
from cases import STARTS, problems, start
from hypothesis import given, settings
from hypothesis import strategies as st

CLOSE = {"rel": 1e-9, "abs": 1e-7}


def run(twin, problem, kind, weights, seed, n_sweeps=4):
    X, prior, alpha = problem
    partition = chains.build(twin, X, start(kind, len(X)), alpha, prior, weights)
    rng, path = np.random.default_rng(seed), []
    for _ in range(n_sweeps):
        emptied = twin.gibbs.gibbs_sweep(partition, rng.random(len(X)))
        path.append((emptied, partition.labels.tolist()))
    return path, partition


def draw_weights(data, n):
    values = data.draw(st.sampled_from([[1.0], [1.0, 2.0, 5.0], [0.3, 1.0, 2.7]]))
    return np.array(data.draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)))


@settings(max_examples=60, deadline=None)
@given(
    problem=problems(max_rows=20),
    kind=st.sampled_from(STARTS),
    data=st.data(),
    seed=st.integers(0, 99),
)
def test_twins_take_the_same_path(twins, problem, kind, data, seed):
    weights = draw_weights(data, len(problem[0]))
    (plain, ours), (kernel, theirs) = (run(twin, problem, kind, weights, seed) for twin in twins)
    assert plain == kernel
    assert ours.neg_log_joint == pytest.approx(theirs.neg_log_joint, **CLOSE)


def test_twins_take_the_same_path_among_many_clusters(twins):
    """More clusters than are scored at once, rows between them, and trust that comes and goes."""
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.normal(0.0, 3.0, size=(150, 2)), 40.0 * rng.normal(size=(150, 2))])
    prior = {"m0": np.zeros(2), "c0": 0.01, "a0": 1.0, "b0": np.full(2, 0.5)}
    paths = [run(twin, (X, prior, 5.0), "singletons", None, 0, n_sweeps=3)[0] for twin in twins]
    assert paths[0] == paths[1]
    assert len(set(paths[0][-1][1])) > 32


@given(problem=problems(), kind=st.sampled_from(STARTS), data=st.data(), seed=st.integers(0, 99))
def test_sweeps_keep_the_joint(twin, problem, kind, data, seed):
    weights = draw_weights(data, len(problem[0]))
    _, partition = run(twin, problem, kind, weights, seed)
    assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)
    assert -1 not in partition.labels.tolist()
    assert partition.component.n_slots == partition.n_clusters + 1


def test_a_row_left_alone_by_fractions_is_alone(twin):
    """0.6 + 0.2 + 1.0 - 0.6 - 0.2 is not 1.0."""
    X = np.array([[0.0], [0.1], [0.2]])
    prior = {"m0": [0.0], "c0": 1.0, "a0": 1.0, "b0": [1.0]}
    partition = chains.build(twin, X, [0, 0, 0], 1.0, prior, np.array([0.6, 0.2, 1.0]))
    for i in (0, 1):
        costs = partition.costs(i)
        partition.move(i, 1, costs[1] - costs[0])
    alone = chains.build(twin, X, [1, 1, 0], 1.0, prior, np.array([0.6, 0.2, 1.0]))
    assert sorted(partition.costs(2)) == pytest.approx(sorted(alone.costs(2)), **CLOSE)


def naive_sweep(X, labels, alpha, prior, weights, uniforms):
    """Algorithm 3 with whole joints instead of predictives; returns clusters that were emptied."""
    emptied = 0
    for i, u in enumerate(uniforms):
        own, others = labels[i], set(labels[:i] + labels[i + 1 :]) - {-1}
        alone = own != -1 and own not in others
        new = own if alone else min(set(range(len(X) + 1)) - others)
        slots = sorted(others | {new}, key=lambda k: (k != own, k))
        joints = []
        for k in slots:
            labels[i] = k
            placed = [j for j, label in enumerate(labels) if label != -1]
            z = np.array(labels)[placed]
            joints.append(chains.repeated_joint(X[placed], z, alpha, prior, weights[placed]))
        shares = np.exp(min(joints) - np.array(joints))
        labels[i] = slots[int((np.cumsum(shares) <= u * shares.sum()).sum())]
        emptied += alone and labels[i] != own
    return emptied


@settings(deadline=None)
@given(seed=st.integers(0, 999), kind=st.sampled_from(STARTS), heavy=st.booleans())
def test_a_sweep_is_algorithm_3(twin, seed, kind, heavy):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    X = rng.normal(size=(n, 2)) * rng.choice([1.0, 4.0])
    prior = {"m0": np.zeros(2), "c0": 0.3, "a0": 1.0, "b0": np.ones(2)}
    weights = rng.integers(1, 4, size=n) if heavy else np.ones(n, dtype=int)
    labels = start(kind, n).tolist()
    partition = chains.build(twin, X, labels, 1.5, prior, weights.astype(float))
    for _ in range(3):
        uniforms = rng.random(n)
        emptied = naive_sweep(X, labels, 1.5, prior, weights, uniforms)
        assert twin.gibbs.gibbs_sweep(partition, uniforms) == emptied
        used = sorted(set(labels))
        labels = [used.index(k) for k in labels]
        assert partition.labels.tolist() == labels
        expected = chains.repeated_joint(X, labels, 1.5, prior, weights)
        assert partition.neg_log_joint == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("weights", [(1, 1, 1, 1), (2, 1, 1, 3)])
def test_a_row_is_drawn_from_its_conditional(twin, weights):
    """A row stays at a uniform of 0, so a grid of uniforms for one row shows its probabilities."""
    weights = np.array(weights)
    X = np.array([[0.0], [1.0], [-2.0], [0.4]])
    prior = {"m0": np.zeros(1), "c0": 0.5, "a0": 1.0, "b0": np.ones(1)}
    target = chains.posterior(X, 0.9, prior, weights)
    grid = 50
    for labels in target:
        for i in range(4):
            seen = {}
            for u in (np.arange(grid) + 0.5) / grid:
                partition = chains.build(twin, X, labels, 0.9, prior, weights.astype(float))
                uniforms = np.zeros(4)
                uniforms[i] = u
                twin.gibbs.gibbs_sweep(partition, uniforms)
                z = tuple(naive.canonical(partition.labels.tolist()))
                seen[z] = seen.get(z, 0.0) + 1.0 / grid
            others = [j for j in range(4) if j != i]
            rest = naive.canonical([labels[j] for j in others])
            reach = [z for z in target if naive.canonical([z[j] for j in others]) == rest]
            total = sum(target[z] for z in reach)
            for z in reach:
                assert seen.get(z, 0.0) == pytest.approx(target[z] / total, abs=1.01 / grid)


@pytest.mark.parametrize("weights", [None, (2, 1, 1, 1, 1, 2)])
def test_the_long_run_is_the_posterior(twin, weights):
    chains.check_stationary(twin, chains.gibbs, weights)


@pytest.mark.slow
def test_sweeps_pass_geweke_s_test(twin):
    chains.check_geweke(twin, chains.gibbs)


def test_a_uniform_of_0_takes_the_first_slot_that_is_not_negligible(twin):
    X = np.array([[0.0], [1e6], [1e6 + 1.0]])
    prior = {"m0": [0.0], "c0": 0.1, "a0": 9.0, "b0": [1.0]}
    partition = chains.build(twin, X, [0, 1, -1], 1.0, prior)
    assert twin.gibbs.gibbs_sweep(partition, np.zeros(3)) == 0
    assert partition.labels.tolist() == [0, 1, 1]
    joint = partition.neg_log_joint
    assert twin.gibbs.gibbs_sweep(partition, np.zeros(3)) == 0
    assert partition.labels.tolist() == [0, 1, 1]
    assert partition.neg_log_joint == joint


def test_a_row_leaves_a_slot_that_is_negligible_at_any_uniform(twin):
    X = np.array([[0.0], [0.1], [1e6], [1e6], [1e6]])
    prior = {"m0": [0.0], "c0": 0.1, "a0": 9.0, "b0": [1.0]}
    for u in (0.0, 0.5, 1.0 - 2.0**-53):
        partition = chains.build(twin, X, [0, 0, 0, 1, 1], 1.0, prior)
        costs = partition.costs(2)
        assert costs[0] > min(costs) + 40.0
        twin.gibbs.gibbs_sweep(partition, np.array([0.0, 0.0, u, 0.0, 0.0]))
        assert partition.labels.tolist() == [0, 0, 1, 1, 1]


def test_sweeps_count_clusters_that_lose_their_last_row(twin):
    prior = {"m0": [0.0], "c0": 1.0, "a0": 5.0, "b0": [1.0]}
    partition = chains.build(twin, np.zeros((4, 1)), [0, 1, 2, 3], 1e-9, prior)
    assert twin.gibbs.gibbs_sweep(partition, np.full(4, 0.5)) == 3
    assert partition.labels.tolist() == [0, 0, 0, 0]
    assert twin.gibbs.gibbs_sweep(partition, np.full(4, 0.5)) == 0


def test_the_table_of_no_rows(twin):
    partition = chains.build(
        twin, np.zeros((0, 1)), [], 1.0, {"m0": [0.0], "c0": 1.0, "a0": 1.0, "b0": [1.0]}
    )
    assert twin.gibbs.gibbs_sweep(partition, np.zeros(0)) == 0


def test_errors_state_the_rule_that_is_broken(twin):
    prior = {"m0": [0.0], "c0": 1.0, "a0": 1.0, "b0": [1.0]}
    partition = chains.build(twin, np.zeros((3, 1)), [0, 1, -1], 1.0, prior)
    sweep = twin.gibbs.gibbs_sweep
    with pytest.raises(ValueError, match=r"^uniforms must have 3 values, got 2$"):
        sweep(partition, np.zeros(2))
    for bad, shown in ((1.0, "1.0"), (-0.5, "-0.5"), (np.nan, "nan")):
        with pytest.raises(ValueError, match=rf"^uniforms must be in \[0, 1\), got {shown}$"):
            sweep(partition, np.array([0.0, 0.0, bad]))
    assert partition.labels.tolist() == [0, 1, -1]
    with pytest.raises(ValueError, match=r"^uniforms must have at least 4 values, got 3$"):
        twin.gibbs.check_uniforms(np.zeros(3), 4)
