"""Bayesian hierarchical clustering: against its definition, and against lists of partitions."""

from math import log

import naive
import numpy as np
import pytest
import trees
from cases import blobs, empirical_prior, problems
from families import CASES, FAMILY_NAMES
from hypothesis import given, settings
from hypothesis import strategies as st

CLOSE = {"rtol": 1e-9, "atol": 1e-7}
OUTPUTS = ("log_odds", "counts", "log_f", "log_e", "log_d")


def grown(twin, X, component, alpha, leaves=None, weights=None, step=1000):
    """A finished forest."""
    leaves = np.arange(len(X)) if leaves is None else np.asarray(leaves, dtype=np.intp)
    forest = twin.bhc.Forest(twin.rows.Rows(X, weights), leaves, component, alpha)
    while forest.grow(step):
        pass
    return forest


def merges(forest):
    """Children as the functions on trees want them."""
    return np.array(forest.children, dtype=np.intp).reshape(-1, 2)


def bound(forest, alpha):
    """Log of eq. (9)."""
    n = forest.counts[-1]
    return forest.log_e[-1] - sum(log(alpha + i) for i in range(round(n)))


def increments(twin, X, component, forest, alpha):
    """Log of eq. (12)."""
    n = len(X)
    twin.trees.hold(X, np.arange(n), component, merges(forest))
    out = np.empty((n - 1, 2))
    log_e = np.array(forest.log_e)
    twin.alternative_trees.log_increments(component, merges(forest), log_e, alpha, out)
    return out


def problem(case, seed, n_rows, n_columns=2):
    """(X, prior, alpha) of a family."""
    rng = np.random.default_rng(seed)
    X = case.draw(rng, n_rows, n_columns)
    return X, case.prior(rng, n_columns), float(rng.choice([0.1, 1.0, 5.0]))


@pytest.mark.parametrize("family", FAMILY_NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_trees_are_those_of_the_definition(twin, family, seed):
    case = CASES[family]
    X, prior, alpha = problem(case, seed, 5 + 3 * seed)
    forest = grown(twin, X, case.component(twin, prior), alpha)
    children, log_odds, (log_p, log_d) = trees.definition(
        X, lambda rows: case.log_marginal(rows, prior), alpha
    )
    assert forest.children == children
    np.testing.assert_allclose(forest.log_odds, log_odds, **CLOSE)
    assert forest.log_d[-1] == pytest.approx(log_d, rel=1e-9)
    assert forest.log_e[-1] - forest.log_d[-1] == pytest.approx(log_p, rel=1e-9)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n_columns=st.integers(1, 9),
    spread=st.sampled_from([0.0, 3.0, 100.0]),
    weighted=st.booleans(),
)
def test_full_covariances_are_pruned_by_bounds_alone(twins, seed, n_columns, spread, weighted):
    """Of pairs of slots, the kernel scores only those whose bound reaches the best."""
    rng = np.random.default_rng(seed)
    stretch = rng.normal(size=(3, n_columns, n_columns))
    labels = rng.integers(3, size=24)
    X = np.einsum("nij,nj->ni", stretch[labels], rng.normal(size=(24, n_columns)))
    X += spread * rng.normal(size=(3, n_columns))[labels]
    X[20:] = X[:4]
    case = CASES["normal-inverse-wishart"]
    prior, weights = case.prior(rng, n_columns), rng.choice([0.5, 1.0, 3.0], size=24)
    plain, kernel = (
        grown(twin, X, case.component(twin, prior), 1.0, weights=weights if weighted else None)
        for twin in twins
    )
    assert plain.children == kernel.children
    for name in OUTPUTS:
        np.testing.assert_allclose(getattr(plain, name), getattr(kernel, name), **CLOSE)


@pytest.mark.parametrize("seed", range(8))
def test_trees_are_those_of_the_definition_where_partners_die(twin, seed):
    """Rows all over the place: who is merged is often the best partner of others."""
    X = np.random.default_rng(seed).uniform(-4.0, 4.0, size=(30, 1))
    prior = {"m0": np.zeros(1), "sigma2": np.full(1, 0.5), "tau2": np.full(1, 4.0)}
    family = CASES["normal-known-variance"]
    forest = grown(twin, X, family.component(twin, prior), 1.0)
    children, *_ = trees.definition(X, lambda rows: family.log_marginal(rows, prior), 1.0)
    assert forest.children == children


@pytest.mark.parametrize("seed", range(4))
def test_twins_agree_where_partners_die(twins, seed):
    rng = np.random.default_rng(seed)
    X, family = rng.uniform(-4.0, 4.0, size=(100, 3)), CASES["normal-known-variance"]
    prior = family.prior(rng, 3)
    plain, kernel = (grown(twin, X, family.component(twin, prior), 1.0) for twin in twins)
    assert plain.children == kernel.children


