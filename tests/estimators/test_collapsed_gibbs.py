"""CollapsedGibbs: the posterior it samples, judged by exact sums, and what it promises."""

import numpy as np
import pytest
from cases import PURE, blobs, needs_kernels
from drawn_tables import PRIORS, table

import dpmlite
from dpmlite import MAPDPM, CollapsedGibbs, NotFittedError, exact_posterior
from dpmlite.estimators.priors import COMPONENTS

VARIANTS = (None, "random", "restricted", "interleaved")


@pytest.mark.slow
@needs_kernels
@pytest.mark.parametrize("split_merge", VARIANTS)
@pytest.mark.parametrize("component", COMPONENTS)
def test_the_posterior_is_the_exact_one(component, split_merge):
    """Co-clustering and the number of clusters within 0.02, in every family."""
    X, _ = table(component, n_rows=7, seed=5)
    exact = exact_posterior(X, alpha=1.5, component=component, prior=PRIORS[component])
    model = CollapsedGibbs(
        component=component,
        alpha=1.5,
        prior=PRIORS[component],
        n_samples=20_000,
        init="single",
        split_merge=split_merge,
        random_state=1,
    ).fit(X)
    proba = np.zeros(7)
    proba[: len(model.n_clusters_proba_) - 1] = model.n_clusters_proba_[1:]
    np.testing.assert_allclose(proba, exact.n_clusters_proba, atol=0.02)
    np.testing.assert_allclose(model.co_clustering(), exact.co_clustering, atol=0.02)
    assert model.neg_log_joint_ == pytest.approx(exact.neg_log_joint, abs=1e-8)


@needs_kernels
@pytest.mark.parametrize("split_merge", [None, "interleaved"])
def test_the_posterior_of_weighted_rows_is_the_exact_one(split_merge):
    X, _ = table("normal-gamma", n_rows=6, seed=2)
    weights = np.array([1.0, 3.0, 0.5, 2.0, 1.0, 1.7])
    exact = exact_posterior(X, alpha=1.0, prior=PRIORS["normal-gamma"], sample_weight=weights)
    model = CollapsedGibbs(
        prior=PRIORS["normal-gamma"], n_samples=20_000, split_merge=split_merge, random_state=3
    ).fit(X, sample_weight=weights)
    np.testing.assert_allclose(model.co_clustering(), exact.co_clustering, atol=0.02)


@needs_kernels
def test_the_posterior_of_incomplete_rows_is_the_exact_one():
    X, _ = table("normal-gamma", n_rows=6, seed=2)
    X[1, 0] = X[4, 1] = np.nan
    parameters = {"prior": PRIORS["normal-gamma"], "allow_missing": True}
    exact = exact_posterior(X, alpha=1.0, **parameters)
    model = CollapsedGibbs(n_samples=20_000, random_state=3, **parameters).fit(X)
    np.testing.assert_allclose(model.co_clustering(), exact.co_clustering, atol=0.02)


@pytest.fixture(scope="module")
def fitted():
    X, _ = blobs(n_rows=40, seed=7)
    return CollapsedGibbs(prior="paper", n_samples=30, random_state=0).fit(X), X


def test_fitted_attributes_are_consistent(fitted):
    model, X = fitted
    assert model.labels_samples_.shape == (30, 40)
    assert model.labels_samples_.dtype == np.intp
    for labels, joint, n_clusters in zip(
        model.labels_samples_,
        model.neg_log_joint_samples_,
        model.n_clusters_samples_,
        strict=True,
    ):
        assert joint == pytest.approx(dpmlite.neg_log_joint(X, labels, alpha=1.0), rel=1e-9)
        assert len(set(labels)) == n_clusters
    np.testing.assert_array_equal(model.alpha_samples_, 1.0)
    assert model.n_clusters_proba_.sum() == pytest.approx(1.0)
    assert model.neg_log_joint_ <= model.neg_log_joint_samples_.min() + 1e-9
    assert model.neg_log_joint_ == dpmlite.neg_log_joint(X, model.labels_, alpha=1.0)
    assert (np.diff(model.counts_) <= 0).all()
    assert model.n_empty_clusters_ >= 0
    assert 0.0 <= model.acceptance_rate_ <= 1.0
    together = model.co_clustering()
    np.testing.assert_array_equal(np.diag(together), 1.0)
    np.testing.assert_array_equal(together, together.T)
    labels = model.labels_samples_
    np.testing.assert_allclose(together, (labels[:, :, None] == labels[:, None]).mean(axis=0))


