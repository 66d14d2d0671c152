"""What every component family promises, whichever it is: the interface is the subject here."""

import sys

import naive
import numpy as np
import pytest
from families import CASES, COARSENED_NAMES, FAMILY_NAMES
from hypothesis import given, settings
from hypothesis import strategies as st
from slots import others_of, spread

CLOSE = {"rel": 1e-9, "abs": 1e-8}


@pytest.fixture(params=FAMILY_NAMES + COARSENED_NAMES, scope="session")
def case(request):
    return CASES[request.param]


@st.composite
def tables(draw, least_rows=1, most_rows=12, most_columns=4):
    """A seed, and how many rows and columns to draw from it."""
    return (
        draw(st.integers(0, 10_000)),
        draw(st.integers(least_rows, most_rows)),
        draw(st.integers(1, most_columns)),
    )


def problem(case, table):
    seed, n_rows, n_columns = table
    rng = np.random.default_rng(seed)
    return case.draw(rng, n_rows, n_columns), case.prior(rng, n_columns), rng


def filled(case, twin, X, prior, n_slots=3, weights=None):
    """A component with the rows spread over all slots but the last."""
    return spread(case.component(twin, prior), X, n_slots, weights)


@settings(max_examples=25, deadline=None)
@given(table=tables())
def test_the_marginal_is_the_naive_one_and_the_product_of_predictives(twin, case, table):
    X, prior, _ = problem(case, table)
    component = case.component(twin, prior)
    component.resize(2)
    assert component.log_marginal(0) == 0.0
    total = 0.0
    for row in X:
        total += component.log_predictive(row, 0)
        component.add(row, 0)
    assert component.log_marginal(0) == pytest.approx(case.log_marginal(X, prior), **CLOSE)
    assert component.log_marginal(0) == pytest.approx(total, **CLOSE)
    assert component.log_marginal(1) == 0.0
    assert component.counts == [len(X), 0.0]


@settings(max_examples=25, deadline=None)
@given(table=tables(), n_slots=st.sampled_from([2, 3, 18]))
def test_a_predictive_is_a_ratio_of_marginals(twin, case, table, n_slots):
    X, prior, _ = problem(case, table)
    component, labels = filled(case, twin, X, prior, n_slots)
    scores = component.log_predictive_all(X[0])
    assert len(scores) == n_slots
    for k in range(n_slots):
        rows = X[labels == k]
        more = np.concatenate([rows, X[:1]])
        expected = case.log_marginal(more, prior) - case.log_marginal(rows, prior)
        assert component.log_predictive(X[0], k) == pytest.approx(expected, **CLOSE)
        assert scores[k] == pytest.approx(expected, **CLOSE)


