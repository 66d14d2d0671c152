"""Beta-Bernoulli components against counting, the chain rule and sums over missing cells."""

from itertools import product
from math import exp, log

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from slots import CLOSE, check_scores, check_scores_of_members, fill, spread

NAN = float("nan")


def naive_log_predictive(x, X, prior):
    """Count, and divide: the cells that are known."""
    total = 0.0
    for d, (a0, b0) in enumerate(zip(prior["a0"], prior["b0"], strict=True)):
        if not np.isnan(x[d]):
            known = X[~np.isnan(X[:, d]), d]
            total += log(np.sum(known == x[d]) + (a0 if x[d] == 1.0 else b0))
            total -= log(len(known) + a0 + b0)
    return total


@st.composite
def problems(draw, least_rows=1):
    n, d = draw(st.integers(least_rows, 12)), draw(st.integers(1, 4))
    values = draw(st.sampled_from([[0.0, 1.0], [0.0, 1.0, NAN]]))
    cells = draw(st.lists(st.sampled_from(values), min_size=n * d, max_size=n * d))
    worths = st.lists(st.sampled_from([0.1, 1.0, 3.7]), min_size=d, max_size=d)
    return np.array(cells).reshape(n, d), {"a0": draw(worths), "b0": draw(worths)}


def build(twin, X, prior, labels, n_slots=3):
    return fill(twin.beta_bernoulli.BetaBernoulli(**prior), X, labels, n_slots)


def filled(twin, X, prior, n_slots=3):
    """A component with the rows of X spread over the slots but the last."""
    return spread(twin.beta_bernoulli.BetaBernoulli(**prior), X, n_slots)


@given(problem=problems())
def test_scores_are_ratios_of_counts(twin, problem):
    X, prior = problem
    check_scores(*filled(twin, X, prior), X, prior, naive_log_predictive)


@given(problem=problems())
def test_a_member_is_scored_without_itself(twin, problem):
    X, prior = problem
    check_scores_of_members(*filled(twin, X, prior), X, prior, naive_log_predictive)


@given(problem=problems(), i=st.integers(0, 100), weight=st.sampled_from([1.0, 2.0, 7.0]))
def test_removing_undoes_adding_exactly(twin, problem, i, weight):
    X, prior = problem
    component, _ = filled(twin, X, prior)
    before, scores = component.statistics(0), component.log_predictive_all(X[0])
    component.add(X[i % len(X)], 0, weight)
    assert component.remove(X[i % len(X)], 0, weight)
    assert component.statistics(0) == before
    assert component.log_predictive_all(X[0]) == scores


def test_any_weight_follows_the_chain_rule(twin):
    prior = {"a0": [0.3, 1.0, 2.0], "b0": [1.0, 1.5, 0.2]}
    x = np.array([1.0, 0.0, NAN])
    component = build(twin, [np.array([1.0, 1.0, 0.0]), np.array([0.0, NAN, 1.0])], prior, [0, 0])
    whole = component.log_predictive(x, 0, 2.3)
    first = component.log_predictive(x, 0, 0.9)
    component.add(x, 0, 0.9)
    assert whole == pytest.approx(first + component.log_predictive(x, 0, 1.4), **CLOSE)
    component.add(x, 0, 1.4)
    assert component.log_predictive_member(x, 0, 2.3) == pytest.approx(whole, **CLOSE)
    assert component.log_predictive_member(x, 0, 1.0 + 1e-12) == pytest.approx(
        component.log_predictive_member(x, 0), **CLOSE
    )


