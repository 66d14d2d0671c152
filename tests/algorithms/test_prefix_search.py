"""Searches among clusterings of prefixes, against enumeration and a naive statement of them."""

import math

import naive
import numpy as np
import pytest
from cases import PURE
from families import BOUNDED_FAMILY_NAMES, CASES, FAMILY_NAMES
from hypothesis import given, settings
from hypothesis import strategies as st

ADMISSIBLE = [(name, "trivial") for name in FAMILY_NAMES]
ADMISSIBLE += [(name, "tight") for name in BOUNDED_FAMILY_NAMES]


def problem(name, seed, n_rows):
    rng, case = np.random.default_rng(seed), CASES[name]
    n_columns = int(rng.integers(1, 4))
    X = np.ascontiguousarray(case.draw(rng, n_rows, n_columns))
    weights = None if seed % 3 else rng.gamma(1.0, 2.0, size=n_rows) + 0.05
    prior, alpha = case.prior(rng, n_columns), float(np.exp(rng.normal()))
    return X, weights, prior, alpha, rng.permutation(n_rows).astype(np.intp)


def search(twin, name, seed, n_rows, scoring, beam=None, max_queue=None):
    """A search that is over, its labels, and the least joint there is."""
    X, weights, prior, alpha, order = problem(name, seed, n_rows)
    rows, case = twin.rows.Rows(X, weights), CASES[name]
    component = case.component(twin, prior)
    found = twin.prefix_search.PrefixSearch(rows, component, alpha, order, scoring, beam, max_queue)
    while not found.run(7):
        assert found.neg_log_joint == math.inf
    labels, best = np.empty(n_rows, dtype=np.intp), np.empty(n_rows, dtype=np.intp)
    found.write_labels(labels)
    joint = twin.partition.Partition(rows, labels.copy(), component, alpha).neg_log_joint
    assert found.neg_log_joint == pytest.approx(joint, abs=1e-8)
    out = np.empty(n_rows), np.empty((n_rows, n_rows))
    _, least = twin.exact.sum_over_partitions(rows, case.component(twin, prior), alpha, best, *out)
    return found, labels, least


@pytest.mark.parametrize(("name", "scoring"), ADMISSIBLE)
def test_a_star_finds_the_optimum(twin, name, scoring):
    kernel = twin.implementation == "cython"
    for seed in range(100 if kernel else 5):
        n_rows = 8 + seed % 5 if kernel else 3 + seed % 4
        n_rows = min(n_rows, 9) if scoring == "trivial" else n_rows
        found, _, least = search(twin, name, seed, n_rows, scoring)
        assert found.neg_log_joint == pytest.approx(least, abs=1e-7)
        assert found.neg_log_bound == pytest.approx(least, abs=1e-7)


@pytest.mark.parametrize("name", BOUNDED_FAMILY_NAMES)
def test_tight_scores_expand_fewer_states(twin, name):
    expanded = {"trivial": 0, "tight": 0}
    for scoring in expanded:
        for seed in range(20 if twin.implementation == "cython" else 4):
            n_rows = 9 if twin.implementation == "cython" else 6
            expanded[scoring] += search(twin, name, seed, n_rows, scoring)[0].n_expanded
    assert expanded["tight"] < 0.7 * expanded["trivial"]


@settings(max_examples=40, deadline=None)
@given(
    name_and_scoring=st.sampled_from(ADMISSIBLE),
    seed=st.integers(0, 10_000),
    beam=st.sampled_from([(1, None), (3, None), (None, 2), (None, 6), (4, 2)]),
)
def test_limits_leave_the_bound_a_bound(twin, name_and_scoring, seed, beam):
    found, _, least = search(twin, name_and_scoring[0], seed, 6, name_and_scoring[1], *beam)
    assert found.neg_log_joint >= least - 1e-8
    assert found.neg_log_bound <= least + 1e-8
    limit = min(limit for limit in beam if limit is not None)
    assert found.n_expanded <= 1 + limit * 5
    assert found.longest == 5


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(FAMILY_NAMES),
    seed=st.integers(0, 10_000),
    scoring=st.sampled_from(["trivial", "tight", "inadmissible"]),
    limits=st.sampled_from([(None, None), (1, None), (5, None), (None, 3)]),
)
def test_both_implementations_do_the_same(twins, name, seed, scoring, limits):
    if scoring == "tight" and name not in BOUNDED_FAMILY_NAMES:
        scoring = "inadmissible"
    results = []
    for twin in twins:
        found, labels, _ = search(twin, name, seed, 6, scoring, *limits)
        counts = found.n_enqueued, found.n_expanded, found.n_queued, found.longest
        results.append((counts, labels.tolist(), found.neg_log_joint, found.neg_log_bound))
    assert results[0][:2] == results[1][:2]
    np.testing.assert_allclose(results[0][2:], results[1][2:], rtol=1e-9, atol=1e-8)


