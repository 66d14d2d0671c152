"""Rows that share the values of their group: groups are no clusters, but clusters have groups."""

import numpy as np
import pytest
from cases import needs_kernels
from sklearn.metrics import adjusted_rand_score

from dpmlite import MAPDPM, Table

pytestmark = needs_kernels


def towns(n_clusters, n_towns, size, seed=0, separation=8.0):
    """Houses: three columns of their town, rounded to one digit, and three of their own.

    Also the cluster of each house. Clusters have as many towns each.
    """
    rng = np.random.default_rng(seed)
    centres = separation * rng.normal(size=(n_clusters, 6))
    of_town = np.repeat(np.arange(n_clusters), n_towns)
    shared = np.round(centres[of_town, :3] + rng.normal(size=(len(of_town), 3)), 1)
    town = np.repeat(np.arange(len(of_town)), rng.poisson(size - 1, size=len(of_town)) + 1)
    own = centres[of_town[town], 3:] + rng.normal(size=(len(town), 3))
    return np.hstack([shared[town], own]), of_town[town]


def planted(n_columns, seed=0):
    """Four round clusters of unit variance, far apart."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(4), 150)
    centres = 12.0 * np.column_stack(
        [np.arange(4), *rng.permuted(np.tile(np.arange(4.0), (n_columns - 1, 1)), axis=1)]
    )
    return centres[truth] + rng.normal(size=(len(truth), n_columns)), truth


@pytest.mark.parametrize("size", [5, 12])
def test_towns_of_one_kind_are_one_cluster(size):
    X, _ = towns(1, 80, size)
    assert MAPDPM(random_state=0).fit(X).n_clusters_ == 1
    assert MAPDPM(robustness=None, random_state=0).fit(X).n_clusters_ > 40


@pytest.mark.parametrize("size", [5, 12])
@pytest.mark.parametrize("seed", [0, 1])
def test_kinds_of_towns_are_the_clusters(size, seed):
    X, truth = towns(4, 25, size, seed)
    model = MAPDPM(random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) > 0.98
    assert model.counts_.sum() == len(X)


def test_so_are_they_in_a_table_with_text_and_gaps():
    X, truth = towns(4, 25, 12)
    X[::17, 1] = X[::13, 4] = np.nan
    colour = np.array(["red", "blue"], object)[np.random.default_rng(0).integers(2, size=len(X))]
    table = Table({"colour": colour} | {f"x{j}": column for j, column in enumerate(X.T)})
    model = MAPDPM(allow_missing=True, random_state=0).fit(table)
    assert adjusted_rand_score(truth, model.labels_) > 0.98


@pytest.mark.parametrize("n_columns", [2, 3])
def test_a_few_different_rows_that_stand_there_many_times_are_one_cluster(n_columns):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, n_columns)), rng.integers(4, 20, size=60), axis=0)
    assert MAPDPM(random_state=0).fit(X).n_clusters_ == 1
    assert MAPDPM(robustness=None, random_state=0).fit(X).n_clusters_ > 20


def test_rows_that_stand_there_five_times_are_worth_one():
    X, _ = planted(3)
    once, copied = (MAPDPM(random_state=0).fit(rows) for rows in (X, np.repeat(X, 5, axis=0)))
    assert once.n_clusters_ == copied.n_clusters_ == 4
    assert len(copied.labels_) * copied.power_ == pytest.approx(len(X) * once.power_, rel=0.05)


@pytest.mark.parametrize("n_columns", [1, 2, 5])
@pytest.mark.parametrize("digits", [2, 1, 0])
def test_rounding_hides_no_cluster(n_columns, digits):
    X, truth = planted(n_columns)
    rounded = np.round(X, digits)
    half = np.where(np.arange(n_columns) % 2 == 0, rounded, X)
    for table in (rounded, half):
        model = MAPDPM(random_state=0).fit(table)
        assert model.power_ == pytest.approx(2000.0 / 2600.0)
        assert adjusted_rand_score(truth, model.labels_) > 0.99


def test_robustness_none_counts_all_rows():
    X, _ = towns(2, 30, 5)
    assert MAPDPM(robustness=None, random_state=0).fit(X).power_ == 1.0


def test_rows_in_chunks_have_the_power_of_the_table():
    X, truth = towns(4, 25, 12)
    model = MAPDPM(random_state=0).fit(X)
    chunks = MAPDPM(random_state=0).fit_chunks([X[:500], X[500:]])
    assert model.power_ < 0.2
    assert chunks.power_ == pytest.approx(model.power_, rel=1e-12)
    assert adjusted_rand_score(truth, chunks.predict(X)) > 0.98
