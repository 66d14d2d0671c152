"""Dirichlet-multinomial components against Polya's urn, word by word, and the chain rule."""

from math import lgamma, log

import mpmath
import numpy as np
import pytest
from cases import compressed
from hypothesis import given, settings
from hypothesis import strategies as st
from slots import check_scores, others_of, spread

CLOSE = {"rel": 1e-10, "abs": 1e-9}


def log_urn(x, words, beta0):
    """Log p(x | words in the urn), drawn one by one."""
    words, total = np.array(words, dtype=float), 0.0
    for w, x_w in enumerate(x):
        for _ in range(int(x_w)):
            total += log(beta0[w] + words[w]) - log(np.sum(beta0) + words.sum())
            words[w] += 1.0
    return total


def log_ratio(x, words, beta0):
    """The same for any counts, from gamma functions of 40 digits."""
    with mpmath.workdps(40):
        beta = [mpmath.mpf(b) + mpmath.mpf(n) for b, n in zip(beta0, words, strict=True)]
        x = [mpmath.mpf(x_w) for x_w in x]
        steps = zip(beta, x, strict=True)
        total = sum(mpmath.loggamma(b + x_w) - mpmath.loggamma(b) for b, x_w in steps)
        return float(total - mpmath.loggamma(sum(beta) + sum(x)) + mpmath.loggamma(sum(beta)))


def filled(twin, X, beta0, n_slots=3, weights=None):
    """A component with the rows of X spread over the slots but the last."""
    component = twin.dirichlet_multinomial.DirichletMultinomial(beta0)
    return spread(component, X, n_slots, weights)


@st.composite
def problems(draw, max_rows=8, max_words=6, largest=5):
    """Counts and a prior; all-zero rows are common."""
    n, d = draw(st.integers(1, max_rows)), draw(st.integers(1, max_words))
    cells = draw(st.lists(st.integers(0, largest), min_size=n * d, max_size=n * d))
    beta0 = draw(st.lists(st.sampled_from([1e-3, 0.1, 1.0, 7.5, 1e6]), min_size=d, max_size=d))
    return np.array(cells, dtype=float).reshape(n, d), beta0


@given(problem=problems())
def test_scores_are_those_of_an_urn(twin, problem):
    X, beta0 = problem
    component, labels = filled(twin, X, beta0)

    def log_predictive(x, rows, beta0):
        return log_urn(x, rows.sum(axis=0), beta0)

    check_scores(component, labels, X, beta0, log_predictive, CLOSE)


@given(problem=problems())
def test_a_member_is_scored_without_itself(twin, problem):
    X, beta0 = problem
    component, labels = filled(twin, X, beta0)
    before = [component.statistics(k) for k in range(3)]
    for i, row in enumerate(X):
        others = others_of(i, X, labels)
        score = component.log_predictive_member(row, labels[i])
        assert np.isnan(score) or score == pytest.approx(
            log_urn(row, others.sum(axis=0), beta0), **CLOSE
        )
        copy = component.like()
        copy.resize(1)
        copy.copy(0, component, labels[i])
        assert copy.remove(row, 0) == (not np.isnan(score))
        if not np.isnan(score):
            assert copy.statistics(0) == [len(others), *others.sum(axis=0)]
            assert copy.log_predictive(row, 0) == pytest.approx(score, **CLOSE)
    assert [component.statistics(k) for k in range(3)] == before


@given(problem=problems())
def test_marginal_is_the_product_of_predictives(twin, problem):
    X, beta0 = problem
    component = twin.dirichlet_multinomial.DirichletMultinomial(beta0)
    component.resize(1)
    assert component.log_marginal(0) == 0.0
    total = 0.0
    for row in X:
        total += component.log_predictive(row, 0)
        component.add(row, 0)
        assert component.log_marginal(0) == pytest.approx(total, **CLOSE)
    assert total == pytest.approx(log_urn(X.sum(axis=0), 0.0 * X[0], beta0), **CLOSE)


@given(problem=problems())
def test_merging_is_adding(twin, problem):
    X, beta0 = problem
    component, _ = filled(twin, X, beta0)
    merged = component.log_marginal_merged(0, 1)
    assert merged == pytest.approx(log_urn(X.sum(axis=0), 0.0 * X[0], beta0), **CLOSE)
    assert component.log_marginal_merged(1, 0) == pytest.approx(merged, **CLOSE)
    component.merge(0, 1)
    assert component.counts == [len(X), 0.0, 0.0]
    assert component.statistics(0) == [len(X), *X.sum(axis=0)]
    assert component.statistics(1) == [0.0] * (1 + len(beta0))
    assert component.log_marginal(0) == pytest.approx(merged, **CLOSE)