def naive_beam_search(X, case, prior, alpha, beam):
    """Eq. (12) from scratch for every state; each length's best are expanded."""
    n = len(X)
    alone = [case.log_marginal(X[i : i + 1], prior) for i in range(n)]
    states = [()]
    for d in range(1, n + 1):
        scored = []
        for labels in ((*s, k) for s in states for k in range(max(s, default=-1) + 2)):
            counts = np.bincount(labels)
            best = max(
                naive.log_crp([*labels, *[counts.argmax()] * (n - d)], alpha),
                naive.log_crp([*labels, *range(len(counts), len(counts) + n - d)], alpha),
            )
            blocks = [X[:d][np.array(labels) == k] for k in range(len(counts))]
            score = best + sum(case.log_marginal(block, prior) for block in blocks)
            scored.append((score + sum(alone[d:]), labels))
        states = [labels for _, labels in sorted(scored, reverse=True)[:beam]]
    return np.array(states[0])


@pytest.mark.parametrize("name", FAMILY_NAMES)
@pytest.mark.parametrize("beam", [1, 4])
def test_a_beam_is_what_it_is_said_to_be(twin, name, beam):
    rng, case = np.random.default_rng(3), CASES[name]
    X, prior = np.ascontiguousarray(case.draw(rng, 14, 3)), case.prior(rng, 3)
    X, order = X[np.argsort(rng.random(14))], np.arange(14, dtype=np.intp)
    component = case.component(twin, prior)
    found = twin.prefix_search.PrefixSearch(X, component, 1.3, order, "inadmissible", beam)
    assert found.run(10_000)
    labels = np.empty(14, dtype=np.intp)
    found.write_labels(labels)
    np.testing.assert_array_equal(labels, naive_beam_search(X, case, prior, 1.3, beam))


def sizes_score(X, labels, case, prior, alpha):
    """Log of Daumé's p(c) p(x | c), eq. (2) and (5), without anything that the search has."""
    _, counts = np.unique(labels, return_counts=True)
    sizes, m = np.unique(counts, return_counts=True)
    n = len(labels)
    total = math.lgamma(n + 1) + math.lgamma(alpha) - math.lgamma(alpha + n)
    total += sum(
        k * math.log(alpha / s) - math.lgamma(k + 1) for s, k in zip(sizes, m, strict=True)
    )
    return total + sum(case.log_marginal(X[labels == k], prior) for k in np.unique(labels))


@pytest.mark.parametrize("alpha", [0.3, 1.0, 5.0])
@pytest.mark.parametrize(("name", "scoring"), ADMISSIBLE)
def test_scores_of_sizes_have_their_optimum(twin, name, scoring, alpha):
    """A* ends at the best of all partitions by eq. (2), which need not be the most probable one."""
    n_rows, case = 6, CASES[name]
    for seed in range(8 if twin.implementation == "cython" else 2):
        X, _, prior, _, order = problem(name, seed, n_rows)
        scores = [
            sizes_score(X, np.array(labels), case, prior, alpha)
            for labels in naive.partitions(n_rows)
        ]
        component, labels = case.component(twin, prior), np.empty(n_rows, dtype=np.intp)
        found = twin.prefix_search.PrefixSearch(
            X, component, alpha, order, scoring, prior_score="sizes"
        )
        assert found.run(10_000)
        found.write_labels(labels)
        assert -found.neg_log_joint == pytest.approx(max(scores), abs=1e-7)
        assert -found.neg_log_bound == pytest.approx(max(scores), abs=1e-7)
        assert sizes_score(X, labels, case, prior, alpha) == pytest.approx(max(scores), abs=1e-7)


@pytest.mark.parametrize("limits", [(1, None), (4, None), (None, 3)])
@pytest.mark.parametrize("scoring", ["trivial", "tight", "inadmissible"])
def test_searches_by_sizes_are_alike(twins, scoring, limits):
    name = "normal-known-variance"
    for seed in range(6):
        X, _, prior, alpha, order = problem(name, seed, 9)
        results = []
        for twin in twins:
            component, labels = CASES[name].component(twin, prior), np.empty(9, dtype=np.intp)
            found = twin.prefix_search.PrefixSearch(
                X, component, alpha, order, scoring, *limits, prior_score="sizes"
            )
            assert found.run(10_000)
            found.write_labels(labels)
            score = sizes_score(X, labels, CASES[name], prior, alpha)
            assert -found.neg_log_joint == pytest.approx(score, abs=1e-8)
            results.append((labels.tolist(), found.n_enqueued, found.n_expanded))
        assert results[0] == results[1]


