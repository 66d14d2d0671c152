"""Full covariance where cells are missing: they are drawn, and the known cells alone decide."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from cases import needs_kernels
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    exact_posterior,
    neg_log_joint,
)
from dpmlite.core import Rows
from dpmlite.estimators.default_model.automatic import SAMPLE_ROWS
from dpmlite.estimators.default_model.completion import completed_by_draws
from dpmlite.estimators.default_model.first_cells import MAX_DONORS, completed_by_neighbours
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.priors import FAMILIES
from dpmlite.estimators.priors.conditional_t import missing_cells
from dpmlite.partition import Partition

FULL = FAMILIES["normal-inverse-wishart"]
ALPHA = 1.0


def with_gaps(X, fraction, seed=1):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(X.shape) < fraction, np.nan, X)


def dependent_clusters(n, n_columns, n_clusters, seed=1):
    """Clusters whose columns depend on one another, each in its own way, and their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(n_clusters, size=n)
    mixing = rng.normal(size=(n_clusters, n_columns, n_columns)) / np.sqrt(n_columns)
    centres = 3.0 * rng.normal(size=(n_clusters, n_columns))
    noise = rng.normal(size=(n, n_columns))
    return centres[labels] + np.einsum("nij,nj->ni", mixing[labels], noise), labels


def prior_of(n_columns):
    psi0 = 0.4 + np.eye(n_columns)
    return {"m0": np.zeros(n_columns), "kappa0": 0.3, "nu0": n_columns + 2.0, "psi0": psi0}


def clusters_of(X, labels, prior):
    return Partition(Rows(X), labels.copy(), FULL.component(prior, True), ALPHA).component


@needs_kernels
def test_draws_estimate_the_joint_of_the_known_cells_without_bias():
    """E[p(x, labels) / q(x | y)] = p(y, labels), which is a sum over a grid of the missing cell."""
    rng, prior, labels = np.random.default_rng(0), prior_of(2), np.zeros(6, dtype=np.intp)
    X = rng.normal(size=(6, 2))
    clusters = clusters_of(X, labels, prior)
    Y = X.copy()
    Y[0, 1] = np.nan

    def joint(cell):
        rows = X.copy()
        rows[0, 1] = cell
        return np.exp(
            -Partition(Rows(rows), labels, FULL.component(prior, True), ALPHA).neg_log_joint
        )

    grid = np.linspace(-40.0, 40.0, 8001)
    expected = sum(map(joint, grid)) * (grid[1] - grid[0])
    weights = []
    for _ in range(1500):
        drawn, slots = completed_by_draws(FULL, Data(Y.shape, Y), prior, clusters, ALPHA, rng)
        assert slots.tolist() == [0, -1, -1, -1, -1, -1]
        weights.append(joint(drawn.values[0, 1]) / np.exp(drawn.log_drawn[0]))
        assert (drawn.log_drawn[1:] == 0.0).all()
    error = np.std(weights) / np.sqrt(len(weights))
    assert error < 0.02 * expected
    assert np.mean(weights) == pytest.approx(expected, abs=4.0 * error)


@given(n_columns=st.integers(2, 6), seed=st.integers(0, 10**6))
def test_the_density_of_draws_is_that_of_the_row_by_that_of_its_known_cells(n_columns, seed):
    rng, prior = np.random.default_rng(seed), prior_of(n_columns)
    X = rng.normal(size=(12, n_columns))
    clusters = clusters_of(X, np.zeros(12, dtype=np.intp), prior)
    Y = with_gaps(X, 0.4, seed)
    rows, log_density = FULL.draw_missing(Y, FULL.as_prior(clusters.posterior(0), prior), rng)
    assert np.array_equal(rows[~np.isnan(Y)], Y[~np.isnan(Y)])
    for row, known, density in zip(rows, Y, log_density, strict=True):
        expected = clusters.log_predictive(row, 0) - clusters.log_predictive(known, 0)
        assert density == pytest.approx(expected, abs=1e-8)


def test_expected_cells_are_a_regression_on_the_known_ones():
    prior = {**prior_of(3), "psi0": np.array([[4.0, 2.0, 0.0], [2.0, 3.0, 0.0], [0.0, 0.0, 1.0]])}
    rows = FULL.expected_rows(np.array([[2.0, np.nan, 5.0], [np.nan] * 3]), prior)
    np.testing.assert_allclose(rows, [[2.0, 1.0, 5.0], [0.0, 0.0, 0.0]])


