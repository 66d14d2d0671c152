"""scikit-learn's tools take MAPDPM as one of their own, though dpmlite never imports it."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from cases import PURE, blobs, needs_kernels

from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPMeans,
    DPSearch,
    VariationalDPM,
)

sklearn = pytest.importorskip("sklearn")

from sklearn import config_context  # noqa: E402
from sklearn.base import clone, is_clusterer  # noqa: E402
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import estimator_checks_generator  # noqa: E402

# Clusters of equal weight are numbered in the order in which they appear; this check shuffles the
# rows. test_sample_weight.py tests that the partitions are the same. CollapsedGibbs refuses the
# check's weights of 0.
ORDER_MATTERS = "check_sample_weight_equivalence_on_dense_data"

# The default start takes minutes on the plain twins; MAPDPM itself is checked with it.
START = "sequential" if PURE else "auto"

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # that MAPDPM is no BaseEstimator is what is tested
    CHECKS = [
        (estimator, check)
        for estimator in (
            MAPDPM(prior="paper"),
            MAPDPM(prior="paper", split_merge=False, init="single"),
            MAPDPM(prior="paper", allow_missing=True, init=START),
            MAPDPM(prior="paper", component="normal-inverse-wishart", init=START),
            MAPDPM(prior="paper", component="normal-known-variance", init=START),
            CollapsedGibbs(prior="paper", n_samples=5),
            BayesianHierarchicalClustering(prior="paper", alternative_trees=True),
            BayesianHierarchicalClustering(
                prior="paper", approximate="bayes-kmeans", random_state=0
            ),
            DPSearch(prior="paper"),
            DPMeans(n_clusters=3),
            VariationalDPM(prior="paper", init="random", max_iter=20),
            VariationalDPM(prior="paper", method="collapsed-dirichlet", init="random", max_iter=20),
        )
        for estimator, check in estimator_checks_generator(estimator)
        if check.func.__name__ != ORDER_MATTERS
    ]


@pytest.mark.filterwarnings("ignore")  # the checks pass odd data on purpose
@pytest.mark.parametrize(
    ("estimator", "check"), CHECKS, ids=[f"{e}-{c.func.__name__}" for e, c in CHECKS]
)
def test_estimator_checks(estimator, check):
    check(estimator)


def test_a_pipeline_finds_the_labels_of_the_estimator():
    X, _ = blobs()
    pipeline = make_pipeline(StandardScaler(), MAPDPM(prior="paper", random_state=0))
    np.testing.assert_array_equal(
        pipeline.fit_predict(X), MAPDPM(prior="paper", random_state=0).fit(X).labels_
    )
    assert pipeline.predict(X).shape == (60,)


@needs_kernels
def test_grid_search_by_held_out_density():
    X, _ = blobs(n_rows=90)
    grid = GridSearchCV(MAPDPM(prior="paper", random_state=0), {"alpha": [0.1, 1.0, 10.0]}, cv=3)
    grid.fit(X)
    scores = grid.cv_results_["mean_test_score"]
    assert len(set(scores)) == 3
    assert grid.best_score_ == max(scores)
    assert grid.best_estimator_.score(X) > MAPDPM(
        prior="paper", init="single", split_merge=False
    ).fit(X).score(X)


@needs_kernels
def test_weights_are_routed_where_they_were_asked_for():
    X, _ = blobs(n_rows=90)
    weights = np.where(np.arange(90) < 30, 5.0, 1.0)
    grid = {"alpha": [0.1, 10.0]}
    plain = GridSearchCV(MAPDPM(prior="paper", random_state=0), grid, cv=3).fit(
        X, sample_weight=weights
    )
    with config_context(enable_metadata_routing=True):
        model = MAPDPM(prior="paper", random_state=0)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            GridSearchCV(model, grid, cv=3).fit(X, sample_weight=weights)
        fits = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        assert fits is model
        routed = GridSearchCV(model, grid, cv=3).fit(X, sample_weight=weights)
        named = clone(model).set_fit_request(sample_weight="mass")
        pipeline = make_pipeline(StandardScaler(), named).fit(X, mass=weights)
    np.testing.assert_array_equal(
        routed.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    alone = MAPDPM(prior="paper", random_state=0).fit(
        StandardScaler().fit_transform(X), sample_weight=weights
    )
    assert pipeline[-1].neg_log_joint_ == alone.neg_log_joint_
    request = (
        MAPDPM(prior="paper").set_partial_fit_request(sample_weight=True).get_metadata_routing()
    )
    assert request.partial_fit.requests == {"sample_weight": True}


def test_clone_and_tags():
    model = MAPDPM(prior="paper", alpha=3.0, init="single")
    assert clone(model).get_params() == model.get_params()
    assert is_clusterer(model)
    with pytest.raises(NotFittedError) as caught:
        model.predict([[0.0]])
    again = pickle.loads(pickle.dumps(caught.value))  # from another process
    assert isinstance(again, NotFittedError)
    assert str(again) == str(caught.value)


def test_a_frame_of_distances_keeps_the_index():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [0.0, 0.1, 9.0], "b": [1.0, 1.1, 9.0]}, index=[5, 3, 4])
    model = DPMeans(n_clusters=2, random_state=0)
    plain = model.fit_transform(frame)
    piped = make_pipeline(StandardScaler(), model).set_output(transform="pandas")
    found = piped.fit_transform(frame)
    assert found.index.tolist() == [5, 3, 4]
    assert found.columns.tolist() == ["dpmeans0", "dpmeans1"]
    again = clone(model).fit(frame)  # keeps it, as those of scikit-learn do
    pd.testing.assert_frame_equal(
        again.transform(frame), pd.DataFrame(plain, frame.index, found.columns)
    )
    assert again.fit(frame.to_numpy()).transform([[0.0, 1.0]]).index.tolist() == [0]
    with config_context(transform_output="pandas"):
        assert isinstance(DPMeans(n_clusters=2).fit_transform(frame), pd.DataFrame)
        default = DPMeans(n_clusters=2).set_output(transform="default")
        assert isinstance(default.fit_transform(frame), np.ndarray)
    again.set_output().set_output(transform="default")
    assert isinstance(again.transform([[0.0, 1.0]]), np.ndarray)
    with pytest.raises(
        ValueError, match="transform must be one of 'default', 'pandas', 'polars', got 'list'"
    ):
        again.set_output(transform="list")


def test_a_subclass_may_pass_other_arguments_on():
    class Named(MAPDPM):
        def __init__(self, name="a", **others):
            super().__init__(**others)
            self.name = name

    assert Named().get_params() == {"name": "a"}
    assert clone(Named("b")).name == "b"
    assert repr(Named("b")) == "Named(name='b')"
    assert Named(alpha=2.0).fit([[0.0], [9.0]]).alpha_ == 2.0


def test_tags_say_what_a_family_takes():
    counts = MAPDPM(prior="paper", component="dirichlet-multinomial").__sklearn_tags__().input_tags
    assert (counts.sparse, counts.positive_only, counts.allow_nan) == (True, True, False)
    reals = CollapsedGibbs(allow_missing=True).__sklearn_tags__().input_tags
    assert (reals.sparse, reals.positive_only, reals.allow_nan) == (False, False, True)
    assert (
        MAPDPM(prior="paper", component="unknown").__sklearn_tags__().estimator_type == "clusterer"
    )


def test_column_names_of_a_data_frame():
    pd = pytest.importorskip("pandas")
    X, _ = blobs()
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = MAPDPM(prior="paper", random_state=0).fit(frame)
    assert model.feature_names_in_.tolist() == ["width", "height"]
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)
    with pytest.raises(ValueError, match="should match those that were passed during fit"):
        model.predict(frame[["height", "width"]])
    unnamed = model.fit(X)
    assert not hasattr(unnamed, "feature_names_in_")
    for method in (unnamed.predict, unnamed.predict_proba, unnamed.score):
        with pytest.warns(UserWarning, match="X has feature names") as caught:
            method(frame)
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    "estimator", [MAPDPM(prior="paper"), DPSearch(), VariationalDPM(random_state=0)]
)
def test_a_prior_by_name_is_in_the_order_of_the_columns(estimator):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [0.0, 1.0, 9.0], "b": [100.0, 300.0, 200.0]})
    variances = frame.var(axis=0)
    model = clone(estimator).set_params(prior={"b0": variances}).fit(frame)
    assert model.prior_["b0"].tolist() == variances.tolist()
    model.fit(frame.to_numpy())
    model.set_params(prior={"b0": variances[["b", "a"]]})
    message = r"prior b0 must be of the columns \['a', 'b'\] in this order, got \['b', 'a'\]"
    with pytest.raises(ValueError, match=message):
        model.fit(frame)
    model.set_params(prior={"b0": pd.Series([1.0, 2.0])}).fit(frame)  # without names


def test_names_of_columns_do_not_make_a_table_sparse():
    pd = pytest.importorskip("pandas")
    X = np.eye(3)
    for names in (["data", "indices", "indptr"], ["tocsr", "shape", "nnz"]):
        frame = pd.DataFrame(X, columns=names)
        model = MAPDPM(prior="paper", component="beta-bernoulli", random_state=0).fit(frame)
        assert model.feature_names_in_.tolist() == names
        joint = (
            MAPDPM(prior="paper", component="beta-bernoulli", random_state=0).fit(X).neg_log_joint_
        )
        assert model.neg_log_joint_ == joint


def test_scikit_learn_is_not_imported(tmp_path):
    code = (
        "import sys, numpy as np\n"
        "from dpmlite import MAPDPM\n"
        "MAPDPM(prior='paper', random_state=0).fit(np.eye(4)).predict(np.eye(4))\n"
        "assert 'sklearn' not in sys.modules and 'scipy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
