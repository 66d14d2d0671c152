"""Data that arrives in pieces: `partial_fit` and `merge_models`."""

import pickle
from collections import UserDict

import numpy as np
import pytest
from cases import blobs, empirical_prior, needs_kernels
from families import CASES, FAMILY_NAMES
from sklearn.metrics import adjusted_rand_score
from three_groups import joint_of, table

import dpmlite
from dpmlite import MAPDPM, CollapsedGibbs, NotFittedError, merge_models
from dpmlite.datasets import planted_gaussians
from dpmlite.estimators.map_dpm import first_rows
from dpmlite.estimators.priors import FAMILIES

COMPONENTS = tuple(FAMILIES)


@pytest.fixture(autouse=True)
def few_first_rows(monkeypatch):
    """So that most rows of small tables are settled."""
    monkeypatch.setattr(first_rows, "FIRST_ROWS", 30)


def quick(estimator, **parameters):
    """A start that does not take long on the plain twins."""
    parameters = {"prior": "paper", **parameters}
    return estimator(init="sequential", random_state=0, **parameters)


def learn(model, X, size, **arguments):
    for start in range(0, len(X), size):
        part = slice(start, start + size)
        model.partial_fit(X[part], **{key: value[part] for key, value in arguments.items()})
    return model


def has_statistics_of(model, X, labels):
    """Whether a model's statistics are those of rows with these labels."""
    family = FAMILIES[model.component_]
    for k, statistics in enumerate(model.statistics_):
        component = family.component(model.prior_, model.allow_missing_)
        component.resize(1)
        for row in X[labels == k]:
            component.add(row, 0)
        np.testing.assert_allclose(statistics, component.statistics(0), rtol=1e-9, atol=1e-9)
    return True


@pytest.mark.parametrize("component", COMPONENTS)
def test_everything_is_that_of_all_rows(estimator, component):
    X = table(component)
    model = learn(quick(estimator, component=component, alpha=2.0), X, 20)
    labels = model.predict(X)
    assert model.n_clusters_ == 3
    assert has_statistics_of(model, X, labels)
    assert model.neg_log_joint_ == pytest.approx(joint_of(model, X, labels), rel=1e-9)
    assert model.n_samples_seen_ == 90
    assert (model.alpha_, model.n_features_in_) == (2.0, X.shape[1])
    np.testing.assert_array_equal(model.counts_, [30, 30, 30])
    np.testing.assert_allclose(model.weights_, np.full(3, 1.0 / 3.0), rtol=1e-12)
    np.testing.assert_array_equal(model.labels_, labels[-10:])
    assert not hasattr(model, "neg_log_loo_")
    assert not hasattr(model, "first_rows_")
    whole = quick(estimator, component=component, alpha=2.0).fit(X)
    for key, value in whole.prior_.items():
        if key in FAMILIES[component].fixed_keys:
            value = quick(estimator, component=component).fit(X[:40]).prior_[key]
        np.testing.assert_allclose(model.prior_[key], value, rtol=1e-9)


def test_twins_learn_alike(estimators):
    X = planted_gaussians(150, 3, 4, random_state=3)[0]
    one, other = (learn(quick(make), X, 25) for make in estimators)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.counts_, other.counts_)
    assert one.neg_log_joint_ == pytest.approx(other.neg_log_joint_, rel=1e-9)


@pytest.mark.parametrize("name", [n for n in FAMILY_NAMES if n.split()[-1] in FAMILIES])
def test_statistics_can_change_their_prior(name):
    case, rng = CASES[name], np.random.default_rng(4)
    X, old, new = case.draw(rng, 15, 3), case.prior(rng, 3), case.prior(rng, 3)
    family = FAMILIES[name.removeprefix("incomplete ")]
    new = {**new, **{key: old[key] for key in family.fixed_keys}}
    missing = name.startswith("incomplete")
    if missing:
        X[:3, 0] = np.nan  # a cluster that has no value there
    old, new = (family.check_prior(prior, 3) for prior in (old, new))

    def statistics(prior):
        component = family.component(prior, missing)
        component.resize(2)
        for i, row in enumerate(X):
            component.add(row, int(i >= 3))
        return np.array([component.statistics(k) for k in range(2)])

    found = family.convert_statistics(statistics(old), old, new)
    np.testing.assert_allclose(found, statistics(new), rtol=1e-10, atol=1e-10)