def test_co_clustering_counts_many_rows_samples_and_clusters():
    rng = np.random.default_rng(0)
    model = CollapsedGibbs()
    model.statistics_ = None
    for n_clusters, n_samples, n_rows in ((2, 600, 130), (300, 256, 64), (70_000, 3, 65)):
        labels = rng.integers(n_clusters, size=(n_samples, n_rows))
        labels[:, 1] = labels[:, 0]
        model.labels_samples_ = labels
        expected = (labels[:, :, None] == labels[:, None]).mean(axis=0)
        np.testing.assert_allclose(model.co_clustering(), expected, rtol=1e-12)


def test_the_rows_are_its_own(fitted):
    model, X = fitted
    table, weights = X.copy(), np.ones(40)
    other = CollapsedGibbs(prior="paper", n_samples=30, random_state=0).fit(
        table, sample_weight=weights
    )
    table[:], weights[:] = 0.0, 9.0
    np.testing.assert_allclose(other.score_samples(X), model.score_samples(X), rtol=1e-12)


def test_chains_start_from_the_map_and_never_report_worse(fitted):
    model, X = fitted
    assert (
        model.neg_log_joint_ <= MAPDPM(prior="paper", random_state=0).fit(X).neg_log_joint_ + 1e-6
    )


def test_the_density_is_the_mean_over_the_samples(fitted):
    model, X = fitted
    new = np.concatenate([X[:5] + 0.3, [[50.0, -50.0]]])
    known = {"alpha": 1.0, "prior": model.prior_}
    for row, score in zip(new, model.score_samples(new), strict=True):
        density = 0.0
        for labels in model.labels_samples_:
            before = dpmlite.neg_log_joint(X, labels, **known)
            for k in range(labels.max() + 2):
                after = dpmlite.neg_log_joint(np.vstack([X, row]), [*labels, k], **known)
                density += np.exp(before - after)
        assert score == pytest.approx(np.log(density / len(model.labels_samples_)), rel=1e-9)
    single = CollapsedGibbs(
        prior="paper", n_samples=1, burn_in=0, init=model.labels_, random_state=0
    ).fit(X)
    grid = np.linspace(-60.0, 60.0, 200)
    cells = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    mass = np.exp(single.score_samples(cells)).sum() * (grid[1] - grid[0]) ** 2
    assert mass == pytest.approx(1.0, abs=0.05)


def test_results_depend_on_the_seed_alone(fitted):
    model, X = fitted
    again = CollapsedGibbs(prior="paper", n_samples=30, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_samples_, again.labels_samples_)
    other = CollapsedGibbs(prior="paper", n_samples=30, random_state=1).fit(X)
    assert not np.array_equal(model.labels_samples_, other.labels_samples_)


@pytest.mark.parametrize("init", ["map", "single", "singletons", "random", "sequential"])
@pytest.mark.parametrize("split_merge", VARIANTS)
def test_every_start_and_variant(init, split_merge):
    X, truth = blobs(n_rows=20, seed=7)
    sampler = CollapsedGibbs(
        prior="paper",
        init=init,
        split_merge=split_merge,
        n_samples=5,
        burn_in=3,
        thin=2,
        random_state=0,
    )
    model = sampler.fit(X)
    assert model.labels_samples_.shape == (5, 20)
    assert (model.labels_samples_ >= 0).all()
    assert np.isnan(model.acceptance_rate_) == (split_merge is None)
    assert (
        CollapsedGibbs(prior="paper", init=truth, n_samples=2, random_state=0).fit(X).n_clusters_
        >= 1
    )


def test_one_or_two_rows_have_samples_and_densities():
    for n_rows in (1, 2):
        X = np.random.default_rng(0).normal(size=(n_rows, 2))
        model = CollapsedGibbs(prior="paper", n_samples=20, random_state=0).fit(X)
        assert model.labels_samples_.shape == (20, n_rows)
        assert np.isfinite(model.score_samples(X)).all()


