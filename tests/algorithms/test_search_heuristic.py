"""The heuristic of prefix search: bounds of what the rows to come add, against every completion."""

import itertools

import numpy as np
import pytest
from families import BOUNDED_FAMILY_NAMES, CASES, FAMILY_NAMES

N_ROWS = 6


def problem(name, seed):
    """Rows with weights, a family and its prior, and labels of the first three rows."""
    rng, case = np.random.default_rng(seed), CASES[name]
    X = np.ascontiguousarray(case.draw(rng, N_ROWS, 2))
    weights = None if seed % 2 else rng.gamma(1.0, 2.0, size=N_ROWS) + 0.05
    labels = [(0, 0, 0), (0, 1, 0), (0, 1, 2)][seed % 3]
    return X, weights, case.prior(rng, 2), labels


def heuristic_of(twin, name, seed, scoring):
    """The heuristic, the clusters of rows 0 and 1, and the scores of the rows after row 2."""
    X, weights, prior, labels = problem(name, seed)
    rows, component = twin.rows.Rows(X, weights), CASES[name].component(twin, prior)
    clusters = twin.shared_clusters.SharedClusters(component)
    order = np.arange(N_ROWS, dtype=np.intp)
    heuristic = twin.search_heuristic.SearchHeuristic(rows, component, 1.3, order, scoring)
    c = clusters.first()
    for i, k in enumerate(labels[:2]):
        c = clusters.grow(c, k, X[i], rows.weight(i))
    slots = clusters.slots(c)
    n_largest = max(component.counts[slot] for slot in slots)
    return heuristic, rows, slots, heuristic.scores(slots, 2, n_largest)


def log_joint(twin, rows, name, prior, labels):
    """-neg_log_joint of rows 0..len(labels)-1, times the denominator of the partition's prior."""
    first = rows.take(np.arange(len(labels), dtype=np.intp))
    component = CASES[name].component(twin, prior)
    labels = np.array(labels, dtype=np.intp)
    partition = twin.partition.Partition(first, labels, component, 1.3)
    n = sum(first.weight(i) for i in range(len(labels)))
    return twin.special.log_rising(1.3, n) - partition.neg_log_joint


@pytest.mark.parametrize(
    ("name", "scoring"),
    [(name, "trivial") for name in FAMILY_NAMES]
    + [(name, "tight") for name in BOUNDED_FAMILY_NAMES],
)
def test_no_completion_adds_more_than_an_admissible_score(twin, name, scoring):
    for seed in range(4):
        _, rows, slots, scores = heuristic_of(twin, name, seed, scoring)
        _, _, prior, labels = problem(name, seed)
        for k, score in enumerate(scores):
            prefix = (*labels[:2], k)
            before = log_joint(twin, rows, name, prior, prefix)
            for left in itertools.product(range(len(slots) + 3), repeat=N_ROWS - 3):
                added = log_joint(twin, rows, name, prior, (*prefix, *left)) - before
                assert added <= score + 1e-8


@pytest.mark.parametrize("scoring", ["trivial", "tight", "inadmissible"])
@pytest.mark.parametrize("name", FAMILY_NAMES)
def test_both_twins_score_alike(twins, name, scoring):
    if scoring == "tight" and name not in BOUNDED_FAMILY_NAMES:
        scoring = "trivial"
    for seed in range(6):
        one, other = (heuristic_of(twin, name, seed, scoring) for twin in twins)
        np.testing.assert_allclose(other[3], one[3], rtol=1e-9, atol=1e-9)
        assert other[0].total_weight == pytest.approx(one[0].total_weight, rel=1e-14)
        assert other[0].log_factor(2.5, 0.5) == pytest.approx(one[0].log_factor(2.5, 0.5))
        assert other[0].log_factor(0.0, 1.0) == pytest.approx(np.log(1.3))


@pytest.mark.parametrize("scoring", ["trivial", "tight"])
@pytest.mark.parametrize("alpha", [0.2, 1.0, 7.5])
def test_no_completion_adds_more_to_a_score_of_sizes(twin, scoring, alpha):
    """Sizes of one, two and three clusters of three rows, and every completion by three more."""
    X, weights, prior, _ = problem("normal-known-variance", 1)
    assert weights is None
    rows, case = twin.rows.Rows(X), CASES["normal-known-variance"]
    component = case.component(twin, prior)
    order = np.arange(N_ROWS, dtype=np.intp)
    clusters = twin.shared_clusters.SharedClusters(component)
    heuristic = twin.search_heuristic.SearchHeuristic(
        rows, component, alpha, order, scoring, "sizes"
    )

    def score(labels):
        """What rows in clusters score, but for the factorials of multiplicities."""
        labels, x = np.array(labels), X[: len(labels)]
        blocks = [x[labels == k] for k in np.unique(labels)]
        return sum(case.log_marginal(b, prior) + np.log(alpha / len(b)) for b in blocks)

    for first in [(0, 0), (0, 1)]:
        c = clusters.first()
        for i, k in enumerate(first):
            c = clusters.grow(c, k, X[i])
        slots = clusters.slots(c)
        n_largest = max(component.counts[slot] for slot in slots)
        for k, best in enumerate(heuristic.scores(slots, 2, n_largest)):
            prefix = (*first, k)
            for left in itertools.product(range(len(slots) + 3), repeat=N_ROWS - 3):
                labels = (*prefix, *left)
                repeats = heuristic.log_repeats(np.unique(labels, return_counts=True)[1])
                assert score(labels) - repeats - score(prefix) <= best + 1e-9