def test_a_table_far_from_zero_and_narrow(estimator):
    """Row by row at first: the first prior knows no variance, and none is lost."""
    X = 1e6 + 1e-3 * (table("normal-gamma", 60) - 1e4)
    model = learn(quick(estimator), X[:3], 1)
    learn(model, X[3:], 19)
    np.testing.assert_allclose(model.prior_["b0"], X.var(axis=0), rtol=1e-6)
    assert model.n_clusters_ == 3
    np.testing.assert_array_equal(model.counts_, [20, 20, 20])


def test_the_first_rows_are_fitted_again(monkeypatch):
    monkeypatch.setattr(first_rows, "FIRST_ROWS", 60)
    X = planted_gaussians(80, 3, 4, random_state=1)[0]
    model = MAPDPM(prior="paper", random_state=0).partial_fit(X[:30])
    fitted = MAPDPM(prior="paper", random_state=0).fit(X[:30])
    np.testing.assert_array_equal(model.labels_, fitted.labels_)
    assert model.neg_log_loo_ == fitted.neg_log_loo_
    model.partial_fit(X[30:31])  # too few to fit anew
    assert not hasattr(model, "neg_log_loo_")
    assert model.n_samples_seen_ == 31
    model.partial_fit(X[31:59])
    fitted = MAPDPM(prior="paper", random_state=0).fit(X[:59])
    np.testing.assert_array_equal(model.labels_, fitted.labels_[31:])
    assert model.neg_log_joint_ == fitted.neg_log_joint_
    assert model.first_rows_["rows"]["values"].shape == (59, 3)
    model.partial_fit(X[59:])
    assert model.neg_log_joint_ == MAPDPM(prior="paper", random_state=0).fit(X).neg_log_joint_
    assert not hasattr(model, "first_rows_")


def test_first_rows_are_few_cells(monkeypatch):
    monkeypatch.setattr(first_rows, "FIRST_CELLS", 40)
    X, _ = blobs(n_rows=30)
    assert hasattr(MAPDPM(prior="paper").partial_fit(X[:19]), "first_rows_")
    assert not hasattr(MAPDPM(prior="paper").partial_fit(X[:20]), "first_rows_")
    assert not hasattr(MAPDPM(prior="paper", init=[0] * 5).partial_fit(X[:5]), "first_rows_")
    model = MAPDPM(prior="paper").partial_fit(X[:5])
    assert not hasattr(model.fit(X[:5]), "first_rows_")


def test_partial_fit_goes_on_after_fit(estimator):
    X = table("normal-gamma")
    model = quick(estimator).fit(X[:40])
    np.testing.assert_array_equal(model.partial_fit(X[40:]).labels_, model.predict(X[40:]))
    assert has_statistics_of(model, X, model.predict(X))
    assert model.neg_log_joint_trace_[-1] == pytest.approx(model.neg_log_joint_, rel=1e-9)
    assert (np.diff(model.neg_log_joint_trace_) <= 0.0).all()
    assert model.converged_
    assert model.fit(X[:30]).n_samples_seen_ == 30


def test_clusters_seen_before_may_merge(estimator):
    X = np.random.default_rng(0).normal(size=(80, 2))
    halves = estimator(init=(X[:, 0] > 0.0).astype(int), split_merge=False, max_sweeps=1).fit(X)
    assert halves.n_clusters_ == 2
    halves.set_params(split_merge=True, max_sweeps=1000).partial_fit([[0.0, 0.0]])
    assert halves.counts_.tolist() == [81]
    assert has_statistics_of(halves, np.vstack([X, [[0.0, 0.0]]]), np.zeros(81))


def test_rows_far_from_all_clusters_form_new_ones(estimator):
    X = table("normal-gamma")
    far = X[:, 0] > 1e4 + 20.0
    model = quick(estimator).fit(X[~far])
    assert model.n_clusters_ == 2
    assert model.partial_fit(X[far]).n_clusters_ == 3
    assert sorted(model.counts_.tolist()) == [30, 30, 30]