@given(problem=problems(least_rows=2))
def test_a_missing_cell_is_summed_over(twin, problem):
    """p(rows) is the sum of p over everything that the missing cells could be."""
    X, prior = problem
    X = X[:4]
    component = build(twin, X[1:], prior, [0] * (len(X) - 1))
    missing = np.isnan(X[0])
    total = 0.0
    for values in product([0.0, 1.0], repeat=int(missing.sum())):
        row = X[0].copy()
        row[missing] = values
        total += exp(component.log_predictive(row, 0))
    assert exp(component.log_predictive(X[0], 0)) == pytest.approx(total, rel=1e-12)
    full = build(twin, X[1:], prior, [0] * (len(X) - 1))
    full.add(np.full(X.shape[1], NAN), 0)
    assert full.statistics(0)[1:] == component.statistics(0)[1:]
    assert full.log_marginal(0) == component.log_marginal(0)
    assert full.counts[0] == component.counts[0] + 1.0


def test_any_other_number_is_a_one(twin):
    prior = {"a0": [1.0, 2.0], "b0": [1.0, 1.0]}
    component = build(twin, [np.array([3.0, -0.5])], prior, [0])
    assert component.statistics(0) == [1.0, 1.0, 1.0, 0.0, 0.0]
    assert component.log_predictive_all(np.array([7.0, -0.0])) == component.log_predictive_all(
        np.array([1.0, 0.0])
    )


@pytest.mark.parametrize(("a0", "b0"), [(1e-12, 1e12), (1e-3, 1e-3), (1e12, 1e12), (0.5, 1e-9)])
def test_extreme_priors_lose_no_digits(twin, a0, b0):
    X = np.array([[1.0], [0.0], [1.0], [1.0]])
    component = build(twin, X, {"a0": [a0], "b0": [b0]}, [0] * 4)
    with mpmath.workdps(40):
        a, b = mpmath.mpf(a0), mpmath.mpf(b0)
        marginal = mpmath.log(mpmath.rf(a, 3) * mpmath.rf(b, 1) / mpmath.rf(a + b, 4))
        predictive = mpmath.log((b + 1) / (a + b + 4))
        member = mpmath.log(b / (a + b + 3))
    assert component.log_marginal(0) == pytest.approx(float(marginal), rel=1e-12, abs=1e-11)
    scores = component.log_predictive_all(X[1])
    assert scores[0] == pytest.approx(float(predictive), rel=1e-12, abs=1e-12)
    score = component.log_predictive_member(X[1], 0)
    assert score == pytest.approx(float(member), rel=1e-12, abs=1e-12)


def test_large_counts_lose_no_digits(twin):
    prior = {"a0": [0.5], "b0": [2.0]}
    component = build(twin, [], prior, [])
    component.load(0, [3e6, 1e6, 2e6])
    component.load(1, [5e6, 3e6, 2e6])
    for k, a, b in ((0, 1e6, 2e6), (1, 3e6, 2e6)):
        with mpmath.workdps(40):
            expected = mpmath.log(mpmath.beta(0.5 + a, 2 + b) / mpmath.beta(0.5, 2))
        assert component.log_marginal(k) == pytest.approx(float(expected), rel=1e-14)
    with mpmath.workdps(40):
        expected = mpmath.log(mpmath.beta(0.5 + 4e6, 2 + 4e6) / mpmath.beta(0.5, 2))
    assert component.log_marginal_merged(0, 1) == pytest.approx(float(expected), rel=1e-14)