@settings(max_examples=25, deadline=None)
@given(table=tables())
def test_a_member_is_scored_without_itself(twin, case, table):
    X, prior, _ = problem(case, table)
    component, labels = filled(case, twin, X, prior)
    for i, row in enumerate(X):
        others = others_of(i, X, labels)
        with_it = X[labels == labels[i]]
        expected = case.log_marginal(with_it, prior) - case.log_marginal(others, prior)
        score = component.log_predictive_member(row, labels[i])
        before = component.statistics(labels[i])
        if component.remove(row, labels[i]):
            assert score == pytest.approx(expected, **CLOSE)
            assert component.log_predictive(row, labels[i]) == pytest.approx(expected, **CLOSE)
            component.add(row, labels[i])
        else:
            assert np.isnan(score)
        np.testing.assert_allclose(component.statistics(labels[i]), before, rtol=1e-9, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(table=tables())
def test_merging_is_adding(twin, case, table):
    X, prior, _ = problem(case, table)
    component, _ = filled(case, twin, X, prior)
    merged = component.log_marginal_merged(0, 1)
    assert merged == pytest.approx(case.log_marginal(X, prior), **CLOSE)
    component.merge(0, 1)
    assert component.counts == [len(X), 0.0, 0.0]
    assert component.log_marginal(0) == pytest.approx(merged, **CLOSE)
    assert component.log_predictive(X[0], 1) == component.log_predictive(X[0], 2)
    assert component.log_marginal_merged(0, 1) == pytest.approx(merged, **CLOSE)


@settings(max_examples=25, deadline=None)
@given(table=tables())
def test_merging_with_each_slot_is_merging_with_one(twin, case, table):
    X, prior, _ = problem(case, table)
    component, _ = filled(case, twin, X, prior)
    for j in range(component.n_slots):
        found = component.log_marginals_merged(j)
        assert np.isnan(found.pop(j))
        others = [k for k in range(component.n_slots) if k != j]
        assert found == pytest.approx([component.log_marginal_merged(j, k) for k in others])
    with pytest.raises(IndexError):
        component.log_marginals_merged(component.n_slots)


@settings(max_examples=15, deadline=None)
@given(table=tables(), weight=st.sampled_from([1.0, 2.0, 0.3]), i=st.integers(0, 100))
def test_removing_undoes_adding(twin, case, table, weight, i):
    X, prior, _ = problem(case, table)
    component, _ = filled(case, twin, X, prior)
    before, row = component.statistics(0), X[i % len(X)]
    component.add(row, 0, weight)
    with_it = component.statistics(0)
    after = before if component.remove(row, 0, weight) else with_it
    np.testing.assert_allclose(component.statistics(0), after, rtol=1e-8, atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(table=tables(most_rows=6), data=st.data())
def test_a_weight_is_repetition(twin, case, table, data):
    X, prior, _ = problem(case, table)
    weights = data.draw(st.lists(st.integers(1, 4), min_size=len(X), max_size=len(X)))
    heavy, _ = filled(case, twin, X, prior, weights=weights)
    light = case.component(twin, prior)
    light.resize(3)
    for i, w in enumerate(weights):
        for _ in range(w):
            light.add(X[i], i % 2)
    for k in range(2):
        np.testing.assert_allclose(heavy.statistics(k), light.statistics(k), rtol=1e-9, atol=1e-9)
    w = weights[0]
    for k in range(3):
        together = light.log_predictive(X[0], k, w)
        one_by_one = 0.0
        copy = case.component(twin, prior)
        copy.resize(1)
        copy.copy(0, light, k)
        for _ in range(w):
            one_by_one += copy.log_predictive(X[0], 0)
            copy.add(X[0], 0)
        assert together == pytest.approx(one_by_one, **CLOSE)
        assert heavy.log_predictive_all(X[0], w)[k] == pytest.approx(one_by_one, **CLOSE)
    without = case.component(twin, prior)
    without.resize(1)
    for i in range(2, len(X), 2):
        without.add(X[i], 0, weights[i])
    score = heavy.log_predictive_member(X[0], 0, w)
    if not np.isnan(score):
        assert score == pytest.approx(without.log_predictive(X[0], 0, w), **CLOSE)


@settings(max_examples=15, deadline=None)
@given(table=tables(most_rows=6), data=st.data())
def test_fractional_weights_obey_the_chain_rule(twin, case, table, data):
    X, prior, _ = problem(case, table)
    weights = data.draw(st.lists(st.floats(0.01, 5.0), min_size=len(X), max_size=len(X)))
    component = case.component(twin, prior)
    component.resize(1)
    total = 0.0
    for row, w in zip(X, weights, strict=True):
        total += component.log_predictive(row, 0, w)
        component.add(row, 0, w)
    assert component.log_marginal(0) == pytest.approx(total, **CLOSE)
    assert component.counts[0] == pytest.approx(sum(weights), rel=1e-12)


@settings(max_examples=15, deadline=None)
@given(table=tables(most_columns=9), n_slots=st.sampled_from([3, 17, 40]))
def test_statistics_can_be_moved(twin, case, table, n_slots):
    X, prior, _ = problem(case, table)
    component, _ = filled(case, twin, X, prior)
    other = component.like()
    assert other.n_slots == 0
    other.resize(n_slots)
    other.copy(n_slots - 1, component, 0)
    assert other.statistics(n_slots - 1) == component.statistics(0)
    other.load(0, component.statistics(0))
    for k in (0, n_slots - 1):
        assert other.log_predictive(X[0], k) == pytest.approx(
            component.log_predictive(X[0], 0), **CLOSE
        )
        assert other.log_predictive_member(X[0], k) == pytest.approx(
            component.log_predictive_member(X[0], 0), nan_ok=True, **CLOSE
        )
        assert other.log_marginal(k) == pytest.approx(component.log_marginal(0), **CLOSE)
    other.clear(n_slots - 1)
    assert other.statistics(n_slots - 1) == component.statistics(2)
    other.resize(5 * n_slots)
    other.resize(1)
    assert other.statistics(0) == component.statistics(0)


@settings(max_examples=15, deadline=None)
@given(table=tables(least_rows=2))
def test_removing_undoes_adding_and_the_last_row_leaves_the_prior(twin, case, table):
    X, prior, _ = problem(case, table)
    component = case.component(twin, prior)
    component.resize(2)
    for row in X:
        component.add(row, 0)
    for i in range(len(X) - 1, 0, -1):
        if not component.remove(X[i], 0):
            component.clear(0)
            for row in X[:i]:
                component.add(row, 0)
        expected = case.log_marginal(X[:i], prior)
        assert component.log_marginal(0) == pytest.approx(expected, **CLOSE)
    assert component.remove(X[0], 0)
    assert component.statistics(0) == component.statistics(1)


@settings(max_examples=15, deadline=None)
@given(table=tables(most_rows=10), alpha=st.sampled_from([0.3, 1.0, 4.0]), data=st.data())
def test_the_joint_of_a_partition_is_the_naive_one(twin, case, table, alpha, data):
    X, prior, _ = problem(case, table)
    drawn = data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X)))
    labels = np.array(drawn, dtype=np.intp)
    partition = twin.partition.Partition(X, labels, case.component(twin, prior), alpha)
    expected = case.neg_log_joint(X, drawn, alpha, prior)
    assert partition.neg_log_joint == pytest.approx(expected, **CLOSE)
    i = data.draw(st.integers(0, len(X) - 1))
    costs, own = partition.costs(i), partition.labels[i]
    for k, q in enumerate(costs):
        moved = np.array(partition.labels)
        moved[i] = k
        change = case.neg_log_joint(X, moved, alpha, prior) - expected
        assert q - costs[own] == pytest.approx(change, rel=1e-9, abs=1e-7)