def test_samples_of_alpha_have_its_posterior():
    """Rows that say nothing: the posterior of alpha given K, averaged over K, is its prior."""
    X = np.full((8, 1), 2.0)
    prior = {"m0": 2.0, "sigma2": 1e6, "tau2": 1e-6}
    model = CollapsedGibbs(
        component="normal-known-variance",
        prior=prior,
        alpha_prior=(2.0, 1.0),
        n_samples=300 if PURE else 8000,
        init="single",
        split_merge=None,
        random_state=0,
    ).fit(X)
    slack = 1.0 if PURE else 0.15
    assert model.alpha_samples_.mean() == pytest.approx(2.0, abs=slack)
    assert model.alpha_samples_.var() == pytest.approx(2.0, abs=3.0 * slack)
    expected = sum(model.alpha_samples_ / (model.alpha_samples_ + i) for i in range(8)).mean()
    assert model.n_clusters_samples_.mean() == pytest.approx(expected, abs=slack)


def test_sparse_and_dense_counts_have_the_same_samples():
    sparse = pytest.importorskip("scipy.sparse")
    X, _ = table("dirichlet-multinomial", n_rows=30)
    parameters = {"component": "dirichlet-multinomial", "n_samples": 10, "random_state": 0}
    dense = CollapsedGibbs(**parameters).fit(X)
    thin = CollapsedGibbs(**parameters).fit(sparse.csr_matrix(X))
    np.testing.assert_array_equal(dense.labels_samples_, thin.labels_samples_)
    np.testing.assert_array_equal(dense.score_samples(X), thin.score_samples(X))


def test_a_file_keeps_the_samples(fitted, tmp_path):
    model, X = fitted
    model.save(tmp_path / "model.npz")
    loaded = CollapsedGibbs.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(loaded.co_clustering(), model.co_clustering())
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="holds a CollapsedGibbs, not a MAPDPM"):
        MAPDPM.load(tmp_path / "model.npz")


def test_a_loaded_model_can_be_fitted_again(tmp_path):
    X, _ = blobs(n_rows=20)
    model = CollapsedGibbs(prior="paper", alpha_prior=(2.0, 1.0), n_samples=5, random_state=0).fit(
        X
    )
    model.save(tmp_path / "model.npz")
    again = CollapsedGibbs.load(tmp_path / "model.npz").fit(X)
    np.testing.assert_array_equal(again.alpha_samples_, model.alpha_samples_)


def test_verbose_shows_progress(capsys):
    X, _ = blobs(n_rows=20)
    parameters = {"prior": "paper", "n_samples": 20, "burn_in": 0, "random_state": 0}
    CollapsedGibbs(init="single", verbose=True, **parameters).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10
    assert all("sweep" in line and "neg_log_joint" in line for line in lines)


BAD = {
    "alpha_prior": ({"alpha_prior": 1.0}, "alpha_prior must be a shape and a rate, or None, got 1"),
    "alpha_prior's rate": ({"alpha_prior": (1.0, -2.0)}, "rate must be positive, got -2.0"),
    "n_samples": ({"n_samples": 0}, "n_samples must be a whole number of at least 1, got 0"),
    "burn_in": ({"burn_in": -1}, "burn_in must be a whole number of at least 0, got -1"),
    "thin": ({"thin": 0.5}, r"thin must be a whole number of at least 1, got 0\.5"),
    "init": ({"init": "auto"}, "init must be one of 'map', 'single'.*, got 'auto'"),
    "init before all work": (
        {"init": [0, 1, 2], "prior": {"m1": 0.0}},
        r"init must have shape \(2,\), got \(3,\)",
    ),
    "split_merge": (
        {"split_merge": "yes"},
        "split_merge must be None or one of 'random', .*, got 'yes'",
    ),
    "split_merge True": ({"split_merge": True}, "split_merge must be None or one of .*, got True"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_error_names_the_parameter_that_breaks_its_rule(name):
    parameters, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        CollapsedGibbs(**parameters).fit([[0.0], [1.0]])


def test_rows_without_weight_cannot_be_sampled():
    with pytest.raises(ValueError, match=r"sample_weight must be positive, got 0\.0 in row 1"):
        CollapsedGibbs().fit([[0.0], [1.0]], sample_weight=[1.0, 0.0])


def test_methods_before_fit_are_an_error():
    for call in (
        lambda: CollapsedGibbs().co_clustering(),
        lambda: CollapsedGibbs().score_samples([[0.0]]),
        lambda: CollapsedGibbs().predict([[0.0]]),
    ):
        with pytest.raises(NotFittedError, match="this CollapsedGibbs is not fitted yet"):
            call()
