"""Runs of rows along a column: the best of all, in the column that falls into parts best."""

from itertools import pairwise, product

import naive
import numpy as np
import pytest
from cases import build, empirical_prior, needs_kernels, partition
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpmlite import MAPDPM


def runs(twin, X, prior=None, alpha=1.0, weights=None):
    """Of all rows, which are one cluster."""
    rows = twin.rows.Rows(X, weights)
    one = build(twin, rows, np.zeros(len(X)), prior or empirical_prior(X), alpha)
    return twin.runs.best_runs(one, twin.division.members_of(one, [0]))


def side_by_side(n_clusters, n_each, gap=10.0, n_columns=2, seed=0):
    """Round clusters in a row along the last column, and their labels."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_clusters).repeat(n_each)
    X = rng.normal(size=(len(labels), n_columns))
    X[:, -1] += gap * labels
    return X, labels


def bimodality(x):
    z = (x - x.mean()) / x.std()
    return (np.mean(z**3) ** 2 + 1.0) / np.mean(z**4)


def cut(x, n_slices):
    """Numbers of slices of ascending values, cut where they are furthest apart."""
    bounds = [(2 * i + 1) * len(x) // (2 * n_slices) for i in range(n_slices)]
    cuts = [a + np.argmax(np.diff(x)[a - 1 : b - 1]) for a, b in pairwise(bounds)]
    return np.searchsorted(cuts, np.arange(len(x)), side="right")


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(4, 14), alpha=st.sampled_from([0.1, 1.0, 9.0]))
def test_no_other_runs_have_a_lower_joint(twin, seed, n, alpha):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1)) + 20.0 * rng.integers(3, size=(n, 1))
    assume(bimodality(X[:, 0]) > 0.45)
    prior = empirical_prior(X) | {"b0": np.array([1.0])}
    slices = np.empty(n, dtype=int)
    slices[np.argsort(X[:, 0])] = cut(np.sort(X[:, 0]), n // 2)
    joints = [
        naive.neg_log_joint(X, np.cumsum([0, *steps])[slices], alpha, prior)
        for steps in product([0, 1], repeat=slices.max())
    ]
    found = runs(twin, X, prior, alpha)
    labels = np.zeros(n, dtype=int) if found is None else np.asarray(found)
    assert naive.neg_log_joint(X, labels, alpha, prior) == pytest.approx(min(joints), rel=1e-9)
    assert found is None or labels.max() > 0


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(2, 300), missing=st.sampled_from([0.0, 0.2]))
def test_twins_agree(twins, seed, n, missing):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)) + 30.0 * rng.integers(4, size=(n, 3)), 1)
    prior = empirical_prior(X) | {"b0": np.ones(3)}
    X[rng.random(X.shape) < missing] = np.nan
    weights = rng.choice([0.5, 1.0, 3.0], size=n)
    found = []
    for twin in twins:
        family = twin.incomplete_normal_gamma.IncompleteNormalGamma(**prior)
        rows = twin.rows.Rows(X, weights)
        one = twin.partition.Partition(rows, np.zeros(n, dtype=np.intp), family, 1.0)
        labels = twin.runs.best_runs(one, twin.division.members_of(one, [0]))
        found.append(None if labels is None else list(labels))
    assert found[0] == found[1]


def test_clusters_side_by_side_are_found_in_whichever_column(twin):
    X, truth = side_by_side(6, 200, n_columns=3)
    assert list(runs(twin, X)) == truth.tolist()
    assert list(runs(twin, -X[:, [2, 0, 1]])) == (5 - truth).tolist()
    assert list(runs(twin, 1e120 * X)) == truth.tolist()


def with_known_variance(twin, X):
    """Runs of rows whose other columns tell nothing of the clusters, whatever they are."""
    n_columns = X.shape[1]
    prior = X.mean(axis=0), np.ones(n_columns), np.full(n_columns, 1e4)
    family = twin.normal_known_variance.NormalKnownVariance(*prior)
    one = twin.partition.Partition(X, np.zeros(len(X), dtype=np.intp), family, 1.0)
    return twin.runs.best_runs(one, twin.division.members_of(one, [0]))


@pytest.mark.parametrize("constant", [0.1, -0.5012, 1 / 3, 1e9 + 0.1])
def test_columns_of_one_value_are_not_asked(twin, constant):
    """Their means may be rounded, so that all values are as far from them."""
    X, truth = side_by_side(6, 200, n_columns=3)
    X[:, 0] = constant
    assert list(with_known_variance(twin, X)) == truth.tolist()


@pytest.mark.parametrize("gap", [0.0, 5.0])
def test_columns_that_fall_into_two_parts_are_not_the_only_ones(twin, gap):
    """They are the most bimodal: a coin, or two humps."""
    X, truth = side_by_side(6, 200, n_columns=3)
    rng = np.random.default_rng(1)
    coin = rng.integers(2, size=len(X))
    X[:, 0] = gap * coin + rng.normal(size=len(X)) if gap else coin
    assert bimodality(X[:, 0]) > bimodality(X[:, 2])
    assert list(with_known_variance(twin, X)) == truth.tolist()


def test_runs_of_a_part_of_very_many_rows_are_for_all(kernel):
    X, truth = side_by_side(20, 12_000)
    assert kernel.division.trial_step(len(X), True) == 8
    one = partition(kernel, X, np.zeros(len(X)))
    uniforms = np.full((one.component.n_slots, 1, 2), 0.5)
    assert kernel.splits.split(one, uniforms, True) == 1
    assert one.labels.tolist() == truth.tolist()


def test_rows_without_a_cell_of_the_column_get_no_label(twin):
    X, truth = side_by_side(6, 150)
    prior = empirical_prior(X)
    X[::7, 1] = np.nan
    family = twin.incomplete_normal_gamma.IncompleteNormalGamma(**prior)
    one = twin.partition.Partition(X, np.zeros(len(X), dtype=np.intp), family, 1.0)
    found = twin.runs.best_runs(one, twin.division.members_of(one, [0]))
    assert list(found) == np.where(np.arange(len(X)) % 7 == 0, -1, truth).tolist()


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).normal(size=(400, 2)),
        np.ones((30, 2)),
        np.array([[1.0, 2.0]]),
        np.array([[1.0], [2.0]]),
    ],
    ids=["one normal", "equal rows", "one row", "two rows"],
)
def test_rows_that_no_runs_divide_better_have_none(twin, X):
    prior = {"m0": X.mean(axis=0), "c0": 0.1, "a0": 1.0, "b0": np.ones(X.shape[1])}
    assert runs(twin, X, prior) is None


def test_columns_of_sparse_rows_have_no_order(twin):
    rows = twin.rows.Rows.sparse(
        np.ones(4), np.array([0, 1, 0, 1]), np.array([0, 1, 2, 3, 4]), n_columns=2
    )
    family = twin.dirichlet_multinomial.DirichletMultinomial(np.ones(2))
    one = twin.partition.Partition(rows, np.zeros(4, dtype=np.intp), family, 1.0)
    assert twin.runs.best_runs(one, twin.division.members_of(one, [0])) is None


def test_thorough_splits_find_runs_that_others_do_not(twin):
    X, truth = side_by_side(6, 150)
    for thorough in (False, True):
        one = partition(twin, X, np.zeros(len(X)))
        uniforms = np.full((one.component.n_slots, 1, 2), 0.5)
        twin.splits.split(one, uniforms, thorough)
        found = one.n_clusters == 6
        assert found == thorough
    assert list(one.labels) == truth.tolist()


@needs_kernels
@pytest.mark.parametrize(
    ("n_clusters", "n_each", "n_columns"), [(10, 500, 2), (20, 2000, 2), (12, 1000, 4)]
)
def test_fits_find_as_much_as_the_truth_leads_to(n_clusters, n_each, n_columns):
    """Whichever seed: few rows of such a table tell of one cluster, or of some."""
    X, truth = side_by_side(n_clusters, n_each, n_columns=n_columns)
    least = MAPDPM(prior="paper", init=truth, random_state=0).fit(X).neg_log_joint_
    for seed in range(6):
        assert MAPDPM(prior="paper", random_state=seed).fit(X).neg_log_joint_ <= least + 1e-6
