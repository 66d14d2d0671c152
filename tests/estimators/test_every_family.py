"""MAPDPM with every component family: fitting, predicting, drawing, and what it refuses."""

import functools
from types import SimpleNamespace

import numpy as np
import pytest
from cases import PURE, needs_kernels
from drawn_tables import N_COLUMNS, PRIORS, table
from families import CASES

import dpmlite
from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPSearch,
    exact_posterior,
)
from dpmlite.datasets import dpm_mixture, dpm_sample
from dpmlite.estimators.priors import COMPONENTS, FAMILIES


@pytest.fixture(params=COMPONENTS)
def component(request):
    return request.param


def naive_joint(model, X, labels):
    prior = {key: np.asarray(value) for key, value in model.prior_.items()}
    return CASES[model.component].neg_log_joint(X, labels, model.alpha_, prior)


def test_it_fits_and_its_joint_is_the_naive_one(estimator, component):
    X, truth = table(component, n_rows=40)
    model = estimator(component=component, random_state=0).fit(X)
    assert model.neg_log_joint_ == pytest.approx(naive_joint(model, X, model.labels_), rel=1e-9)
    assert model.neg_log_joint_ <= naive_joint(model, X, truth) + 1e-6
    assert (np.diff(model.neg_log_joint_trace_) <= 0.0).all()
    assert model.converged_
    assert model.means_.shape == (model.n_clusters_, X.shape[1])
    assert model.weights_.sum() == pytest.approx(1.0)
    again = dpmlite.neg_log_joint(X, model.labels_, alpha=1.0, component=component)
    assert again == pytest.approx(model.neg_log_joint_, rel=1e-12)


@needs_kernels
def test_the_default_prior_finds_well_separated_clusters(component):
    X, truth = table(component, n_rows=150, seed=3)
    model = MAPDPM(component=component, prior=PRIORS[component], random_state=0).fit(X)
    assert model.neg_log_joint_ <= naive_joint(model, X, truth) + 1e-6
    shared = (model.labels_[:, None] == model.labels_) == (truth[:, None] == truth)
    assert shared.mean() > 0.9


def test_it_finds_the_exact_maximum_on_few_rows(component):
    found = 0
    for seed in range(30):
        X, _ = table(component, n_rows=7, seed=seed)
        exact = exact_posterior(X, alpha=1.0, component=component, prior=PRIORS[component])
        model = MAPDPM(component=component, prior=PRIORS[component], random_state=0).fit(X)
        assert model.neg_log_joint_ >= exact.neg_log_joint - 1e-8
        found += model.neg_log_joint_ <= exact.neg_log_joint + 1e-6
    assert found >= 29


@needs_kernels
def test_means_are_those_of_the_clusters(component):
    """With many rows a cluster, its posterior mean is its rows' mean; of shares for counts."""
    X, _ = table(component, n_rows=400, seed=1)
    model = MAPDPM(prior="paper", component=component, random_state=0).fit(X)
    rows = X[model.labels_ == 0]
    expected = rows.mean(axis=0)
    if component == "dirichlet-multinomial":
        expected = expected / expected.sum()
    np.testing.assert_allclose(model.means_[0], expected, atol=0.1)


def test_predictions_are_a_distribution(component, tmp_path):
    X, _ = table(component, n_rows=40)
    model = MAPDPM(prior="paper", component=component, random_state=0).fit(X)
    proba, new = model.predict_proba(X), model.new_cluster_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1) + new, 1.0, rtol=1e-12)
    labels = model.predict(X)
    chosen = np.where(new > proba.max(axis=1), -1, proba.argmax(axis=1))
    np.testing.assert_array_equal(labels, chosen)
    assert np.isfinite(model.score_samples(X)).all()
    model.save(tmp_path / "model.npz")
    loaded = MAPDPM.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(loaded.predict(X), labels)