@settings(max_examples=20, deadline=None)
@given(problem=problems(max_rows=10))
def test_of_equals_the_first_are_merged(twin, problem):
    """Values on a grid, many of them equal."""
    X, prior, alpha = problem
    forest = grown(twin, X, twin.normal_gamma.NormalGamma(**prior), alpha)
    children, *_ = trees.definition(X, lambda rows: naive.log_marginal(rows, prior), alpha)
    assert forest.children == children


def test_d_k_and_the_bound_do_not_overflow(twin):
    """Gamma(n_k) overflows a double from 171 rows on."""
    X, _ = blobs(n_rows=180, n_columns=1)
    forest = grown(twin, X, twin.normal_gamma.NormalGamma(**empirical_prior(X)), 1.0)
    assert np.isfinite(forest.log_d).all()
    assert np.isfinite(forest.log_e).all()
    assert bound(forest, 1.0) > -naive.neg_log_joint(X, np.zeros(180), 1.0, empirical_prior(X))


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_the_bounds_are_sums_over_the_partitions_of_the_trees(twin, family):
    """Eq. (9) and (12); and Theorem 1, for no partition is met twice."""
    case = CASES[family]
    X, prior, alpha = problem(case, 11, 7)
    forest = grown(twin, X, case.component(twin, prior), alpha)
    plain = trees.consistent(forest.children, 7)
    others = trees.relocated(forest.children, 7)
    everything = [*plain, *(p for found in others.values() for p in found)]
    assert len(set(everything)) == len(everything)

    def log_sum(partitions):
        labels = [trees.labels_of(p, 7) for p in partitions]
        return trees.log_sum([-case.neg_log_joint(X, z, alpha, prior) for z in labels])

    assert bound(forest, alpha) == pytest.approx(log_sum(plain), rel=1e-9)
    found = increments(twin, X, case.component(twin, prior), forest, alpha)
    expected = np.full((6, 2), -np.inf)
    for (merge, side), partitions in others.items():
        expected[merge, side] = log_sum(partitions)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_exact_is_above_alternative_above_bhc(twin, family):
    """For N = 3 the alternative trees have all partitions: the bound is the evidence."""
    case = CASES[family]
    n_problems = 200 if twin.implementation == "cython" else 10
    for seed in range(n_problems):
        n = 3 + seed % 7
        X, prior, alpha = problem(case, 100 + seed, n, 1 + seed % 3)
        component = case.component(twin, prior)
        forest = grown(twin, X, component.like(), alpha)
        plain = bound(forest, alpha)
        found = increments(twin, X, component.like(), forest, alpha)
        tighter = np.logaddexp.reduce([plain, *found.ravel()])
        out = np.zeros(n, dtype=np.intp), np.empty(n), np.empty((n, n))
        exact, _ = twin.exact.sum_over_partitions(X, component, alpha, *out)
        slack = 1e-10 * max(abs(exact), 1.0)
        assert exact >= tighter - slack
        assert tighter > plain
        if n == 3:
            assert tighter == pytest.approx(exact, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_the_density_is_the_mean_over_the_partitions_of_the_tree(twin, family):
    """A row joins a random partition as in the Chinese restaurant."""
    case = CASES[family]
    X, prior, alpha = problem(case, 5, 6)
    new = case.draw(np.random.default_rng(99), 3, 2)
    component = case.component(twin, prior)
    forest = grown(twin, X, component, alpha)
    twin.trees.hold(X, np.arange(6), component, merges(forest))
    weights, out = np.empty(12), np.empty(3)
    log_odds, counts = np.array(forest.log_odds), np.array(forest.counts)
    twin.trees.log_node_weights(merges(forest), log_odds, counts, alpha, weights)
    assert np.exp(weights).sum() == pytest.approx(1.0)
    twin.prediction.log_mixture_density(new, component, weights, out)

    joints, densities = [], []
    for partition in trees.consistent(forest.children, 6):
        blocks = [X[sorted(block)] for block in partition]
        joints.append(-case.neg_log_joint(X, trees.labels_of(partition, 6), alpha, prior))
        densities.append(
            [
                trees.log_sum(
                    [
                        log(max(len(rows), alpha if not len(rows) else 0.0) / (6.0 + alpha))
                        + case.log_marginal(np.vstack([rows, x[None]]), prior)
                        - case.log_marginal(rows, prior)
                        for rows in [*blocks, X[:0]]
                    ]
                )
                for x in new
            ]
        )
    total = trees.log_sum(joints)
    for i in range(3):
        terms = [joint - total + d[i] for joint, d in zip(joints, densities, strict=True)]
        assert out[i] == pytest.approx(trees.log_sum(terms), rel=1e-9, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(problem=problems(max_rows=14), data=st.data())
def test_a_weight_is_so_many_rows_in_one_leaf(twin, problem, data):
    X, prior, alpha = problem
    sizes = st.lists(st.integers(1, 3), min_size=len(X), max_size=len(X))
    copies = np.array(data.draw(sizes))
    family = twin.normal_gamma.NormalGamma(**prior)
    weighted = grown(twin, X, family, alpha, weights=copies.astype(float))
    repeated = grown(
        twin, X.repeat(copies, axis=0), family, alpha, leaves=np.arange(len(X)).repeat(copies)
    )
    assert weighted.children == repeated.children
    for output in OUTPUTS:
        np.testing.assert_allclose(getattr(weighted, output), getattr(repeated, output), **CLOSE)


def test_leaves_may_be_clusters(twin):
    """Their trees' bound is that of the partitions that keep them together."""
    X, _ = blobs(n_rows=9)
    leaves, prior = np.array([0, 1, 0, 2, 2, 3, 0, 4, 1]), empirical_prior(X)
    forest = grown(twin, X, twin.normal_gamma.NormalGamma(**prior), 0.7, leaves)
    assert forest.n_leaves == 5
    assert forest.counts[:5] == [3.0, 2.0, 2.0, 1.0, 1.0]
    labels = [trees.labels_of(p, 5)[leaves] for p in trees.consistent(forest.children, 5)]
    joints = [-naive.neg_log_joint(X, z, 0.7, prior) for z in labels]
    assert bound(forest, 0.7) == pytest.approx(trees.log_sum(joints), rel=1e-9)


def test_growing_in_steps_is_growing_at_once(twin):
    X, _ = blobs(n_rows=20)
    family = twin.normal_gamma.NormalGamma(**empirical_prior(X))
    forest = twin.bhc.Forest(X, np.arange(20), family, 1.0)
    assert [forest.grow(15), forest.n_nodes, len(forest.children)] == [24, 15, 0]
    assert [forest.grow(15), forest.n_nodes, len(forest.children)] == [9, 30, 10]
    assert [forest.grow(15), forest.grow(15), forest.n_nodes] == [0, 0, 39]
    assert forest.children == grown(twin, X, family, 1.0).children
    assert family.n_slots == 0


def test_one_row_is_a_tree(twin):
    family = twin.normal_gamma.NormalGamma([0.0], 1.0, 1.0, [1.0])
    forest = grown(twin, np.ones((1, 1)), family, 0.5)
    assert forest.children == []
    assert forest.log_e == forest.log_f
    labels = np.full(1, -1, dtype=np.intp)
    assert twin.trees.cut(merges(forest), np.empty(0), labels) == 1
    assert labels.tolist() == [0]


@pytest.mark.parametrize(
    ("log_odds", "labels"),
    [
        ([1.0, -1.0, 1.0], [0, 0, 0, 0]),  # the root has all, whatever is below
        ([1.0, -1.0, -1.0], [2, 2, 1, 0]),
        ([-1.0, 1.0, -1.0], [2, 1, 0, 0]),
        ([1e-9, -1e-9, -1.0], [1, 1, 0, 0]),  # r = 1/2 but for rounding
        ([-1e-7, 0.0, -1e-7], [2, 1, 0, 0]),
    ],
)
def test_the_tree_is_cut_from_the_root_down(twin, log_odds, labels):
    children = np.array([[0, 1], [2, 3], [4, 5]], dtype=np.intp)
    out = np.empty(4, dtype=np.intp)
    n_clusters = twin.trees.cut(children, np.array(log_odds), out)
    assert naive.canonical(out) == naive.canonical(labels)
    assert n_clusters == len(set(labels)) == out.max() + 1


def outputs(twin, X, component, alpha):
    """Everything that a twin finds."""
    forest = grown(twin, X, component, alpha)
    found = increments(twin, X, component.like(), forest, alpha) if len(X) > 1 else []
    return forest.children, [getattr(forest, name) for name in OUTPUTS], found


@settings(max_examples=40, deadline=None)
@given(problem=problems(max_rows=24))
def test_twins_agree_where_many_pairs_are_as_good(twins, problem):
    X, prior, alpha = problem
    plain, kernel = (
        outputs(twin, X, twin.normal_gamma.NormalGamma(**prior), alpha) for twin in twins
    )
    assert plain[0] == kernel[0]
    for ours, theirs in zip(plain[1], kernel[1], strict=True):
        np.testing.assert_allclose(ours, theirs, **CLOSE)
    np.testing.assert_allclose(plain[2], kernel[2], **CLOSE)


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_twins_agree_in_every_family(twins, family):
    case = CASES[family]
    X, prior, alpha = problem(case, 3, 60, 3)
    plain, kernel = (outputs(twin, X, case.component(twin, prior), alpha) for twin in twins)
    assert plain[0] == kernel[0]
    np.testing.assert_allclose(plain[2], kernel[2], **CLOSE)


@pytest.mark.parametrize("offset", [0.0, 1e8])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_units_and_origin_do_not_matter(twin, offset, scale):
    X, _ = blobs(n_rows=30)
    X = np.round(X, 3)
    expected = grown(twin, X, twin.normal_gamma.NormalGamma(**empirical_prior(X)), 1.0)
    moved = (X + offset) * scale
    prior = empirical_prior(X)
    prior = {**prior, "m0": (prior["m0"] + offset) * scale, "b0": prior["b0"] * scale**2}
    forest = grown(twin, moved, twin.normal_gamma.NormalGamma(**prior), 1.0)
    assert forest.children == expected.children
    np.testing.assert_allclose(forest.log_odds, expected.log_odds, rtol=1e-4, atol=1e-5)


TREE = np.array([[0, 1], [2, 3]], dtype=np.intp)
CALLS = {
    "no row": (
        lambda t, c: t.bhc.Forest(np.empty((0, 1)), np.empty(0, dtype=np.intp), c, 1.0),
        "X must have at least one row, got 0",
    ),
    "too few leaves": (
        lambda t, c: t.bhc.Forest(np.zeros((2, 1)), np.zeros(1, dtype=np.intp), c, 1.0),
        "leaves must have 2 values, got 1",
    ),
    "a leaf below 0": (
        lambda t, c: t.bhc.Forest(np.zeros((2, 1)), np.array([0, -1]), c, 1.0),
        "leaves must be from 0 to 1, got -1",
    ),
    "a leaf without a row": (
        lambda t, c: t.bhc.Forest(np.zeros((3, 1)), np.array([0, 2, 2]), c, 1.0),
        "leaves must each have a row, leaf 1 has none",
    ),
    "trees": (
        lambda t, c: t.bhc.Forest(
            np.zeros((1, 1)), np.zeros(1, dtype=np.intp), c, 1.0, np.zeros((2, 2))
        ),
        "trees must have 1 rows, got 2",
    ),
    "alpha": (
        lambda t, c: t.bhc.Forest(np.zeros((1, 1)), np.zeros(1, dtype=np.intp), c, -1.0),
        "alpha must be positive, got -1.0",
    ),
    "wide rows": (
        lambda t, c: t.bhc.Forest(np.zeros((1, 2)), np.zeros(1, dtype=np.intp), c, 1.0),
        "row must have 1 values, got 2",
    ),
    "labels": (
        lambda t, c: t.trees.cut(TREE, np.zeros(2), np.empty(4, dtype=np.intp)),
        "children must have 3 values, got 2",
    ),
    "odds": (
        lambda t, c: t.trees.cut(TREE, np.zeros(1), np.empty(3, dtype=np.intp)),
        "log_odds must have 2 values, got 1",
    ),
    "a node before it is made": (
        lambda t, c: t.trees.cut(TREE + 1, np.zeros(2), np.empty(3, dtype=np.intp)),
        "children must be nodes made before and not merged, got 4",
    ),
    "no pairs": (
        lambda t, c: t.trees.cut(
            np.ascontiguousarray(TREE[:, :1]), np.zeros(2), np.empty(3, dtype=np.intp)
        ),
        "children must be pairs, got 1 values",
    ),
    "a node twice": (
        lambda t, c: t.trees.hold(np.zeros((3, 1)), np.arange(3), c, TREE[[0, 0]]),
        "children must be nodes made before and not merged, got 0",
    ),
    "counts": (
        lambda t, c: t.trees.log_node_weights(TREE, np.zeros(2), np.ones(4), 1.0, np.empty(6)),
        "counts must have 5 values, got 4",
    ),
    "weights": (
        lambda t, c: t.trees.log_node_weights(TREE, np.zeros(2), np.ones(5), 1.0, np.empty(5)),
        "out must have 6 values, got 5",
    ),
    "alpha of weights": (
        lambda t, c: t.trees.log_node_weights(TREE, np.zeros(2), np.ones(5), 0.0, np.empty(6)),
        "alpha must be positive, got 0.0",
    ),
    "nodes": (
        lambda t, c: t.alternative_trees.log_increments(
            c, TREE, np.zeros(5), 1.0, np.empty((2, 2))
        ),
        "component must have 6 slots, got 0",
    ),
    "weights of a mixture": (
        lambda t, c: t.prediction.log_mixture_density(np.zeros((1, 1)), c, np.ones(2), np.empty(1)),
        "log_weights must have 0 values, got 2",
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_errors_state_the_rule_that_is_broken(twin, call):
    run, message = CALLS[call]
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        run(twin, twin.normal_gamma.NormalGamma([0.0], 1.0, 1.0, [1.0]))
    assert str(caught.value) == message