@pytest.mark.parametrize("n_columns", [1, 7, 8, 9, 127, 128, 129, 300])
@pytest.mark.parametrize("n_slots", [3, 17, 40, 70])
def test_scores_are_right_at_every_width_of_vectors(twin, n_columns, n_slots):
    rng = np.random.default_rng(2)
    X = rng.choice([0.0, 1.0, NAN], p=[0.6, 0.3, 0.1], size=(80, n_columns))
    prior = {"a0": rng.gamma(1.0, size=n_columns), "b0": rng.gamma(1.0, size=n_columns)}
    component, labels = filled(twin, X, prior, n_slots)
    scores = component.log_predictive_all(X[3])
    merged = component.like()
    for k in (0, n_slots // 2, n_slots - 2, n_slots - 1):
        expected = naive_log_predictive(X[3], X[labels == k], prior)
        assert scores[k] == pytest.approx(expected, rel=1e-11)
        if k != 1:
            merged.resize(0)
            merged.resize(1)
            for row in X[(labels == k) | (labels == 1)]:
                merged.add(row, 0)
            expected = merged.log_marginal(0)
            assert component.log_marginal_merged(1, k) == pytest.approx(expected, rel=1e-11)


def naive_log_evidence(ones, zeros, prior):
    """Log of prod_d (a)_x (b)_z / (a + b)_(x + z), in 50 digits."""
    with mpmath.workdps(50):
        rf, total = mpmath.rf, mpmath.mpf(0)
        for a, b, x, z in zip(prior["a0"], prior["b0"], ones, zeros, strict=True):
            a, b, x, z = (mpmath.mpf(float(value)) for value in (a, b, x, z))
            total += mpmath.log(rf(a, x) * rf(b, z) / rf(a + b, x + z))
        return float(total)


@pytest.mark.parametrize("n_columns", [1, 3, 70, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("scale", [1e-9, 0.7, 1e9])
def test_evidence_of_whole_counts_and_of_others(twin, n_columns, scale):
    """Few whole counts, of which the kernel has a table, and those that it has none for."""
    rng = np.random.default_rng(n_columns)
    prior = {key: (scale * rng.uniform(0.1, 2.0, n_columns)).tolist() for key in ("a0", "b0")}
    component = twin.beta_bernoulli.BetaBernoulli(**prior)
    component.resize(2)
    sizes = (1.0, 2.0), (3.0, 5.0), (100.0, 156.0), (100.0, 157.0), (0.5, 1.5), (2.0, 2.0 + 1e-9)
    for n in sizes:
        cells = [np.maximum(rows - rng.integers(0, 2, n_columns), 0.0) for rows in n]  # or missing
        ones = [
            np.minimum(np.floor(rows * rng.random(n_columns)), both)
            for rows, both in zip(n, cells, strict=True)
        ]
        zeros = [both - first for both, first in zip(cells, ones, strict=True)]
        for k in range(2):
            component.load(k, [n[k], *ones[k], *zeros[k]])
            expected = naive_log_evidence(ones[k], zeros[k], prior)
            assert component.log_marginal(k) == pytest.approx(expected, rel=1e-11, abs=1e-9)
        expected = naive_log_evidence(ones[0] + ones[1], zeros[0] + zeros[1], prior)
        merged = component.log_marginal_merged(0, 1)
        assert merged == pytest.approx(expected, rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("n_missing", [0, 5])
@pytest.mark.parametrize("most_ones", [2, 12, 30])
@pytest.mark.parametrize("n", [(100.0, 120.0), (200.0, 56.0), (200.0, 57.0), (90.5, 30.0)])
def test_evidence_of_rows_that_are_mostly_zeros(twin, n, n_missing, most_ones):
    rng = np.random.default_rng(7)
    n_columns = 205
    prior = {key: rng.uniform(0.01, 2.0, n_columns).tolist() for key in ("a0", "b0")}
    component = twin.beta_bernoulli.BetaBernoulli(**prior)
    component.resize(3)
    totals = np.zeros((3, 2, n_columns))
    for k in range(2):  # and a slot of zeros alone
        some = rng.integers(n_columns, size=11)
        totals[k, 0, some] = rng.integers(1, most_ones, size=11)
        totals[k, 1] = n[k] - totals[k, 0]
        totals[k, 1, rng.integers(n_columns, size=n_missing)] = 3.0
    totals[2, 1] = n[1]
    for k, size in enumerate((*n, n[1])):
        component.load(k, [size, *totals[k].ravel()])
    for j, k in ((0, 1), (1, 0), (0, 2), (2, 1)):
        expected = naive_log_evidence(*(totals[j] + totals[k]), prior)
        merged = component.log_marginal_merged(j, k)
        assert merged == pytest.approx(expected, rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_evidence_of_sparse_rows_that_come_and_go(twin, scale):
    """Whatever changes a slot, its unions with others have the evidence of their rows."""
    rng = np.random.default_rng(8)
    X = (rng.random((12, 160)) < 0.02).astype(float)
    prior = {key: (scale * rng.uniform(0.1, 2.0, 160)).tolist() for key in ("a0", "b0")}
    component = build(twin, X, prior, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3], 5)
    component.remove(X[2], 0)
    component.merge(3, 2)
    component.copy(2, component, 1)
    component.add(X[0], 2)
    component.load(1, [0.0] * 321)
    component.clear(4)
    component.add(X[5], 4, 2.0)
    rows = {0: X[:2], 2: X[[3, 4, 5, 0]], 3: X[6:], 4: X[[5, 5]], 1: X[:0]}
    for j in rows:
        for k, evidence in enumerate(component.log_marginals_merged(j)):
            if j < k:
                both = np.concatenate([rows[j], rows[k]])
                expected = naive_log_evidence(both.sum(axis=0), (both == 0.0).sum(axis=0), prior)
                assert evidence == pytest.approx(expected, rel=1e-11, abs=1e-9)


@pytest.mark.parametrize("cells", [(300.0, 0.0), (0.0, 5000.0), (200.0, 200.0)])
def test_cells_that_are_more_than_their_rows_are_not_looked_up(twin, cells):
    """As rounding may leave them, and so in a file; the first count is that of the rows."""
    component = twin.beta_bernoulli.BetaBernoulli([0.5], [1.5])
    component.resize(1)
    component.load(0, [2.0, *cells])
    expected = naive_log_evidence([cells[0]], [cells[1]], {"a0": [0.5], "b0": [1.5]})
    assert component.log_marginal(0) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("weight", [0.3, 0.999, 2.0, 3.0, 17.0, 40.5])
def test_heavy_rows_are_not_ruled_out_where_they_belong(twins, weight):
    """What rules out most slots for rows that stand for others does so for no better one."""
    rng = np.random.default_rng(3)
    X = (rng.random((120, 12)) < rng.beta(0.3, 0.3, (6, 12))[rng.integers(6, size=120)]) * 1.0
    X[rng.random(X.shape) < 0.05] = NAN
    weights = np.where(rng.random(120) < 0.5, weight, 1.0)
    found = []
    for twin in twins:
        family = twin.beta_bernoulli.BetaBernoulli([0.4] * 12, [0.6] * 12)
        labels = np.arange(120, dtype=np.intp) % 15
        rows = twin.rows.Rows(X, weights)
        state = twin.partition.Partition(rows, labels, family, 1.0)
        moves = [twin.map_dpm.sweep(state) for _ in range(4)]
        found.append((moves, np.asarray(state.labels).tolist(), state.neg_log_joint))
    assert found[0][:2] == found[1][:2]
    assert found[0][2] == pytest.approx(found[1][2], **CLOSE)
    assert found[0][0][0] > 20


def test_fractions_of_weights_leave_no_dust(twin):
    """0.3 - (0.1 + 0.2) is not 0, but such a cell must not differ from one without a row."""
    prior = {"a0": [1e-9], "b0": [1.0]}
    component = build(twin, [np.array([0.0])], prior, [0])
    one = np.array([1.0])
    component.add(one, 0, 0.1)
    component.add(one, 0, 0.2)
    component.remove(one, 0, 0.3)
    component.add(one, 0, 0.3)
    component.add(one, 0, 0.1)
    component.remove(one, 0, 0.2)
    component.remove(one, 0, 0.2)
    assert component.statistics(0)[1:] == [0.0, 1.0]
    assert component.log_predictive(one, 0) == pytest.approx(log(1e-9 / 2.0), rel=1e-8)


def test_little_weight_is_not_left(twin):
    component = build(twin, [np.array([1.0])], {"a0": [1.0], "b0": [1.0]}, [0])
    zero = np.array([0.0])
    component.add(zero, 0, 2000.0)
    before = component.statistics(0)
    assert np.isnan(component.log_predictive_member(zero, 0, 2000.0))
    assert not component.remove(zero, 0, 2000.0)
    assert component.statistics(0) == before
    component.clear(0)
    component.add(zero, 0, 2000.0)
    assert component.remove(zero, 0, 2000.0)
    assert component.statistics(0) == [0.0, 0.0, 0.0]


def test_posterior_adds_counts_to_the_prior(twin):
    prior = {"a0": [0.5, 2.0], "b0": [1.0, 3.0]}
    X = np.array([[1.0, 0.0], [1.0, NAN], [0.0, 1.0]])
    component = build(twin, X, prior, [0] * 3)
    assert component.posterior(0) == {"n": 3.0, "a": [2.5, 3.0], "b": [2.0, 4.0]}
    assert component.posterior(1) == {"n": 0.0, "a": [0.5, 2.0], "b": [1.0, 3.0]}


def sparse(twin, X, rng, weights=None):
    """The rows in sparse form, columns in any order, some zeros listed."""
    data, indices, indptr = [], [], [0]
    for row in X:
        listed = rng.permutation(np.flatnonzero((row != 0.0) | (rng.random(len(row)) < 0.1)))
        data += row[listed].tolist()
        indices += listed.tolist()
        indptr.append(len(indices))
    indices, indptr = np.array(indices, dtype=np.intp), np.array(indptr, dtype=np.intp)
    return twin.rows.Rows.sparse(np.array(data), indices, indptr, X.shape[1], weights)


def search(twin, rows, prior, n_slots):
    labels = np.arange(len(rows), dtype=np.intp) % n_slots
    family = twin.beta_bernoulli.BetaBernoulli(**prior)
    partition = twin.partition.Partition(rows, labels, family, 1.0)
    costs = [partition.costs(i) for i in range(0, len(rows), 7)]
    moves = [twin.map_dpm.sweep(partition) for _ in range(3)]
    moves.append(twin.merges.merge(partition))
    if rows.weight(0) == rows.weight(1) == 1.0:
        uniforms = np.full((partition.component.n_slots, 1, 2), 0.3)
        moves.append(twin.splits.split(partition, uniforms))
    exact = partition.exact_neg_log_joint()
    assert partition.neg_log_joint == pytest.approx(exact, rel=1e-9)
    statistics = [partition.component.statistics(k) for k in range(partition.component.n_slots)]
    return [q for row in costs for q in row], moves, labels.tolist(), statistics


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_slots", [5, 40])
def test_sparse_rows_are_dense_ones_and_twins_agree(twins, weighted, n_slots):
    rng = np.random.default_rng(5)
    truth = rng.beta(0.4, 0.4, size=(5, 21))
    X = (rng.random((60, 21)) < truth[rng.integers(5, size=60)]).astype(float)
    X[rng.random(X.shape) < 0.05] = NAN
    prior = {"a0": np.full(21, 0.5), "b0": np.full(21, 0.7)}
    weights = rng.choice([0.3, 1.0, 2.0], size=60) if weighted else None
    results = []
    for twin in twins:
        results.append(search(twin, twin.rows.Rows(X, weights), prior, n_slots))
        results.append(search(twin, sparse(twin, X, rng, weights), prior, n_slots))
    for other in results[1:]:
        assert other[0] == pytest.approx(results[0][0], **CLOSE)
        assert other[1:3] == results[0][1:3]
        np.testing.assert_allclose(other[3], results[0][3], rtol=1e-12)


CALLS = {
    "a0 must be positive, got -1.0": lambda family: family([-1], [1.0]),
    "b0 must be positive, got 0.0": lambda family: family([1.0], [0.0]),
    "a0 must be positive, got nan": lambda family: family([NAN], [-1.0]),
    "a0 and b0 must have the same length, got 1 and 2": lambda family: family([-1.0], [1.0, 1.0]),
}


@pytest.mark.parametrize("message", CALLS)
def test_errors_state_the_rule_that_is_broken(twin, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        CALLS[message](twin.beta_bernoulli.BetaBernoulli)
    assert str(caught.value) == message