def test_a_fitted_model_does_not_depend_on_its_parameters_any_more(tmp_path):
    X, _ = table("normal-gamma", n_rows=30)
    model = MAPDPM(prior="paper", random_state=0).fit(X)
    before = model.score_samples(X)
    model.set_params(component="dirichlet-multinomial", allow_missing=True)
    with pytest.raises(ValueError, match="takes no missing values"):
        model.fit(X)
    np.testing.assert_array_equal(model.score_samples(X), before)
    assert model.sample(3, random_state=0)[0].shape == (3, 2)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(MAPDPM.load(tmp_path / "model.npz").score_samples(X), before)


@needs_kernels
def test_samples_are_like_the_rows(component):
    X, _ = table(component, n_rows=200)
    model = MAPDPM(component=component, prior=PRIORS[component], random_state=0).fit(X)
    drawn, labels = model.sample(4000, random_state=1)
    assert drawn.shape == (4000, X.shape[1])
    assert labels.min() >= -1
    assert labels.max() < model.n_clusters_
    spread = np.percentile(X, 75, axis=0) - np.percentile(X, 25, axis=0)
    close = np.abs(np.median(drawn, axis=0) - np.median(X, axis=0)) <= 0.25 * spread + 1.0
    assert close.all()
    scores, own = np.median(model.score_samples(drawn)), np.median(model.score_samples(X))
    assert scores == pytest.approx(own, rel=0.15)
    again, _ = model.sample(4000, random_state=1)
    np.testing.assert_array_equal(drawn, again)


def test_a_random_mixture_has_a_density(component):
    n_columns = N_COLUMNS[component]
    mixture = dpm_mixture(
        n_columns, component=component, alpha=2.0, prior=PRIORS[component], random_state=0
    )
    assert mixture.weights.sum() == pytest.approx(1.0, rel=1e-12)
    assert (mixture.weights > 0.0).all()
    X, _ = table(component, n_rows=20)
    terms = FAMILIES[component].log_density(X, mixture.parameters)
    assert terms.shape == (20, len(mixture.weights))
    expected = np.log((np.exp(terms) * mixture.weights).sum(axis=1))
    finite = np.isfinite(expected)
    np.testing.assert_allclose(mixture.score_samples(X)[finite], expected[finite], rtol=1e-9)


def test_a_random_mixture_integrates_to_one():
    prior = {"m0": 0.0, "sigma2": 0.3, "tau2": 4.0}
    mixture = dpm_mixture(1, component="normal-known-variance", prior=prior, random_state=3)
    grid = np.linspace(-15.0, 15.0, 3001)[:, None]
    assert np.exp(mixture.score_samples(grid)).sum() * 0.01 == pytest.approx(1.0, rel=1e-6)


def test_draws_follow_the_marginal(component):
    """Two rows of one cluster against two of different ones, s the ratio of their densities.

    For any bounded f, E[f(s)] over the former is E[s f(s)] over the latter; here f = 1 / (1 + s).
    """
    family, prior = FAMILIES[component], PRIORS[component]
    full = family.full_prior(prior, N_COLUMNS[component])
    rng = np.random.default_rng(0)
    theta = family.draw_parameters(full, 3000, rng)
    labels, totals = np.arange(3000), np.full(3000, 5)
    x, y = (family.draw_rows(theta, labels, totals, rng) for _ in range(2))
    statistics = family.component(full, allow_missing=False)
    statistics.resize(2)

    def log_ratio(a, b):
        statistics.clear(0)
        statistics.add(a, 0)
        return statistics.log_predictive(b, 0) - statistics.log_predictive(b, 1)

    together = np.exp([log_ratio(a, b) for a, b in zip(x, y, strict=True)])
    apart = np.exp([log_ratio(a, b) for a, b in zip(x, np.roll(y, 1, axis=0), strict=True)])
    same, other = 1.0 / (1.0 + together), apart / (1.0 + apart)
    error = np.sqrt((same.var() + other.var()) / 3000)
    assert abs(same.mean() - other.mean()) < 4.0 * error
    assert error < 0.02


COUNT_FAMILIES = ("dirichlet-multinomial", "beta-bernoulli")