@pytest.mark.parametrize(
    ("prior_score", "weights", "message"),
    [
        ("size", None, "prior_score must be one of partition, sizes, got 'size'"),
        ("sizes", [1.0, 2.5, 1.0], r"prior_score 'sizes' needs rows of weight 1, got 2\.5"),
    ],
)
def test_scores_of_sizes_are_of_whole_rows(twin, prior_score, weights, message):
    X = np.array([[0.0], [1.0], [3.0]])
    rows = twin.rows.Rows(X, None if weights is None else np.array(weights))
    prior = {"m0": np.zeros(1), "sigma2": np.ones(1), "tau2": np.ones(1)}
    component = CASES["normal-known-variance"].component(twin, prior)
    order = np.arange(3, dtype=np.intp)
    with pytest.raises(ValueError, match=message):
        twin.prefix_search.PrefixSearch(
            rows, component, 1.0, order, "trivial", prior_score=prior_score
        )


def test_beam_1_places_row_after_row(twin):
    """With one state no score is compared with another's: but for the prior it is a first sweep."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 1.0, size=(20, 2)) for c in (-30.0, 0.0, 30.0)])
    component = CASES["normal-known-variance"].component(
        twin, {"m0": np.zeros(2), "sigma2": np.ones(2), "tau2": np.full(2, 500.0)}
    )
    order = rng.permutation(60).astype(np.intp)
    found = twin.prefix_search.PrefixSearch(X, component, 1.0, order, "inadmissible", 1)
    assert found.run(61)
    assert (found.n_expanded, found.n_queued) == (60, 0)
    labels, first = np.empty(60, dtype=np.intp), np.full(60, -1, dtype=np.intp)
    found.write_labels(labels)
    twin.map_dpm.sweep(twin.partition.Partition(X, first, component.like(), 1.0, order))
    np.testing.assert_array_equal(labels[order], first)


def test_log_densities_of_rows_on_their_own(twin):
    X, weights, prior, _, _ = problem("dirichlet-multinomial", 3, 6)
    case = CASES["dirichlet-multinomial"]
    out = np.empty(6)
    component = case.component(twin, prior)
    twin.prefix_search.prior_log_densities(twin.rows.Rows(X, weights), component, out)
    expected = [case.log_marginal(w * X[i : i + 1], prior) / w for i, w in enumerate(weights)]
    np.testing.assert_allclose(out, expected, rtol=1e-10)
    with pytest.raises(ValueError, match="out must have 6 values, got 5"):
        twin.prefix_search.prior_log_densities(twin.rows.Rows(X), component, np.empty(5))


ERRORS = {
    "alpha must be positive, got 0.0": {"alpha": 0.0},
    "order must have each number from 0 to 3 once": {"order": np.array([0, 1, 1, 3])},
    "scoring must be one of trivial, tight, inadmissible, got 'best'": {"scoring": "best"},
    "beam must be at least 1, got 0": {"beam": 0},
    "max_queue must be at least 1, got -2": {"max_queue": -2},
    "row must have 3 values, got 2": {"X": np.zeros((4, 2))},
    "no bound of log predictives is known for NormalGamma": {"scoring": "tight"},
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors_state_the_rule_that_is_broken(twin, message):
    case = CASES["normal-gamma"]
    given = {
        "X": np.zeros((4, 3)),
        "alpha": 1.0,
        "order": np.arange(4),
        "scoring": "trivial",
        **ERRORS[message],
    }
    component = case.component(twin, case.prior(np.random.default_rng(0), 3))
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        twin.prefix_search.PrefixSearch(component=component, **given)
    assert str(caught.value) == message


def test_labels_must_be_there_and_have_room(twin):
    case = CASES["normal-gamma"]
    component = case.component(twin, case.prior(np.random.default_rng(0), 1))
    found = twin.prefix_search.PrefixSearch(
        np.zeros((3, 1)), component, 1.0, np.arange(3), "trivial"
    )
    with pytest.raises(ValueError, match="no clustering is found yet"):
        found.write_labels(np.empty(3, dtype=np.intp))
    assert found.run(1000)
    with pytest.raises(ValueError, match="out must have 3 values, got 2"):
        found.write_labels(np.empty(2, dtype=np.intp))


@pytest.mark.skipif(PURE, reason="compares the implementations' times")
def test_the_kernel_is_much_faster(twins):
    from time import perf_counter

    rng, case = np.random.default_rng(0), CASES["normal-known-variance"]
    X = rng.normal(size=(600, 8)) + 5.0 * rng.integers(4, size=(600, 1))
    prior, seconds = case.prior(rng, 8), []
    for twin in twins:
        component = case.component(twin, prior)
        found = twin.prefix_search.PrefixSearch(
            X, component, 1.0, np.arange(600), "inadmissible", 2
        )
        start = perf_counter()
        assert found.run(10_000)
        seconds.append(perf_counter() - start)
    assert seconds[0] > 20.0 * seconds[1]
