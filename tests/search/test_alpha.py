"""alpha="map", "nll", "loo" and "cv" of MAPDPM, against the same by hand."""

import mpmath
import numpy as np
import pytest
from cases import blobs, needs_kernels
from sklearn.datasets import load_wine
from sklearn.model_selection import PredefinedSplit, TimeSeriesSplit

import dpmlite
from dpmlite import MAPDPM
from dpmlite.datasets import crp_mixture
from dpmlite.search.alpha import ALPHAS

GRID = [0.1, 1.0, 10.0]


FAR_APART = {"m0": 1.0, "c0": 0.001, "a0": 1.0, "b0": 10.0}


def table(seed=0, n_rows=60):
    return crp_mixture(n_rows, random_state=seed)[0]


@pytest.mark.parametrize("alpha", ["map", "mode"])
@pytest.mark.parametrize("alpha_prior", [(1.0, 1.0), (3.0, 0.2), "inverse-gamma"])
def test_map_is_where_neither_labels_nor_alpha_want_to_change(alpha_prior, alpha):
    X, of_log = crp_mixture(60, c0=0.001, random_state=1)[0], alpha == "map"
    model = MAPDPM(prior=FAR_APART, alpha=alpha, alpha_prior=alpha_prior, random_state=0).fit(X)
    again = MAPDPM(prior=FAR_APART, alpha=model.alpha_, init=model.labels_, random_state=0).fit(X)
    assert again.neg_log_joint_ == pytest.approx(model.neg_log_joint_, rel=1e-12)

    def log_posterior(u):
        alpha = mpmath.exp(u)
        if alpha_prior == "inverse-gamma":  # eq. (25)
            prior = -3 * u / 2 - 1 / (2 * alpha)
        else:  # eq. (26)
            prior = (alpha_prior[0] - 1) * u - alpha_prior[1] * alpha
        likelihood = model.n_clusters_ * u + mpmath.loggamma(alpha) - mpmath.loggamma(alpha + 60)
        return prior + likelihood + (u if of_log else 0)  # the Jacobian is alpha

    with mpmath.workdps(40):
        assert abs(mpmath.diff(log_posterior, mpmath.log(model.alpha_))) < 1e-9
    assert not hasattr(model, "alphas_")


@needs_kernels
def test_map_follows_the_concentration_that_drew_the_rows():
    found = []
    for alpha in (0.3, 3.0, 30.0):
        X, _ = crp_mixture(400, alpha=alpha, c0=0.001, random_state=1)
        found.append(MAPDPM(alpha="map", prior=FAR_APART, random_state=0).fit(X).alpha_)
    assert found == sorted(found)
    assert found[0] < 1.0 < found[1] < 8.0 < found[2]


def test_nll_is_the_least_joint_of_the_grid():
    X = table(3)
    model = MAPDPM(prior="paper", alpha="nll", alphas=GRID[::-1], random_state=0).fit(X)
    np.testing.assert_array_equal(model.alphas_, GRID)
    assert model.alpha_ == GRID[int(np.argmin(model.alpha_scores_))]
    assert model.neg_log_joint_ <= model.alpha_scores_.min() + 1e-9
    for alpha, score in zip(GRID, model.alpha_scores_, strict=True):
        same_labels = dpmlite.neg_log_joint(X, model.labels_, alpha=alpha)
        assert score <= same_labels + 1e-9
        alone = MAPDPM(prior="paper", alpha=alpha, random_state=0).fit(X).neg_log_joint_
        assert score <= alone + 0.02 * abs(alone)


def test_loo_is_the_least_eq_16_of_the_grid():
    X = table(3)
    model = MAPDPM(prior="paper", alpha="loo", alphas=GRID, random_state=0).fit(X)
    assert model.alpha_ == GRID[int(np.argmin(model.alpha_scores_))]
    score = dpmlite.neg_log_loo(X, model.labels_, alpha=model.alpha_)
    assert score == pytest.approx(model.alpha_scores_.min(), rel=1e-12)
    assert model.neg_log_loo_ == pytest.approx(score, rel=1e-12)


@needs_kernels
def test_on_wine_the_leave_one_out_likelihood_takes_a_larger_alpha_than_the_joint():
    X, chosen = load_wine().data, {}
    for alpha in ("nll", "loo"):
        chosen[alpha] = MAPDPM(prior="paper", alpha=alpha, random_state=0).fit(X).alpha_
    assert chosen == pytest.approx({"nll": 10.0 ** (-1.0 / 3.0), "loo": 10.0})


def test_cv_is_the_best_density_of_rows_left_out():
    """With one alpha to try, the score is that of the folds fitted one by one."""
    X, _ = blobs(n_rows=40, seed=5)
    weights = np.linspace(0.5, 2.0, 40)
    model = MAPDPM(prior="paper", alpha="cv", alphas=[1.0], cv=4, random_state=0).fit(
        X, sample_weight=weights
    )
    assert model.alpha_ == 1.0
    seed = np.random.default_rng(0).integers(2**63, size=1)
    fold = np.random.default_rng(seed).permutation(40) % 4
    total = 0.0
    for i in range(4):
        train = fold != i
        part = MAPDPM(alpha=1.0, prior=model.prior_, random_state=0)
        part.fit(X[train], sample_weight=weights[train])
        total += weights[~train] @ part.score_samples(X[~train])
    assert model.alpha_scores_[0] == pytest.approx(total / weights.sum(), rel=1e-9)