@functools.cache
def dense_fit(name):
    X, _ = table(name, n_rows=15 if PURE else 30)
    return X, MAPDPM(prior="paper", component=name, random_state=0).fit(X)


@pytest.mark.parametrize("name", COUNT_FAMILIES)
@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "csc_matrix", "coo_array"])
def test_sparse_rows_are_dense_rows(name, kind):
    sparse = pytest.importorskip("scipy.sparse")
    X, dense = dense_fit(name)
    S = getattr(sparse, kind)(X)
    thin = MAPDPM(prior="paper", component=name, random_state=0).fit(S)
    np.testing.assert_array_equal(dense.labels_, thin.labels_)
    assert dense.neg_log_joint_ == thin.neg_log_joint_
    np.testing.assert_array_equal(dense.score_samples(X), thin.score_samples(S))
    np.testing.assert_array_equal(dense.predict_proba(S), thin.predict_proba(X))


def test_anything_with_the_three_arrays_is_sparse():
    class Rows:
        def __init__(self, X):
            self.shape = X.shape
            i, self.indices = np.nonzero(X)
            self.data = X[i, self.indices].astype(np.int32)
            self.indptr = np.searchsorted(i, np.arange(len(X) + 1)).astype(np.int32)

    name = "dirichlet-multinomial"
    X, dense = dense_fit(name)
    thin = MAPDPM(prior="paper", component=name, random_state=0).fit(Rows(X))
    np.testing.assert_array_equal(dense.labels_, thin.labels_)


def test_sparse_rows_with_duplicates_are_added_up():
    sparse = pytest.importorskip("scipy.sparse")
    parts = (np.ones(4), np.array([0, 0, 1, 1]), np.array([0, 2, 4]))
    S = sparse.csr_matrix(parts, shape=(2, 2))
    model = MAPDPM(prior="paper", component="dirichlet-multinomial").fit(S)
    dense = MAPDPM(prior="paper", component="dirichlet-multinomial").fit([[2, 0], [0, 2]])
    assert model.neg_log_joint_ == dense.neg_log_joint_
    assert S.nnz == 4  # the user's matrix is as it was


def test_an_empty_row_and_an_empty_table():
    sparse = pytest.importorskip("scipy.sparse")
    X = np.array([[0, 0, 0], [5, 0, 0], [0, 0, 7], [0, 0, 6]])
    for rows in (X, sparse.csr_matrix(X)):
        model = MAPDPM(prior="paper", component="dirichlet-multinomial", random_state=0).fit(rows)
        assert model.labels_[2] == model.labels_[3]
    zeros = MAPDPM(prior="paper", component="dirichlet-multinomial").fit(sparse.csr_matrix((3, 4)))
    assert zeros.n_clusters_ == 1