@given(problem=problems(), weight=st.integers(1, 40))
def test_a_weight_is_as_many_rows(twin, problem, weight):
    X, beta0 = problem
    component, _ = filled(twin, X, beta0)
    total = component.log_predictive(X[0], 1, float(weight))
    assert component.log_predictive_all(X[0], float(weight))[1] == pytest.approx(total, **CLOSE)
    before = component.log_marginal(1)
    one_by_one = 0.0
    for _ in range(weight):
        one_by_one += component.log_predictive(X[0], 1)
        component.add(X[0], 1)
    assert total == pytest.approx(one_by_one, **CLOSE)
    assert component.log_marginal(1) - before == pytest.approx(total, **CLOSE)
    member = component.log_predictive_member(X[0], 1, float(weight))
    assert np.isnan(member) or member == pytest.approx(total, **CLOSE)
    if component.remove(X[0], 1, float(weight)):
        assert component.log_marginal(1) == pytest.approx(before, **CLOSE)


@settings(deadline=None)
@given(problem=problems(), weights=st.data())
def test_fractional_counts(twin, problem, weights):
    X, beta0 = problem
    factors = st.sampled_from([0.1, 0.3, 1.0, 1 / 3, 2.5, 50.7])
    w = np.array(weights.draw(st.lists(factors, min_size=len(X), max_size=len(X))))
    component, labels = filled(twin, X, beta0, weights=w)
    totals = [(w[:, None] * X)[labels == k].sum(axis=0) for k in range(3)]
    expected = [log_ratio(0.7 * X[0], words, beta0) for words in totals]
    assert component.log_predictive_all(X[0], 0.7) == pytest.approx(expected, **CLOSE)
    merged = log_ratio(totals[0] + totals[1], 0.0 * X[0], beta0)
    assert component.log_marginal_merged(0, 1) == pytest.approx(merged, **CLOSE)
    for i in np.flatnonzero(labels == 0)[1:]:
        rest = totals[0] - w[i] * X[i]
        rest[(X[(labels == 0) & (np.arange(len(X)) != i)] == 0.0).all(axis=0)] = 0.0
        member = component.log_predictive_member(X[i], 0, w[i])
        if not np.isnan(member):
            assert member == pytest.approx(log_ratio(w[i] * X[i], rest, beta0), **CLOSE)
    for i in np.flatnonzero(labels == 0)[:0:-1]:
        if not component.remove(X[i], 0, w[i]):
            return
    first = [w[0], *(w[0] * X[0])]
    assert component.statistics(0) == pytest.approx(first, rel=1e-9, abs=0.0)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), scale=st.sampled_from([1e-12, 1e-3, 1.0, 1e6, 1e12]))