def test_weights_are_repeated_rows(estimator):
    X = table("normal-gamma", 90)
    weights = np.where(np.arange(90) % 9 == 0, 0.0, 2.0)
    model = learn(quick(estimator), X, 30, sample_weight=weights)
    np.testing.assert_allclose(model.weights_ * 160, model.statistics_[:, 0], rtol=1e-12)
    assert model.n_samples_seen_ == 90
    labels = model.predict(X)
    assert model.neg_log_joint_ == pytest.approx(
        joint_of(model, X, labels, sample_weight=weights), rel=1e-9
    )
    twice = np.repeat(X[weights > 0.0], 2, axis=0)
    assert model.neg_log_joint_ == pytest.approx(
        joint_of(model, twice, np.repeat(labels[weights > 0.0], 2)), rel=1e-9
    )
    model.partial_fit(X)  # and without any
    assert model.moments_["weight"] == 250.0


def test_missing_cells_and_columns(estimator):
    X = table("normal-gamma", 120)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    X[80:, 1] = np.nan
    model = learn(quick(estimator, allow_missing=True), X, 40)
    np.testing.assert_allclose(model.prior_["m0"], np.nanmean(X, axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.prior_["b0"], np.nanvar(X, axis=0), rtol=1e-8)
    assert model.counts_.sum() == 120
    with pytest.raises(ValueError, match="X must have a value in every column, got none in col"):
        MAPDPM(prior="paper", allow_missing=True).partial_fit(X[80:])


def test_sparse_and_dense_streams_are_learnt_alike():
    sparse = pytest.importorskip("scipy.sparse")
    X = table("dirichlet-multinomial", 120)
    rows = sparse.csr_matrix(X)
    dense = learn(MAPDPM(prior="paper", component="dirichlet-multinomial", random_state=0), X, 25)
    model = MAPDPM(prior="paper", component="dirichlet-multinomial", random_state=0)
    for start in range(0, 120, 25):
        model.partial_fit(rows[start : start + 25])
    np.testing.assert_array_equal(model.statistics_, dense.statistics_)


def test_what_a_search_chose_stays():
    X = table("normal-gamma")
    model = MAPDPM(alpha="map", prior="nll", random_state=0).partial_fit(X[:60])
    alpha, prior = model.alpha_, model.prior_
    model.partial_fit(X[60:])
    assert model.alpha_ == alpha
    assert all(np.array_equal(model.prior_[key], prior[key]) for key in prior)
    assert has_statistics_of(model, X, model.predict(X))


def test_parameters_may_change_between_calls(estimator):
    X = table("normal-gamma")
    model = quick(estimator).fit(X[:50])
    model.set_params(alpha=5.0, prior={"a0": 2.0, "b0": 3.0}).partial_fit(X[50:])
    assert model.alpha_ == 5.0
    np.testing.assert_array_equal(model.prior_["b0"], [3.0, 3.0])
    assert model.prior_["a0"] == 2.0
    labels = model.predict(X)
    assert has_statistics_of(model, X, labels)
    assert model.neg_log_joint_ == pytest.approx(joint_of(model, X, labels), rel=1e-9)


@needs_kernels
def test_max_clusters_holds_when_the_rows_are_gone(monkeypatch):
    monkeypatch.setattr(first_rows, "FIRST_ROWS", 100)
    rng = np.random.default_rng(0)
    X = 20.0 * rng.integers(6, size=600)[:, None] + rng.standard_normal((600, 2))
    model = learn(MAPDPM(max_clusters=3, random_state=0), X, 150)
    assert len(model.component_counts_) == 6
    assert model.n_clusters_ == 3
    halves = [MAPDPM(max_clusters=3, random_state=0).fit(half) for half in (X[:300], X[300:])]
    assert merge_models(*halves).n_clusters_ <= 3


@needs_kernels
def test_outliers_of_each_batch_are_labelled(monkeypatch):
    monkeypatch.setattr(first_rows, "FIRST_ROWS", 100)
    X, _ = planted_gaussians(400, 2, 2, random_state=0)
    model = learn(MAPDPM(outlier_level=1e-3, random_state=0), X, 200)
    model.partial_fit(np.concatenate([X[:50], [[500.0, 500.0]]]))
    assert model.labels_[-1] == -1
    assert (model.labels_[:-1] >= 0).mean() > 0.9


def test_models_of_pieces_are_models(tmp_path):
    X = np.rint(table("normal-gamma", 240) - 1e4)
    model = learn(MAPDPM(prior="paper", random_state=0), X[:200], 40)
    few = MAPDPM(prior="paper", random_state=0).partial_fit(X[:20])
    for known, name in ((model, "settled"), (few, "first rows")):
        known.save(tmp_path / f"{name}.npz")
        loaded = MAPDPM.load(tmp_path / f"{name}.npz")
        copied = pickle.loads(pickle.dumps(known))
        for other in (known, loaded, copied):
            other.partial_fit(X[200:])
        for other in (loaded, copied):
            assert other.neg_log_joint_ == known.neg_log_joint_
            np.testing.assert_array_equal(other.predict(X), known.predict(X))
    assert model.sample(5)[0].shape == (5, 2)
    assert model.score_samples(X).shape == (240,)
    dpmlite.to_micropython(model, tmp_path / "model.py")
    assert "predict" in (tmp_path / "model.py").read_text()


def test_memory_does_not_depend_on_the_rows_seen():
    X = table("normal-gamma", 2000)
    model = learn(MAPDPM(prior="paper", random_state=0), X[:400], 100)
    size = len(pickle.dumps(model))
    learn(model, X[400:], 100)
    assert len(pickle.dumps(model)) <= size + 200  # other numbers, some of them longer


def test_new_rows_must_fit_those_seen():
    X = table("normal-gamma", 30)
    model = MAPDPM(prior="paper", random_state=0).fit(X)
    with pytest.raises(ValueError, match="X has 1 features, but MAPDPM is expecting 2 features"):
        model.partial_fit(X[:, :1])
    with pytest.raises(ValueError, match="X must have variances of"):  # and no other warning
        model.partial_fit(np.full((3, 2), 1e160))
    with pytest.raises(ValueError, match="component must be that of the rows seen, 'normal-gam"):
        model.set_params(component="normal-inverse-wishart").partial_fit(X)
    model.set_params(component="normal-gamma")
    with pytest.raises(ValueError, match="allow_missing must be that of the rows seen, False, got"):
        model.set_params(allow_missing=True).partial_fit(X)
    model = MAPDPM(component="normal-known-variance", prior={"sigma2": 1.0}).fit(X)
    model.set_params(prior={"sigma2": 2.0})
    with pytest.raises(ValueError, match=r"prior sigma2 must be the same for all rows, got \[1.0"):
        model.partial_fit(X)
    before = model.n_samples_seen_
    with pytest.raises(ValueError, match="X must be finite"):
        model.set_params(prior=None).partial_fit([[np.nan, 0.0]])
    assert model.n_samples_seen_ == before


def test_weights_of_all_pieces_can_be_counted(estimator):
    X, half = table("normal-gamma", 6), np.full(6, 2.0**50)
    few = estimator(prior={"m0": 0.0, "c0": 1.0, "a0": 1.0, "b0": 1.0}).fit(X, sample_weight=half)
    message = r"sample_weight must sum to 2\*\*53 at most in all pieces, got 1\.3"
    pieces = estimator(prior=few.prior).partial_fit(X, sample_weight=half)
    for model in (few, pieces):
        labels = model.labels_.copy()
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X, sample_weight=half)
        np.testing.assert_array_equal(model.labels_, labels)
    with pytest.raises(ValueError, match=message):
        merge_models(few, few)