BAD = {
    "negative count": (
        "dirichlet-multinomial",
        [[1, 2], [3, -1]],
        r"X must be whole numbers of at least 0, got -1\.0 in row 1, column 1",
    ),
    "fraction": (
        "dirichlet-multinomial",
        [[1, 2], [0, 0], [0.5, 1]],
        r"X must be whole numbers of at least 0, got 0\.5 in row 2, column 0",
    ),
    "infinite count": ("dirichlet-multinomial", [[np.inf, 1]], "got inf in row 0, column 0"),
    "NaN count": ("dirichlet-multinomial", [[np.nan, 1]], "got NaN in row 0, column 0"),
    "two": (
        "beta-bernoulli",
        [[0, 1], [1, 0], [2, 0]],
        r"X must be 0 or 1, got 2\.0 in row 2, column 0",
    ),
    "NaN": ("beta-bernoulli", [[0, np.nan]], "X must be 0 or 1, got NaN in row 0, column 1"),
    "missing": ("normal-inverse-wishart", [[0, np.nan]], "X must be finite, got NaN in row 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_cells_are_named(name):
    family, X, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        MAPDPM(prior="paper", component=family).fit(X)
    if family in COUNT_FAMILIES:
        sparse = pytest.importorskip("scipy.sparse")
        with pytest.raises(ValueError, match=message):
            MAPDPM(prior="paper", component=family).fit(sparse.csr_matrix(np.array(X, dtype=float)))


BAD_PRIORS = {
    "nu0": ("normal-inverse-wishart", {"nu0": 1.0}, r"prior nu0 must be above D - 1 = 1, got 1\.0"),
    "psi0 shape": ("normal-inverse-wishart", {"psi0": np.eye(3)}, r"must have shape \(2, 2\)"),
    "psi0 scalar": ("normal-inverse-wishart", {"psi0": 0.5}, r"shape \(2, 2\), got \(\)"),
    "psi0 asymmetric": (
        "normal-inverse-wishart",
        {"psi0": [[1.0, 0.5], [0.0, 1.0]]},
        r"prior psi0 must be symmetric, got 0\.5 at \(0, 1\) and 0\.0 at \(1, 0\)",
    ),
    "psi0 indefinite": (
        "normal-inverse-wishart",
        {"psi0": [[1.0, 2.0], [2.0, 1.0]]},
        r"prior psi0 must be positive definite, got an eigenvalue of -1\.0",
    ),
    "sigma2": (
        "normal-known-variance",
        {"sigma2": -1.0},
        r"prior sigma2 must be positive and finite, got -1\.0 in column 0",
    ),
    "sigma2 too small": (
        "normal-known-variance",
        {"sigma2": 1e-12},
        r"X must lie within 4\.1e\+03 standard deviations",
    ),
    "psi0 too small": (
        "normal-inverse-wishart",
        {"psi0": 1e-9 * np.eye(2)},
        r"X must lie within 8\.2e\+03 prior scales, Cholesky factors of psi0, of m0",
    ),
    "beta0": ("dirichlet-multinomial", {"beta0": 0.0}, "prior beta0 must be positive and finite"),
    "beta0 tiny": (
        "dirichlet-multinomial",
        {"beta0": [1.0, 1e-300]},
        r"prior beta0 must be from 1e-12 to 1e\+12, got 1e-300 in column 1",
    ),
    "b0 huge": ("beta-bernoulli", {"b0": 1e300}, r"prior b0 must be from 1e-12 to 1e\+12, got 1e"),
    "tau2 huge": (
        "normal-known-variance",
        {"sigma2": 1e-10, "tau2": 1e299},
        r"prior tau2 must be from 1e-20 to 1e\+20 times sigma2, got inf in column 0",
    ),
    "psi0 text": (
        "normal-inverse-wishart",
        {"psi0": [["a", 0], [0, 1]]},
        "prior psi0 must be numbers, got 'a' in row 0, column 0",
    ),
    "a0": ("beta-bernoulli", {"a0": [1.0, -1.0]}, r"prior a0 must be positive .* in column 1"),
    "key": ("beta-bernoulli", {"c0": 1.0}, "prior must have keys among a0, b0, got 'c0'"),
}


@pytest.mark.parametrize("name", BAD_PRIORS)
def test_bad_priors_are_named(name):
    family, prior, message = BAD_PRIORS[name]
    with pytest.raises(ValueError, match=message):
        MAPDPM(component=family, prior=prior).fit([[0, 1], [1, 0], [1, 1]])


def test_missing_values_are_an_error_unless_they_are_allowed():
    X, truth = table("normal-gamma", n_rows=120, seed=2)
    gaps = np.random.default_rng(0).random(X.shape) < 0.1
    gaps[gaps.all(axis=1), 0] = False
    holes = np.where(gaps, np.nan, X)
    with pytest.raises(ValueError, match="X must be finite, got NaN"):
        MAPDPM(prior="paper").fit(holes)
    model = MAPDPM(allow_missing=True, prior=PRIORS["normal-gamma"], random_state=0).fit(holes)
    case = CASES["incomplete normal-gamma"]
    prior = {key: np.asarray(value) for key, value in model.prior_.items()}
    expected = case.neg_log_joint(holes, model.labels_, 1.0, prior)
    assert model.neg_log_joint_ == pytest.approx(expected, rel=1e-9)
    shared = (model.labels_[:, None] == model.labels_) == (truth[:, None] == truth)
    assert shared.mean() > 0.8
    assert np.isfinite(model.score_samples([[np.nan, np.nan], [0.0, np.nan]])).all()
    assert model.score_samples([[np.nan, np.nan]]) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    "parameters",
    [
        {"prior": "paper"},
        {"prior": "paper", "robustness": 50.0},
        {"prior": "paper", "alpha": "cv", "alphas": [0.5, 2.0], "robustness": 50.0},
        pytest.param({}, marks=needs_kernels),
    ],
    ids=["paper", "robust", "cv", "default"],
)
def test_without_gaps_missing_values_change_nothing(parameters):
    X, _ = table("normal-gamma")
    plain, ready = (
        MAPDPM(component="normal-gamma", allow_missing=a, random_state=0, **parameters).fit(X)
        for a in (False, True)
    )
    np.testing.assert_array_equal(plain.labels_, ready.labels_)
    assert plain.neg_log_joint_ == pytest.approx(ready.neg_log_joint_, rel=1e-12)
    assert plain.neg_log_loo_ == pytest.approx(ready.neg_log_loo_, rel=1e-12)
    np.testing.assert_allclose(ready.score_samples(X), plain.score_samples(X), rtol=1e-9)
    row = np.array([[0.5, np.nan]])
    assert np.isfinite(ready.score_samples(row)).all()
    assert ready.statistics_.shape[1] == 1 + 3 * X.shape[1]  # a count for each column


@pytest.mark.parametrize("estimator", [BayesianHierarchicalClustering, CollapsedGibbs, DPSearch])
def test_only_tables_with_gaps_are_searched_with_gaps(estimator):
    X, _ = table("normal-gamma")
    holes = X.copy()
    holes[3, 0] = np.nan
    model = estimator(prior="paper", component="normal-gamma", allow_missing=True)
    kinds = []
    for x in (X, holes):
        found, rows = model._find_model(model._read(x), np.random.default_rng(0))
        kinds.append(type(found.problem(rows).component).__name__)
        assert type(found.component()).__name__ == "IncompleteNormalGamma"
    assert kinds == ["NormalGamma", "IncompleteNormalGamma"]


def test_missing_bits_are_left_out_of_the_joint():
    X, _ = table("beta-bernoulli", n_rows=30 if PURE else 60)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    model = MAPDPM(
        prior="paper", component="beta-bernoulli", allow_missing=True, random_state=0
    ).fit(holes)
    case = CASES["incomplete beta-bernoulli"]
    prior = {key: np.asarray(value) for key, value in model.prior_.items()}
    expected = case.neg_log_joint(holes, model.labels_, 1.0, prior)
    assert model.neg_log_joint_ == pytest.approx(expected, rel=1e-9)
    both = [np.where(np.isnan(holes[:1]), bit, holes[:1]) for bit in (0.0, 1.0)]
    assert model.score_samples(holes[:1]) > max(model.score_samples(rows) for rows in both)


def test_who_takes_no_missing_values():
    with pytest.raises(ValueError, match="'dirichlet-multinomial' takes no missing values"):
        MAPDPM(prior="paper", component="dirichlet-multinomial", allow_missing=True).fit([[1]])
    with pytest.raises(ValueError, match="X must have a value in every column, got none in col"):
        MAPDPM(prior="paper", allow_missing=True).fit([[1.0, np.nan], [2.0, np.nan]])


def test_draws_refuse_what_they_lack():
    with pytest.raises(ValueError, match="prior must have keys m0, c0, a0, b0, 'c0' is missing"):
        dpm_sample(5, 2, prior={"m0": 0.0})
    with pytest.raises(ValueError, match=r"tolerance must be from 1e-12 to below 1, got 0\.0"):
        dpm_mixture(1, prior=PRIORS["normal-gamma"], tolerance=0.0)
    with pytest.raises(ValueError, match=r"tolerance must be from 1e-12 to below 1, got 'x'"):
        dpm_mixture(1, prior=PRIORS["normal-gamma"], tolerance="x")
    with pytest.raises(ValueError, match="alpha must need no more than 1000000 atoms, got 10000"):
        dpm_mixture(1, alpha=1e7, prior=PRIORS["normal-gamma"])


def test_a_random_mixture_scores_rows_of_its_kind_only():
    mixture = dpm_mixture(3, prior=PRIORS["normal-gamma"], random_state=0)
    with pytest.raises(ValueError, match="X must have 3 columns, got 1"):
        mixture.score_samples([[0.0]])
    prior = {"a0": 1.0, "b0": 1.0}
    bits = dpm_mixture(3, component="beta-bernoulli", prior=prior, random_state=0)
    with pytest.raises(ValueError, match=r"X must be 0 or 1, got 0\.5 in row 0, column 1"):
        bits.score_samples([[0.0, 0.5, 1.0]])
    assert mixture != bits


@pytest.mark.parametrize("count", [1e6, 1e9, 1e11, 2.0**40])
def test_one_enormous_count_does_not_overflow_draws(count):
    X, _ = table("dirichlet-multinomial", n_rows=30)
    X[0, 0] = count
    model = MAPDPM(prior="paper", component="dirichlet-multinomial", random_state=0).fit(X)
    assert np.isfinite(model.sample(3, random_state=0)[0]).all()


SPARSE = {
    "starts": ([1, 1], [0, 1], [0, 1, 1], (1, 3), r"X\.indptr must have 2 values that rise from 0"),
    "falls": ([1, 1], [0, 1], [0, 2, 1], (2, 3), r"X\.indptr must have 3 values that rise from 0"),
    "short": ([1], [0, 1], [0, 1, 2], (2, 3), "must have 2 values, got 1 and 2"),
    "columns": ([1, 1], [0, 7], [0, 1, 2], (2, 3), r"X\.indices must be in 0\.\.2, got 7"),
    "halves": ([1, 1], [0, 1], [0, 1.5, 2], (2, 3), r"X\.indptr must be whole numbers"),
    "text": ([1, 1], ["a", "b"], [0, 1, 2], (2, 3), r"X\.indices must be whole numbers"),
    "negative": ([1, 1], [0, -1], [0, 1, 2], (2, 3), r"X\.indices must be in 0\.\.2, got -1"),
    "twice": ([1, 1, 1], [1, 0, 1], [0, 3, 3], (2, 3), "X must have each cell once"),
    "complex": ([1j], [0], [0, 1], (1, 3), "Complex data not supported"),
    "1-D": ([1], [0], [0, 1], (3,), r"X must be 2-D, got shape \(3,\)"),
    "count": ([2.0**41], [0], [0, 1], (1, 3), "X must be at most 1099511627776, got 2199023255552"),
}


@pytest.mark.parametrize("name", SPARSE)
def test_three_arrays_that_are_no_table(name):
    data, indices, indptr, shape, message = SPARSE[name]
    X = SimpleNamespace(
        data=np.array(data), indices=np.array(indices), indptr=np.array(indptr), shape=shape
    )
    with pytest.raises(ValueError, match=message):
        MAPDPM(prior="paper", component="dirichlet-multinomial").fit(X)


def test_three_arrays_are_a_table():
    data, indices, indptr = np.ones(5), np.array([2, 0, 1, 1, 0]), np.array([0, 2, 2, 3, 5])
    X = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 0]])
    arrays = SimpleNamespace(data=data, indices=indices, indptr=indptr, shape=X.shape)
    for component in ("dirichlet-multinomial", "beta-bernoulli"):
        joint, expected = (
            dpmlite.neg_log_joint(rows, [0, 0, 1, 1], alpha=1.0, component=component)
            for rows in (arrays, X)
        )
        assert joint == pytest.approx(expected, rel=1e-12)