def test_every_size_of_counts_and_of_the_prior(twin, seed, scale):
    rng = np.random.default_rng(seed)
    X = np.floor(10.0 ** rng.uniform(-1.0, 4.0, size=(7, 12)))
    X[1:3] *= 1e8
    beta0 = list(scale * rng.gamma(1.0, size=12))
    component, labels = filled(twin, X, beta0, n_slots=6)
    for row in X:
        scores = component.log_predictive_all(row)
        for k in range(6):
            expected = log_ratio(row, X[labels == k].sum(axis=0), beta0)
            assert scores[k] == pytest.approx(expected, rel=1e-12, abs=1e-9)
            assert component.log_predictive(row, k) == pytest.approx(expected, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("beta", [1e-12, 1e-3, 100.0])
@pytest.mark.parametrize("n_slots", [2, 17, 33, 50])
def test_many_words_and_slots(twin, beta, n_slots):
    """Products are rescaled in time, and every width of vectors is met."""
    rng = np.random.default_rng(1)
    X = np.floor(rng.gamma(0.2, 4.0, size=(60, 400)))
    beta0 = np.full(400, beta)
    component, labels = filled(twin, X[:50], beta0, n_slots)
    sums = [X[:50][labels == k].sum(axis=0) for k in range(n_slots)]
    for scores, words in (
        (component.log_predictive_all(X[55]), X[55]),
        ([component.log_predictive(X[55], k) for k in range(n_slots)], X[55]),
        ([component.log_marginal(k) for k in range(n_slots)], None),
        ([component.log_marginal_merged(0, k) for k in range(1, n_slots)], sums[0]),
    ):
        shift = n_slots - len(scores)
        for k, score in enumerate(scores):
            before = sums[k + shift] if words is not None else 0.0 * beta0
            expected = log_many(words if words is not None else sums[k], before, beta0)
            if shift:
                expected += log_many(before, 0.0 * beta0, beta0)
            assert score == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("beta", [1e-3, 1.0, [0.5, 2.0] * 100])
def test_clusters_of_few_words_merge(twin, beta):
    """Small counts, large ones and fractions, in words of the other cluster and in others."""
    beta0 = np.broadcast_to(beta, 200).astype(float)
    counts = np.zeros((4, 200))
    counts[0, [3, 70, 71, 199]] = 2.0, 9000.0, 0.25, 1.0
    counts[1, [3, 4, 5, 71]] = 1.0, 1.0, 40.0, 2.0
    counts[2] = np.arange(200) % 7  # most words
    component = twin.dirichlet_multinomial.DirichletMultinomial(beta0)
    component.resize(4)
    for k, words in enumerate(counts):
        component.load(k, [1.0, *words])
    for j, k in ((0, 1), (1, 0), (0, 2), (2, 0), (1, 3), (3, 1)):
        expected = log_many(counts[j] + counts[k], 0.0 * beta0, beta0)
        assert component.log_marginal_merged(j, k) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("beta", [1e-8, 1e-12, 1e-17])
def test_products_of_tiny_numbers(twin, beta):
    """A product of many new words would be zero, were each a factor of it."""
    x, beta0 = np.ones(600), np.full(600, beta)
    component, _ = filled(twin, [x * (np.arange(600) < 3)], beta0, 2)
    expected = log_many(x, x * (np.arange(600) < 3), beta0)
    assert component.log_predictive(x, 0) == pytest.approx(expected, rel=1e-10)
    assert component.log_predictive_all(x)[0] == pytest.approx(expected, rel=1e-10)


def log_many(x, words, beta0):
    """`log_ratio` by lgamma, for many words that are not large."""
    a = beta0 + words
    total = sum(lgamma(p + q) - lgamma(p) for p, q in zip(a, x, strict=True) if q)
    return total + lgamma(a.sum()) - lgamma(a.sum() + x.sum())


def test_an_all_zero_row_weighs_but_says_nothing(twin):
    component, _ = filled(twin, np.array([[3.0, 0.0], [0.0, 0.0], [0.0, 0.0]]), [0.5, 0.5])
    nothing = np.zeros(2)
    assert component.log_predictive_all(nothing) == [0.0, 0.0, 0.0]
    assert component.log_predictive_member(nothing, 0) == 0.0
    assert component.log_marginal(1) == 0.0
    assert component.counts == [2.0, 1.0, 0.0]
    assert component.remove(nothing, 0)
    assert component.statistics(0) == [1.0, 3.0, 0.0]


def test_a_row_is_not_removed_when_little_would_be_left(twin):
    beta0, rows = [0.1, 0.1], np.array([[1e6, 0.0], [1.0, 2.0], [700.0, 0.0]])
    component = twin.dirichlet_multinomial.DirichletMultinomial(beta0)
    component.resize(2)
    for row in rows:
        component.add(row, 0)
    before = component.statistics(0)
    assert not component.remove(rows[0], 0)
    assert np.isnan(component.log_predictive_member(rows[0], 0))
    assert component.statistics(0) == before
    component.add(rows[1], 1, 1999.0)
    component.add(rows[1], 1)
    assert component.remove(rows[1], 1, 1976.0)
    assert not component.remove(rows[1], 1, 23.0)  # together, they would leave too little
    assert component.statistics(1) == [24.0, 24.0, 48.0]


def test_removing_the_only_holder_of_a_word_leaves_none(twin):
    component = twin.dirichlet_multinomial.DirichletMultinomial([1e-6, 1.0])
    component.resize(1)
    for weight in (0.1, 0.2):
        component.add(np.array([1.0, 0.0]), 0, weight)
    component.add(np.array([0.0, 1.0]), 0)
    component.remove(np.array([1.0, 0.0]), 0, 0.2)
    component.remove(np.array([1.0, 0.0]), 0, 0.1)
    assert component.statistics(0)[1:] == [0.0, 1.0]


def test_the_posterior_adds_words_to_the_prior(twin):
    component, _ = filled(twin, np.array([[1.0, 2.0], [5.0, 0.0]]), [0.5, 1.5])
    assert component.posterior(0) == {"n": 1.0, "beta": [1.5, 3.5]}
    assert component.posterior(2) == {"n": 0.0, "beta": [0.5, 1.5]}


@pytest.mark.parametrize("weight", [1.0, 3.0, 0.7])
def test_sparse_rows_are_dense_rows(twin, weight):
    rng = np.random.default_rng(4)
    X = rng.poisson(rng.gamma(0.3, 1.0, size=(3, 40))[rng.integers(3, size=30)]).astype(float)
    X[5] = 0.0
    weights = np.full(30, weight)
    results = []
    for rows in (twin.rows.Rows(X, weights), compressed(twin, X, weights)):
        labels = np.arange(30, dtype=np.intp) % 20
        family = twin.dirichlet_multinomial.DirichletMultinomial([0.1] * 40)
        partition = twin.partition.Partition(rows, labels, family, 1.0)
        costs = [partition.costs(i) for i in range(30)]
        twin.map_dpm.converge(partition, 20)
        twin.merges.merge(partition)
        assert partition.neg_log_joint == pytest.approx(partition.exact_neg_log_joint(), **CLOSE)
        results.append((costs, labels.tolist(), partition.neg_log_joint))
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-9)
    expected = sum(
        log_ratio(weight * X[labels == k].sum(axis=0), [0.0] * 40, [0.1] * 40)
        for k in range(partition.n_clusters)
    )
    counts = [weight * n for n in partition.sizes if n]
    assert -partition.neg_log_joint == pytest.approx(
        expected + twin.crp.log_prob_counts(counts, 1.0), **CLOSE
    )


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_errors_state_the_rule_that_is_broken(twin, value):
    with pytest.raises(ValueError, match=f"beta0 must be positive, got {value}"):
        twin.dirichlet_multinomial.DirichletMultinomial([1.0, value])
