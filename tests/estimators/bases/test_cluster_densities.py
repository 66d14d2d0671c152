"""Log densities of rows in each cluster, which `transform` returns."""

import numpy as np
import pandas as pd
import pytest
from cases import blobs

from dpmlite import MAPDPM, BayesianHierarchicalClustering, CollapsedGibbs, DPSearch, NotFittedError
from dpmlite.datasets import load_sensors

X = blobs(n_rows=60, n_clusters=3, seed=1)[0]


RNG = np.random.default_rng(0)
SIDES = np.repeat([0, 1], 20)
TABLES = {
    "normal-gamma": X,
    "normal-inverse-wishart": X,
    "normal-known-variance": X,
    "dirichlet-multinomial": RNG.poisson(np.array([[9.0, 1.0, 1.0], [1.0, 1.0, 9.0]])[SIDES]),
    "beta-bernoulli": (RNG.random((40, 6)) < np.array([0.1, 0.9])[SIDES, None]).astype(int),
    "poisson-gamma": RNG.poisson(np.array([2.0, 40.0])[SIDES, None], (40, 2)),
    "categorical": np.where(RNG.random((40, 6)) < 0.9, SIDES[:, None], 1 - SIDES[:, None]),
}


@pytest.mark.parametrize("component", TABLES)
def test_bayes_rule_makes_probabilities_of_densities(component):
    rows = TABLES[component]
    model = MAPDPM(component=component, prior="paper", random_state=0).fit(rows)
    weights = len(rows) * model.weights_
    joint = np.log(weights / (len(rows) + model.alpha_)) + model.transform(rows)
    found = np.exp(joint - model.score_samples(rows)[:, None])
    np.testing.assert_allclose(found, model.predict_proba(rows), rtol=1e-9, atol=1e-12)


def test_a_cluster_of_several_components_has_the_density_of_their_mixture():
    rows = np.random.default_rng(0).exponential(size=(400, 1)) * [[1.0, 0.0]] + blobs(400)[0] * 0.1
    model = MAPDPM(prior="paper", join=True, random_state=0).fit(rows)
    assert len(model.cluster_of_component_) > model.n_clusters_
    densities = model.transform(rows)
    apart = MAPDPM(prior="paper", init=model.component_labels_, max_sweeps=1, split_merge=False)
    parts = apart.fit(rows).transform(rows)
    assert apart.n_clusters_ == len(model.cluster_of_component_)
    for k in range(model.n_clusters_):
        members = np.flatnonzero(model.cluster_of_component_ == k)
        shares = apart.weights_[members] / apart.weights_[members].sum()
        mixture = np.log(np.exp(parts[:, members]) @ shares)
        np.testing.assert_allclose(densities[:, k], mixture, rtol=1e-9)


def test_a_far_row_has_finite_densities():
    model = MAPDPM(prior="paper", random_state=0).fit(X)
    far = model.transform([[1e6, -1e6]])
    assert np.isfinite(far).all()
    assert far.max() < model.transform(X).min()


@pytest.mark.parametrize(
    "estimator",
    [
        MAPDPM(random_state=0),
        CollapsedGibbs(n_samples=5, random_state=0),
        DPSearch(random_state=0),
        BayesianHierarchicalClustering(random_state=0),
    ],
)
def test_every_mixture_transforms(estimator):
    found = estimator.fit_transform(X)
    assert found.shape == (60, estimator.n_clusters_)
    np.testing.assert_array_equal(found, estimator.transform(X))
    names = [f"{type(estimator).__name__.lower()}{k}" for k in range(estimator.n_clusters_)]
    assert estimator.get_feature_names_out().tolist() == names
    own = found[np.arange(60), estimator.labels_]
    assert np.mean(own == found.max(axis=1)) > 0.9


def test_densities_are_in_the_units_of_the_table():
    rows = load_sensors()[0]
    model = MAPDPM(random_state=0).fit(rows)  # a mixed table: the vibration is log-normal
    assert isinstance(model.component_, dict)
    weights = model.weights_
    mixture = np.log(np.exp(model.transform(rows)) @ weights)
    np.testing.assert_allclose(mixture, model.score_samples(rows), atol=0.02)


def test_set_output_makes_data_frames_of_densities():
    pl = pytest.importorskip("polars")
    model = MAPDPM(prior="paper", random_state=0)
    plain = model.fit_transform(X)
    frame = pd.DataFrame(X, columns=["a", "b"], index=range(100, 160))
    found = model.set_output(transform="pandas").fit_transform(frame)
    pd.testing.assert_frame_equal(
        found, pd.DataFrame(plain, frame.index, model.get_feature_names_out())
    )
    found = model.set_output(transform="polars").fit_transform(pl.DataFrame(frame))
    assert isinstance(found, pl.DataFrame)
    assert found.columns == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(found.to_numpy(), plain)


def test_transform_before_fit_is_an_error():
    with pytest.raises(NotFittedError, match="this MAPDPM is not fitted yet"):
        MAPDPM().transform(X)
    with pytest.raises(NotFittedError, match="this MAPDPM is not fitted yet"):
        MAPDPM().get_feature_names_out()
