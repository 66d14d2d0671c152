"""Bounds of predictives, against clusters of every kind that rows of a table can make."""

import itertools

import numpy as np
import pytest
from families import BOUNDED_FAMILY_NAMES, CASES
from hypothesis import given, settings
from hypothesis import strategies as st


def problem(twin, name, seed, n_rows=7):
    """A table with weights, and a component whose slot 0 has its first two rows."""
    rng, case = np.random.default_rng(seed), CASES[name]
    n_columns = int(rng.integers(1, 4))
    X = np.ascontiguousarray(case.draw(rng, n_rows, n_columns))
    weights = np.ones(n_rows) if seed % 2 else rng.gamma(1.0, size=n_rows) + 0.01
    component = case.component(twin, case.prior(rng, n_columns))
    component.bound_over(twin.rows.Rows(X, weights))
    component.resize(3)
    for i in range(2):
        component.add(X[i], 0, weights[i])
    return X, weights, component


@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("name", BOUNDED_FAMILY_NAMES)
@given(seed=st.integers(0, 10_000))
def test_no_other_rows_make_a_row_more_probable(twin, name, seed):
    X, weights, component = problem(twin, name, seed)
    row, weight, others = X[-1], weights[-1], range(2, len(X) - 1)
    for slot in (0, 1):
        bound = component.log_bound(row, slot, float(weights[2:-1].sum()), weight)
        for size in range(len(others) + 1):
            for chosen in itertools.combinations(others, size):
                component.copy(2, component, slot)
                for i in chosen:
                    component.add(X[i], 2, weights[i])
                assert component.log_predictive(row, 2, weight) <= bound + 1e-9


@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("name", BOUNDED_FAMILY_NAMES)
@given(seed=st.integers(0, 10_000))
def test_more_rows_bound_more_and_none_is_exact(twin, name, seed):
    X, weights, component = problem(twin, name, seed)
    bounds = [component.log_bound(X[-1], 0, more, weights[-1]) for more in (0.0, 0.5, 1.0, 9.0)]
    exact = component.log_predictive(X[-1], 0, weights[-1])
    assert min(bounds) >= exact - 1e-9
    if name != "dirichlet-multinomial" or weights[-1] == 1.0:  # counts that are whole
        assert (np.diff(bounds) >= -1e-9).all()
        assert bounds[0] == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("name", BOUNDED_FAMILY_NAMES)
@pytest.mark.parametrize("seed", range(20))
def test_both_implementations_give_the_same(twins, name, seed):
    values = []
    for twin in twins:
        X, weights, component = problem(twin, name, seed)
        values.append([component.log_bound(X[4], k, 2.5, weights[4]) for k in (0, 1)])
        values[-1].append(component.like().n_slots)
    np.testing.assert_allclose(values[0], values[1], rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("x", [40.0, 64.0, 65.0, 1000.0, 1000.3, 5e5])
def test_a_row_of_many_words_is_bounded_as_one_of_few(twin, x):
    """Factor by factor, of one kind of word; it takes no longer for more of them."""
    component = twin.dirichlet_multinomial.DirichletMultinomial([0.25])
    component.bound_over(twin.rows.Rows(np.array([[x]])))
    component.resize(2)
    component.add(np.array([3.0]), 0)
    urns = 3.25 + np.arange(np.ceil(x))
    parts = np.minimum(x - np.arange(len(urns)), 1.0)
    for more in (0.0, 2.0):
        grown = urns + more * x
        growth = x * np.log1p(more * (parts / urns).sum())
        expected = parts @ np.log(urns) + growth - parts @ np.log(grown)
        bound = component.log_bound(np.array([x]), 0, more)
        assert expected - 1e-9 * x <= bound <= expected + 1e-5 * x
    assert np.isfinite(component.log_bound(np.array([1e12]), 0, 1.0))


def test_a_scaled_replica_is_no_bound_for_words(twin):
    """Daumé's footnotes 1 and 2: a replica as long as the longest row, all that can be added."""
    component = twin.dirichlet_multinomial.DirichletMultinomial([1.0] * 1000)
    component.bound_over(twin.rows.Rows(np.eye(2, 1000) * 2.0))
    component.resize(2)
    words = np.zeros(1000)
    words[:2] = 199.0, 99.0
    component.add(words, 0)
    row, replica, other = np.zeros(1000), np.zeros(1000), np.zeros(1000)
    row[:2], replica[:2], other[1] = 1.0, 1.0, 2.0
    best = max(
        twin_of(component, replica, 0).log_predictive(row, 1),
        twin_of(component, replica, None).log_predictive(row, 1),
    )
    after_other = twin_of(component, other, 0).log_predictive(row, 1)
    assert after_other > best
    assert component.log_bound(row, 0, 1.0) >= after_other


def twin_of(component, row, slot):
    """The component, with a copy of a slot (None: the prior) in slot 1 that has a row more."""
    component.clear(1)
    if slot is not None:
        component.copy(1, component, slot)
    component.add(row, 1)
    return component


@pytest.mark.parametrize("name", ["normal-gamma", "normal-inverse-wishart"])
def test_families_without_a_bound_refuse(twin, name):
    case = CASES[name]
    component = case.component(twin, case.prior(np.random.default_rng(0), 2))
    with pytest.raises(ValueError, match=f"no bound .* is known for {case.constructor}"):
        component.bound_over(twin.rows.Rows(np.zeros((1, 2))))


@pytest.mark.parametrize("name", ["normal-known-variance", "dirichlet-multinomial"])
def test_a_bound_must_be_prepared(twin, name):
    component = CASES[name].component(twin, CASES[name].prior(np.random.default_rng(0), 2))
    component.resize(1)
    with pytest.raises(ValueError, match="bound_over must be called before log_bound"):
        component.log_bound(np.zeros(2), 0, 1.0)