def test_draws_have_the_scale_of_the_predictive_density():
    prior, rng = {**prior_of(2), "nu0": 9.0}, np.random.default_rng(0)
    X = np.tile([[1.5, np.nan]], (40_000, 1))
    (cells,) = missing_cells(X, prior)
    drawn, _ = cells.draw(rng)
    psi, kappa = prior["psi0"], prior["kappa0"]
    rest = psi[1, 1] - psi[0, 1] ** 2 / psi[0, 0]
    degrees = prior["nu0"] - 1 + 1
    scale = ((kappa + 1) / kappa + 1.5**2 / psi[0, 0]) / degrees * rest
    assert drawn.mean() == pytest.approx(1.5 * psi[0, 1] / psi[0, 0], abs=0.03)
    assert drawn.var() == pytest.approx(scale * degrees / (degrees - 2), rel=0.05)


def test_first_cells_come_from_the_most_similar_row():
    X = np.array([[0.0, 10.0, 1.0], [5.0, 20.0, 2.0], [0.1, np.nan, 1.1], [np.nan, 21.0, 2.0]])
    found = completed_by_neighbours(FULL, Data(X.shape, X)).values
    assert found[2].tolist() == [0.1, 10.0, 1.1]
    assert found[3].tolist() == [5.0, 21.0, 2.0]


def test_first_cells_of_rare_columns_are_drawn():
    X = np.random.default_rng(0).normal(size=(MAX_DONORS + 50, 3))
    X[:, 2] = np.nan
    X[1::1000, 2] = [4.0, 5.0, 6.0]  # in no row that is chosen by its place
    found = completed_by_neighbours(FULL, Data(X.shape, X)).values
    known = ~np.isnan(X)
    assert np.array_equal(found[known], X[known])
    drawn = found[~known]
    assert len(np.unique(drawn)) == len(drawn)
    assert drawn.mean() == pytest.approx(5.0, abs=0.1)
    assert drawn.std() == pytest.approx(np.std([4.0, 5.0, 6.0]), rel=0.1)


def test_first_cells_of_columns_without_any_are_alike():
    X = np.array([[1.0, np.nan], [2.0, np.nan]])
    found = completed_by_neighbours(FULL, Data(X.shape, X)).values
    assert found.tolist() == [[1.0, 0.0], [2.0, 0.0]]


@needs_kernels
def test_a_cloud_of_dependent_columns_is_one_cluster_where_cells_are_missing():
    X, _ = dependent_clusters(400, 4, 1)
    Y = with_gaps(X, 0.05)
    model = MAPDPM(allow_missing=True, random_state=0).fit(Y)
    assert (model.n_clusters_, model.component_) == (1, FULL.name)
    apart = MAPDPM(allow_missing=True, component="normal-gamma", random_state=0).fit(Y)
    assert apart.n_clusters_ > 3
    assert model.neg_log_joint_ < apart.neg_log_joint_ - 100.0


@needs_kernels
@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.3])
def test_dependent_clusters_are_found_where_cells_are_missing(fraction):
    X, labels = dependent_clusters(600, 5, 4)
    Y = with_gaps(X, fraction)
    model = MAPDPM(allow_missing=True, random_state=0).fit(Y)
    assert model.n_clusters_ == 4
    assert (
        adjusted_rand_score(labels, model.labels_) > {0.01: 0.999, 0.1: 0.98, 0.3: 0.92}[fraction]
    )
    assert (model.predict(Y) == model.labels_).mean() > 0.98
    again = MAPDPM(allow_missing=True, random_state=0, n_jobs=2).fit(Y)
    assert np.array_equal(again.labels_, model.labels_)
    assert again.neg_log_joint_ == model.neg_log_joint_


@needs_kernels
def test_large_tables_are_completed_from_a_sample():
    X, labels = dependent_clusters(6000, 4, 3)
    model = MAPDPM(allow_missing=True, random_state=0).fit(with_gaps(X, 0.05))
    assert (model.n_clusters_, model.component_) == (3, FULL.name)
    assert adjusted_rand_score(labels, model.labels_) > 0.98