@settings(max_examples=10, deadline=None)
@given(table=tables(least_rows=2, most_rows=20, most_columns=9), weighted=st.booleans())
def test_the_twins_search_alike(twins, case, table, weighted):
    X, prior, rng = problem(case, table)
    weights = rng.choice([1.0, 2.0, 0.5], size=len(X)) if weighted else None
    uniforms = rng.random((4, 100, 2, 2, 2))
    seen = []
    for twin in twins:
        labels = np.full(len(X), -1, dtype=np.intp)
        rows = twin.rows.Rows(X, weights)
        partition = twin.partition.Partition(rows, labels, case.component(twin, prior), 1.0)
        trace = []
        for u in uniforms:
            trace.append([labels.tolist(), twin.map_dpm.sweep(partition)])
            twin.merges.merge(partition)
            n_slots = partition.component.n_slots
            twin.splits.split(partition, np.ascontiguousarray(u[:n_slots, 0]))
            twin.exchanges.exchange(
                partition, np.ascontiguousarray(u[: partition.component.n_slots])
            )
            assert partition.neg_log_joint == pytest.approx(
                partition.exact_neg_log_joint(), **CLOSE
            )
        seen.append(trace)
    assert seen[0] == seen[1]


def numbers(posterior):
    """All numbers of a posterior, without the weight of rows, in order."""
    if isinstance(posterior, dict):
        posterior = [posterior[key] for key in sorted(posterior.keys() - {"n"})]
    if isinstance(posterior, (list, np.ndarray)):
        return [x for part in posterior for x in numbers(part)]
    return [posterior]


@pytest.mark.parametrize("name", COARSENED_NAMES)
@settings(max_examples=25, deadline=None)
@given(table=tables(), weight=st.sampled_from([1.0, 2.5]))
def test_a_power_is_the_weight_of_rows(twin, name, table, weight):
    """All log densities are those of a component without it, divided by the power."""
    X, prior, _ = problem(CASES[name], table)
    power = prior["power"]
    whole = CASES[name].component(twin, {key: prior[key] for key in prior if key != "power"})
    with pytest.raises(ValueError, match=r"power must be above 0 and at most 1, got 2\.0"):
        whole.with_power(2.0)
    coarsened, _ = spread(whole.with_power(power), X, 3, [weight] * len(X))
    spread(whole, X, 3, [power * weight] * len(X))
    assert (whole.power, coarsened.power, coarsened.like().power) == (1.0, power, power)
    for call in (
        lambda c, w: c.log_marginal(0),
        lambda c, w: c.log_marginal_merged(0, 1),
        lambda c, w: c.log_predictive(X[0], 0, w),
        lambda c, w: c.log_predictive(X[0], 2, w),
        lambda c, w: c.log_predictive_member(X[0], 0, w),
    ):
        found, expected = power * call(coarsened, weight), call(whole, power * weight)
        assert found == pytest.approx(expected, nan_ok=True, **CLOSE)
    for k in range(3):
        found, expected = coarsened.posterior(k), whole.posterior(k)
        assert found["n"] == pytest.approx(expected["n"] / power)
        np.testing.assert_allclose(numbers(found), numbers(expected), rtol=1e-9, atol=1e-9)