@needs_kernels
@pytest.mark.parametrize("size", [125, 1000])
def test_partial_fit_comes_close_to_fit(monkeypatch, size):
    monkeypatch.setattr(first_rows, "FIRST_ROWS", 1000)
    X = planted_gaussians(4000, 8, 10, random_state=0)[0]
    model = learn(MAPDPM(prior="paper", random_state=0), X, size)
    joint = dpmlite.neg_log_joint(X, model.predict(X), alpha=1.0)
    assert joint < 1.01 * MAPDPM(prior="paper", random_state=0).fit(X).neg_log_joint_


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_merged_model_is_that_of_all_rows(estimator, component):
    X = table(component)
    prior = {"sigma2": 4.0} if component == "normal-known-variance" else None
    parts = [X[:45], X[45:]]
    fitted = [quick(estimator, component=component, prior=prior).fit(part) for part in parts]
    merged = merge_models(*fitted)
    whole = quick(estimator, component=component, prior=prior).fit(X)
    assert merged.n_clusters_ == 3
    for key, value in whole.prior_.items():
        np.testing.assert_allclose(merged.prior_[key], value, rtol=1e-9)
    assert merged.neg_log_joint_ == pytest.approx(whole.neg_log_joint_, rel=1e-9)
    assert merged.neg_log_joint_ == pytest.approx(joint_of(merged, X, merged.labels_), rel=1e-9)
    assert merged.neg_log_joint_trace_[-1] < merged.neg_log_joint_trace_[0]
    assert has_statistics_of(merged, X, merged.labels_)
    np.testing.assert_array_equal(merged.predict(X), merged.labels_)
    np.testing.assert_array_equal(merged.counts_, [30, 30, 30])
    assert merged.n_samples_seen_ == 90
    merged.partial_fit(X[:10])
    assert merged.counts_.sum() == 100


