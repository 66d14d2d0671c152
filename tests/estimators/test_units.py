"""Units of columns: how well rows are predicted compares without them, and so labels have none."""

import numpy as np
import pytest
from cases import blobs, empirical_prior, needs_kernels
from families import CASES, FAMILY_NAMES, ProductCase
from hypothesis import given, settings
from hypothesis import strategies as st

from dpmlite import MAPDPM, DPSearch

CLOSE = {"rtol": 1e-10, "atol": 1e-9}
WITH_UNITS = (
    "normal-gamma",
    "incomplete normal-gamma",
    "normal-inverse-wishart",
    "normal-known-variance",
)
POWERS = {"m0": 1, "b0": 2, "sigma2": 2, "tau2": 2}  # of a column's scale


def has_units(case, n_columns):
    """Which columns have units."""
    if isinstance(case, ProductCase):
        return np.concatenate(
            [has_units(part, d.stop - d.start) for part, d in case.parts(n_columns)]
        )
    return np.full(n_columns, case.name in WITH_UNITS)


def in_units(case, prior, scale):
    """The prior of rows times a scale of each column."""
    if isinstance(case, ProductCase):
        parts = zip(case.parts(len(scale)), prior["parts"], strict=True)
        return prior | {"parts": [in_units(part, own, scale[d]) for (part, d), own in parts]}
    if case.name not in WITH_UNITS:
        return prior
    other = {name: prior[name] * scale**power for name, power in POWERS.items() if name in prior}
    if "psi0" in prior:
        other["psi0"] = prior["psi0"] * np.outer(scale, scale)
    return prior | other


@pytest.mark.parametrize("name", FAMILY_NAMES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000))
def test_units_take_the_logs_of_the_scales_of_the_cells_that_are_there(twin, name, seed):
    """By the change of variables; of every one of as many equal rows as the weight says."""
    rng, case = np.random.default_rng(seed), CASES[name]
    X, prior = case.draw(rng, 4, 3), case.prior(rng, 3)
    scale = np.where(has_units(case, 3), 2.0 ** rng.integers(-20, 20, size=3), 1.0)
    one, other = case.component(twin, prior), case.component(twin, in_units(case, prior, scale))
    for component, rows in ((one, X), (other, X * scale)):
        component.resize(1)
        component.add(rows[0], 0)
    for row, weight in zip(X, (1.0, 0.3, 7.0, 1.0), strict=True):
        taken = weight * np.log(scale)[~np.isnan(row)].sum()
        before = one.log_predictive(row, 0, weight)
        after = other.log_predictive(row * scale, 0, weight)
        assert before - after == pytest.approx(taken, rel=1e-9, abs=1e-8)
        found = one.per_copy(before, row, weight), other.per_copy(after, row * scale, weight)
        assert found[0] == pytest.approx(found[1], rel=1e-9, abs=1e-8)
        assert has_units(case, 3).any() or found[0] == before / weight
    assert one.per_copy(0.0, np.ones(3)) == pytest.approx(one.log_scale, abs=1e-12)


def test_in_units_of_the_prior_nothing_is_taken(twin):
    prior = {**CASES["normal-gamma"].prior(np.random.default_rng(0), 2), "b0": np.ones(2)}
    assert twin.normal_gamma.NormalGamma(**prior).per_copy(-6.0, np.ones(2), 1.5) == -4.0


def weighted_with_gaps(twin, scale, name="incomplete normal-gamma"):
    """A partition of rows that differ in weight and, if the family can have it, in their cells."""
    X, labels = blobs(n_rows=30, n_columns=3, seed=1)
    prior = {key: np.asarray(value) for key, value in empirical_prior(X).items()}
    rng = np.random.default_rng(0)
    weights = rng.gamma(1.0, 2.0, size=30) + 0.05
    if name.startswith("incomplete"):
        X[rng.random(X.shape) < 0.2] = np.nan
    component = CASES[name].component(
        twin, in_units(CASES[name], {**prior, "c0": 0.3, "a0": 1.0}, scale)
    )
    rows = twin.rows.Rows(X * scale, weights)
    return twin.partition.Partition(rows, np.array(labels, dtype=np.intp), component, 1.0), rows


@pytest.mark.parametrize("name", ["normal-gamma", "incomplete normal-gamma"])
def test_comparisons_of_rows_have_no_units(twin, name):
    found = []
    for scale in (np.ones(3), np.array([1e-9, 3.0, 1e12])):
        partition, rows = weighted_with_gaps(twin, scale, name)
        costs, densities = np.empty(30), np.empty(30)
        twin.prediction.own_costs(partition, costs, np.empty(30))
        twin.prefix_search.prior_log_densities(rows, partition.component.like(), densities)
        scores = partition.scores_with(3, np.arange(30, dtype=np.intp))
        found.append((costs, densities, np.array(scores)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, **CLOSE)


def table(seed, weighted, gaps):
    rng = np.random.default_rng(seed)
    n, d, k = rng.integers(60, 600), rng.integers(1, 6), rng.integers(2, 12)
    centres = rng.normal(size=(k, d)) * rng.choice([2.0, 4.0, 8.0])
    X = centres[rng.integers(k, size=n)] + rng.normal(size=(n, d))
    if gaps:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, np.exp(2.0 * rng.normal(size=n)) if weighted else None


@needs_kernels
@pytest.mark.parametrize(
    ("estimator", "how"),
    [
        (MAPDPM, {"prior": "paper"}),
        (MAPDPM, {"prior": "paper", "init": "search"}),
        (DPSearch, {"prior": "paper", "beam": 20}),
    ],
)
@pytest.mark.parametrize(
    ("weighted", "gaps"),
    [(True, False), (False, True), pytest.param(True, True, marks=pytest.mark.slow)],
)
def test_labels_have_no_units_whatever_the_weights_and_gaps(estimator, how, weighted, gaps):
    for seed in range(12):
        X, weights = table(seed, weighted, gaps)
        model = estimator(random_state=0, allow_missing=gaps, **how)
        labels = model.fit(X, sample_weight=weights).labels_
        for scale in (2.0**-10, 2.0 ** np.arange(0, 10, 2)[: X.shape[1]]):
            moved = model.fit(X * scale, sample_weight=weights).labels_
            np.testing.assert_array_equal(moved, labels)