def test_splitters_say_which_rows_are_left_out():
    """Later rows are held out from earlier ones, and some from none."""
    X, _ = blobs(n_rows=40, seed=5)
    splitter = TimeSeriesSplit(3)
    model = MAPDPM(prior="paper", alpha="cv", alphas=[1.0], cv=splitter, random_state=0).fit(X)
    densities = [
        MAPDPM(alpha=1.0, prior=model.prior_, random_state=0).fit(X[train]).score_samples(X[test])
        for train, test in splitter.split(X)
    ]
    assert model.alpha_scores_[0] == pytest.approx(np.concatenate(densities).mean(), rel=1e-9)


def test_a_splitter_must_leave_rows_out():
    X, _ = blobs(n_rows=10)
    with pytest.raises(ValueError, match="cv must give rows to learn from"):
        MAPDPM(prior="paper", alpha="cv", cv=PredefinedSplit(np.full(10, -1))).fit(X)


@needs_kernels
def test_cv_prefers_what_predicts():
    X, _ = blobs(n_rows=200, seed=5)
    model = MAPDPM(prior="paper", alpha="cv", random_state=0).fit(X)
    np.testing.assert_array_equal(model.alphas_, ALPHAS)
    assert model.alpha_ == ALPHAS[int(np.argmax(model.alpha_scores_))]
    assert model.alpha_scores_[0] > model.alpha_scores_[-1]  # three clusters: not alpha 100


@pytest.mark.parametrize("alpha", ["map", "nll", "loo", "cv"])
def test_every_choice_is_reproducible_and_survives_a_file(alpha, tmp_path):
    X = table(2, 40)
    weights = np.ones(40)
    weights[:5] = 0.0
    models = [
        MAPDPM(
            prior="paper", alpha=alpha, alphas=GRID, cv=3, random_state=1, n_init=2, n_jobs=n_jobs
        )
        for n_jobs in (1, 2)
    ]
    one, other = (model.fit(X, sample_weight=weights) for model in models)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    assert one.alpha_ == other.alpha_
    one.save(tmp_path / "model.npz")
    loaded = MAPDPM.load(tmp_path / "model.npz")
    assert loaded.alpha_ == one.alpha_
    assert loaded.get_params()["alpha"] == alpha
    one.partial_fit(X)
    assert one.alpha_ == other.alpha_
    scores = [getattr(model, "alpha_scores_", None) for model in (one, other)]
    np.testing.assert_array_equal(*scores)
    one.set_params(alpha=1.0).partial_fit(X)
    other.set_params(alpha=1.0).fit(X)
    assert not hasattr(one, "alpha_scores_")
    assert not hasattr(other, "alpha_scores_")


def test_given_labels_are_the_start_of_every_choice():
    X, truth = blobs(n_rows=40, seed=5)
    for alpha in ("map", "nll", "loo", "cv"):
        model = MAPDPM(
            prior="paper", alpha=alpha, alphas=GRID, cv=2, init=truth, split_merge=False
        ).fit(X)
        assert model.n_clusters_ == 3


def test_the_density_of_alpha_may_be_highest_at_0():
    X = np.random.default_rng(0).normal(size=(12, 2))
    rule = r"alpha='mode' needs K \+ shape of alpha_prior above 2, got 1 \+ 1: the density of alpha"
    with pytest.raises(ValueError, match=rule):
        MAPDPM(prior="paper", alpha="mode", init="single", split_merge=False).fit(X)


@needs_kernels
def test_light_rows_have_no_mode_under_the_inverse_gamma():
    X, weights = np.random.default_rng(0).normal(size=(8, 2)), np.full(8, 1 / 8)
    model = MAPDPM(prior="paper", alpha="map", alpha_prior="inverse-gamma", random_state=0)
    rule = r"alpha_prior='inverse-gamma' needs rows of a total weight above K - 0.5, got 1 for K = "
    with pytest.raises(ValueError, match=rule):
        model.fit(X, sample_weight=weights)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": "best"}, "alpha must be a positive number or one of 'map'"),
        ({"alpha_prior": "gamma"}, "alpha_prior must be two numbers or one of .*, got 'gamma'"),
        ({"alpha_prior": (1.0,)}, r"alpha_prior must be two numbers or .*, got \(1\.0,\)"),
        (
            {"alpha_prior": (1e-17, 1.0)},
            "shape of alpha_prior must be from 1e-12 to .*, got 1e-17",
        ),
        ({"alpha_prior": (0.0, 1.0)}, r"shape of alpha_prior must be positive, got 0\.0"),
        ({"alpha_prior": 3.0}, r"alpha_prior must be two numbers or .*, got 3\.0"),
        ({"alpha_prior": None}, "alpha_prior must be two numbers or .*, got None"),
        ({"alpha_prior": {"a": 1, "b": 2}}, "alpha_prior must be two numbers or .*, got {'a': 1"),
        ({"alphas": []}, r"alphas must be a list of numbers, got \[\]"),
        ({"alphas": 3.0}, r"alphas must be a list of numbers, got 3\.0"),
        ({"alphas": [[1.0, 2.0]]}, r"alphas must be a list of numbers, got \[\[1\.0, 2\.0\]\]"),
        ({"alphas": ["a"]}, "alphas must be positive, got 'a'"),
        ({"alphas": [True]}, "alphas must be positive, got True"),
        ({"alphas": [1.0, -2.0]}, r"alphas must be positive, got -2\.0"),
        ({"cv": 1}, "cv must be a whole number of at least 2, got 1"),
        ({"alpha": "cv", "cv": 7}, "cv must be at most the number of rows, 6, got 7"),
    ],
)
def test_errors_state_the_rule_that_is_broken(parameters, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        MAPDPM(**parameters).fit(np.arange(12.0).reshape(6, 2))