def test_merging_keeps_what_differs(estimator):
    X = table("normal-gamma")
    far = X[:, 0] > 1e4 + 20.0
    one, other = (quick(estimator).fit(X[rows]) for rows in (far, ~far))
    labels = one.labels_.copy()
    merged = merge_models(one, other)
    assert merged.n_clusters_ == 3
    np.testing.assert_array_equal(one.labels_, labels)
    assert merged.neg_log_joint_ == pytest.approx(merge_models(other, one).neg_log_joint_)
    assert merge_models(one, other, one).counts_.tolist() == [60, 30, 30]
    pieces_of_it = merge_models(learn(quick(estimator), X[:75], 25), other)
    assert pieces_of_it.labels_.shape == (25 + 60,)
    assert pieces_of_it.n_samples_seen_ == 75 + 60


def test_priors_of_merged_models_may_be_any_mappings():
    X = table("normal-gamma", 30)
    one, other = (MAPDPM(prior=prior).fit(X) for prior in ({"c0": 0.1}, UserDict(c0=0.1)))
    assert merge_models(one, other).counts_.tolist() == (2 * one.counts_).tolist()
    assert merge_models(other, one).counts_.tolist() == (2 * one.counts_).tolist()
    with pytest.raises(ValueError, match="prior must be the same in all models"):
        merge_models(one, MAPDPM(prior=UserDict(c0=0.2)).fit(X))


@pytest.mark.parametrize(("one", "other"), [(None, {}), ({"b0": 2.0}, {"b0": [2.0, 2.0]})])
def test_equal_priors_of_merged_models_may_be_written_in_two_ways(one, other):
    X = table("normal-gamma", 30)
    models = [MAPDPM(prior=prior).fit(X) for prior in (one, other)]
    assert merge_models(*models).n_samples_seen_ == 60


def test_a_column_that_says_nothing_yet_takes_any_prior():
    """Without values its mean is that of the old prior, however far from the new one's."""
    X = table("normal-gamma", 40)
    first = np.column_stack([X[:, 0], np.full(40, np.nan)])
    model = MAPDPM(allow_missing=True, prior={"m0": [0.0, 0.0], "b0": 1.0}).fit(first)
    far = np.array([0.0, 1e10])
    model.set_params(prior={"m0": far, "b0": 1.0}).partial_fit(X + far)
    assert model.n_samples_seen_ == 80


def test_the_variance_of_a_piece_may_underflow():
    X = table("normal-gamma", 40)
    model = MAPDPM(prior={"b0": 1.0}).fit(1e-170 * X).set_params(prior=None).partial_fit(X)
    np.testing.assert_allclose(model.prior_["b0"], np.concatenate([0.0 * X, X]).var(axis=0))