@needs_kernels
@pytest.mark.filterwarnings("ignore:.*are constant:UserWarning")
def test_a_column_may_have_no_cell_in_the_sample():
    X, labels = dependent_clusters(2 * SAMPLE_ROWS, 3, 2, seed=4)
    X[1:, 2] = np.nan
    X[0, 1] = np.nan
    model = MAPDPM(allow_missing=True, random_state=0).fit(X)
    assert np.isfinite(model.neg_log_joint_)
    assert np.isfinite(model.impute(X)).all()
    assert adjusted_rand_score(labels, model.labels_) > 0.8


@needs_kernels
@pytest.mark.parametrize("fraction", [0.005, 0.02, 0.1])
def test_a_column_that_few_rows_have_makes_no_clusters(fraction):
    X, labels = dependent_clusters(1500, 3, 3)
    rng = np.random.default_rng(3)
    column = np.where(rng.random(1500) < fraction, rng.normal(size=1500), np.nan)
    Y = np.column_stack([with_gaps(X, 0.05), column])
    model = MAPDPM(allow_missing=True, random_state=0).fit(Y)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(labels, model.labels_) > 0.98


@needs_kernels
@pytest.mark.filterwarnings("ignore:.*are constant:UserWarning")
def test_missing_cells_of_a_constant_column_do_not_count_as_known():
    X, _ = dependent_clusters(300, 3, 2, seed=4)
    X[::20, 0] = np.nan

    def joint(*columns):
        model = MAPDPM(allow_missing=True, random_state=0).fit(np.column_stack([X, *columns]))
        return model.neg_log_joint_

    column = np.full(300, 3.0)
    of_cells = joint(column) - joint()
    column[::3] = np.nan
    of_known = joint(column) - joint()
    # Two thirds of the cells gain less than two thirds: clusters are less sure of the width.
    assert 0.3 < of_known / of_cells < 0.67


@needs_kernels
def test_columns_without_dependence_stay_apart():
    X = np.random.default_rng(0).normal(size=(500, 5)) + 8.0 * np.repeat(
        [[0.0], [1.0]], 250, axis=0
    )
    model = MAPDPM(allow_missing=True, random_state=0).fit(with_gaps(X, 0.1))
    assert (model.n_clusters_, model.component_) == (2, "normal-gamma")


@needs_kernels
@pytest.mark.parametrize("prior", ["paper", "nll", {"nu0": 6.0, "psi0": np.eye(3)}])
def test_any_prior_will_do(prior):
    X, labels = dependent_clusters(300, 3, 2, seed=4)
    model = MAPDPM(
        component="normal-inverse-wishart", prior=prior, allow_missing=True, random_state=0
    ).fit(with_gaps(X, 0.1))
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(labels, model.labels_) > 0.95


def frame_of(X, labels):
    """A frame with two dependent numbers, one of which is log-normal, and a category."""
    frame = pd.DataFrame({"a": X[:, 0], "b": np.exp(0.3 * X[:, 1])})
    frame["kind"] = np.where(labels == 0, "x", "y")
    frame.loc[::9, "a"] = np.nan
    frame.loc[3::11, "b"] = np.nan
    frame.loc[5::13, "kind"] = None
    return frame


@needs_kernels
def test_mixed_tables_too():
    X, labels = dependent_clusters(300, 2, 2, seed=4)
    frame = frame_of(X, labels)
    component = {("a", "b"): FULL.name, "kind": "categorical"}
    model = MAPDPM(component=component, allow_missing=True, random_state=0).fit(frame)
    assert adjusted_rand_score(labels, model.labels_) > 0.9
    filled = model.impute(frame)
    assert not filled.isna().any().any()
    assert filled["a"][~frame["a"].isna()].equals(frame["a"].dropna())