def test_other_families_have_no_power(twin):
    family = CASES["normal-known-variance"]
    component = family.component(twin, family.prior(np.random.default_rng(0), 2))
    assert component.power == 1.0
    assert component.with_power(1.0).n_columns == 2
    with pytest.raises(ValueError, match=r"power must be 1 for NormalKnownVariance, got 0\.5"):
        component.with_power(0.5)


def test_naive_sweeps_take_the_same_decisions(twin, case):
    """Every family through Algorithm 1, by naive differences of the joint."""
    rng = np.random.default_rng(5)
    X, prior = case.draw(rng, 12, 2), case.prior(rng, 2)
    labels = np.zeros(12, dtype=np.intp)
    partition = twin.partition.Partition(X, labels, case.component(twin, prior), 1.0)
    ours = [0] * 12
    for _ in range(3):
        for i in range(12):
            options = [*sorted(set(ours)), max(ours) + 1]
            joints = [
                case.neg_log_joint(X, [*ours[:i], k, *ours[i + 1 :]], 1.0, prior) for k in options
            ]
            stay = case.neg_log_joint(X, ours, 1.0, prior)
            if min(joints) < stay - 1e-8:
                ours[i] = options[int(np.argmin(joints))]
        twin.map_dpm.sweep(partition)
        assert naive.canonical(labels) == naive.canonical(ours)


def test_errors_state_the_rule_that_is_broken(twin, case):
    rng = np.random.default_rng(0)
    component = case.component(twin, case.prior(rng, 2))
    component.resize(2)
    row = case.draw(rng, 1, 2)[0]
    with pytest.raises(IndexError, match=r"slot must be in 0\.\.1, got 2"):
        component.add(row, 2)
    with pytest.raises(IndexError, match=r"slot must be in 0\.\.1, got -1"):
        component.log_marginal(-1)
    with pytest.raises(ValueError, match="row must have 2 values, got 3"):
        component.add(np.zeros(3), 0)
    with pytest.raises(ValueError, match=r"statistics must have \d+ values, got 1"):
        component.load(0, [1.0])
    with pytest.raises(IndexError, match=r"slot must be in 0\.\.1, got 7"):
        component.posterior(7)
    with pytest.raises(IndexError, match=r"slot must be in 0\.\.1, got 7"):
        component.statistics(7)
    with pytest.raises(IndexError, match=r"slot must be in 0\.\.1, got 5"):
        component.copy(0, component, 5)
    with pytest.raises(ValueError, match="two slots are merged, got slot 1 twice"):
        component.merge(1, 1)
    with pytest.raises(ValueError, match="n_slots must not be negative, got -1"):
        component.resize(-1)
    other = case.component(twin, case.prior(rng, 1))
    with pytest.raises(ValueError, match="other must have 2 columns, got 1"):
        component.copy(0, other, 0)


def test_what_is_left_of_a_count_is_0_if_rounding_made_it(twin):
    left_of = twin.component.left_of
    assert left_of(5.0, 2.0) == 3.0
    assert left_of(2.0**44, 2.0**44 - 1.0) == 1.0  # whole counts are exact
    assert left_of(1e10 + 0.25, 1e10) == 0.25
    assert left_of(0.125 + 1e-11, 0.125) == 0.0
    assert left_of(0.1 + 0.2, 0.3) == 0.0
    assert left_of(0.3, 0.1 + 0.2) == 0.0


def test_more_slots_than_there_can_be_are_refused(kernel, case):
    component = case.component(kernel, case.prior(np.random.default_rng(0), 2))
    with pytest.raises(MemoryError, match="no memory for the statistics of"):
        component.resize(sys.maxsize)