def test_models_that_cannot_be_merged():
    X = table("normal-gamma", 30)
    model = MAPDPM(prior="paper", random_state=0).fit(X)
    with pytest.raises(NotFittedError):
        merge_models(model, MAPDPM(prior="paper"))
    with pytest.raises(TypeError, match="models must be MAPDPM, got CollapsedGibbs"):
        merge_models(model, CollapsedGibbs())
    for other, rule in (
        (
            MAPDPM(prior="paper", alpha=2.0),
            r"alpha_ must be the same in all models, got 1\.0 and 2\.0",
        ),
        (
            MAPDPM(prior="paper", component="normal-inverse-wishart"),
            "component_ must be the same in all models",
        ),
        (
            MAPDPM(prior="paper", allow_missing=True),
            "allow_missing_ must be the same in all models, got False",
        ),
        (MAPDPM(prior={"a0": 2.0}), "prior must be the same in all models, got 'paper' and {'a0'"),
    ):
        with pytest.raises(ValueError, match=rule):
            merge_models(model, other.fit(X))
    with pytest.raises(ValueError, match="n_features_in_ must be the same in all models, got 2 "):
        merge_models(model, MAPDPM(prior="paper").fit(X[:, :1]))
    for changed in ({"allow_missing": True}, {"component": "normal-inverse-wishart"}):
        other = MAPDPM(prior="paper").fit(X).set_params(**changed)
        for pair in ((model, other), (other, model)):
            with pytest.raises(ValueError, match="must be that of the rows seen"):
                merge_models(*pair)
    one, other = (
        MAPDPM(prior="paper", component="normal-known-variance").fit(X[i:]) for i in (0, 5)
    )
    with pytest.raises(ValueError, match="prior sigma2 must be the same for all rows, got"):
        merge_models(one, other)


@pytest.mark.parametrize(
    ("component", "given", "unit"),
    [
        ("normal-gamma", {"b0": 1.0}, 8e8),
        ("normal-known-variance", {"sigma2": 1.0, "tau2": 100.0}, 6e3),
        ("normal-inverse-wishart", {"psi0": np.eye(2)}, 1.2e4),
    ],
)
def test_rows_of_different_pieces_may_be_too_far_apart(component, given, unit):
    """`fit` refuses them together: from the prior of all, kernels would not see so far."""
    near = np.random.default_rng(0).normal(size=(40, 2))
    models = [
        quick(MAPDPM, component=component, prior=given).fit(near + start)
        for start in (0.0, 0.9 * unit, 1.8 * unit)
    ]
    assert merge_models(*models[:2]).n_clusters_ == 2
    with pytest.raises(ValueError, match=r"X must lie within .* of m0"):
        merge_models(*models)
    model = models[0].partial_fit(near + 0.9 * unit)
    with pytest.raises(ValueError, match=r"X must lie within .* of m0"):
        model.partial_fit(np.repeat(near + 1.8 * unit, 9, axis=0))
    assert model.predict(near).tolist() == [0] * 40
    assert model.n_samples_seen_ == 80


def test_names_of_columns_must_be_the_same():
    pd = pytest.importorskip("pandas")
    X = table("normal-gamma", 30)
    one = MAPDPM(prior="paper").fit(pd.DataFrame(X, columns=["a", "b"]))
    other = MAPDPM(prior="paper").fit(pd.DataFrame(X, columns=["a", "c"]))
    with pytest.raises(ValueError, match="models must be of the same columns, got"):
        merge_models(one, other)
    assert merge_models(one, one).feature_names_in_.tolist() == ["a", "b"]


def test_moments_of_two_tables_are_those_of_both():
    X = table("normal-gamma", 50)
    model = learn(MAPDPM(prior="paper"), X, 13)
    prior = empirical_prior(X)
    np.testing.assert_allclose(model.moments_["mean"], prior["m0"], rtol=1e-15)
    np.testing.assert_allclose(model.moments_["variance"], prior["b0"], rtol=1e-10)
    assert (model.moments_["n_rows"], model.moments_["weight"]) == (50, 50.0)


WEIGHTS = {
    "all light": lambda rng, n: np.full(n, 0.01),
    "all heavy": lambda rng, n: np.full(n, 100.0),
    "uniform": lambda rng, n: rng.uniform(0.0, 3.0, n),
    "log-normal": lambda rng, n: np.exp(rng.normal(size=n)),
}


@needs_kernels
@pytest.mark.parametrize("kind", WEIGHTS)
def test_new_rows_of_any_weight_join_the_clusters_that_there_are(kind):
    rng = np.random.default_rng(0)
    states = rng.integers(3, size=6000)
    X = rng.normal(size=(6000, 3)) + 9.0 * np.eye(3)[states]
    weights = WEIGHTS[kind](rng, 6000)
    model = MAPDPM(random_state=0).fit(X[:5000], sample_weight=weights[:5000])
    model.partial_fit(X[5000:], sample_weight=weights[5000:])
    assert model.n_clusters_ == 3
    assert model.alpha_ == 1.0
    assert adjusted_rand_score(states[5000:], model.labels_) > 0.99