@needs_kernels
@pytest.mark.parametrize("column", ["a", "b"])
def test_the_joint_is_that_of_the_known_cells(column):
    """Another unit of a column moves it by the log of the unit for each cell that is known."""
    X, labels = dependent_clusters(200, 2, 2, seed=4)
    frame = frame_of(X, labels)
    component = {("a", "b"): "log-normal" if column == "b" else FULL.name, "kind": "categorical"}
    if column == "b":
        frame["a"] = np.exp(0.1 * frame["a"])

    def joint(frame):
        return MAPDPM(component=component, allow_missing=True, random_state=0).fit(frame)

    one, other = joint(frame), joint(frame.assign(**{column: 1000.0 * frame[column]}))
    assert np.array_equal(one.labels_, other.labels_)
    known = one.power_ * frame[column].notna().sum() * np.log(1000.0)
    assert other.neg_log_joint_ - one.neg_log_joint_ == pytest.approx(known, abs=0.5)


@needs_kernels
def test_missing_cells_are_imputed_by_regression():
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    X = np.column_stack([a, 2.0 * a + 0.3 * rng.normal(size=500), rng.normal(size=500)])
    Y = X.copy()
    Y[::10, 1] = np.nan
    model = MAPDPM(allow_missing=True, random_state=0).fit(Y)
    missing = np.isnan(Y)
    assert np.std((model.impute(Y) - X)[missing]) < 0.4  # of a column, 2
    draws = model.impute(Y, n_samples=300, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=0)[missing], model.impute(Y)[missing], atol=0.15)
    assert np.mean(draws.std(axis=0)[missing]) == pytest.approx(0.3, rel=0.2)
    assert np.array_equal(draws[0][~missing], X[~missing])


@needs_kernels
def test_a_stream_goes_on_with_missing_cells(tmp_path):
    X, _ = dependent_clusters(900, 3, 2, seed=4)
    Y = with_gaps(X, 0.1)
    model = MAPDPM(allow_missing=True, random_state=0).fit(Y[:500])
    model.partial_fit(Y[500:])
    assert model.n_samples_seen_ == 900
    at_once = MAPDPM(allow_missing=True, random_state=0).fit(Y)
    assert adjusted_rand_score(at_once.labels_[500:], model.labels_) > 0.95
    model.save(tmp_path / "model.npz")
    loaded = MAPDPM.load(tmp_path / "model.npz")
    for method in ("predict", "score_samples", "transform", "outlier_score", "impute"):
        assert np.array_equal(getattr(loaded, method)(Y), getattr(model, method)(Y))


@needs_kernels
def test_batches_of_one_seed_draw_other_cells():
    """A cell at the same quantile in each batch of one row would move the mean of its column."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5300, 1)) + rng.normal(size=(5300, 3))
    model = MAPDPM(component=FULL.name, allow_missing=True, random_state=0).fit(X[:5000])
    X[5000:, 1] = np.nan
    at_once = deepcopy(model).partial_fit(X[5000:])
    for row in X[5000:]:
        model.partial_fit(row[None])
    assert model.n_clusters_ == at_once.n_clusters_ == 1
    np.testing.assert_allclose(model.cluster_centers_, at_once.cluster_centers_, atol=0.01)


def test_rows_without_any_cell_and_columns_with_few_are_no_error():
    X, _ = dependent_clusters(60, 3, 1)
    X[:4], X[10:, 2] = np.nan, np.nan
    model = MAPDPM(component=FULL.name, allow_missing=True, random_state=0).fit(X)
    assert np.isfinite(model.neg_log_joint_)
    assert np.isfinite(model.impute(X)).all()


@pytest.mark.parametrize(
    "fit",
    [
        lambda X: CollapsedGibbs(component=FULL.name, allow_missing=True).fit(X),
        lambda X: BayesianHierarchicalClustering(component=FULL.name, allow_missing=True).fit(X),
        lambda X: exact_posterior(X, alpha=1.0, component=FULL.name, allow_missing=True),
        lambda X: neg_log_joint(X, [0, 0, 1], alpha=1.0, component=FULL.name, allow_missing=True),
        lambda X: MAPDPM(component=FULL.name, allow_missing=True).fit_chunks([X]),
        lambda X: MAPDPM(component=FULL.name, prior="paper", allow_missing=True).fit_chunks([X]),
    ],
)
def test_where_cells_are_not_drawn_an_error_names_the_first(fit):
    X = np.array([[0.0, 1.0], [2.0, np.nan], [1.0, 5.0]])
    with pytest.raises(ValueError, match=r"full covariance .* got one in row 1, column 1$"):
        fit(X)
