"""The default model of `MAPDPM` in the other estimators with a family."""

import naive
import numpy as np
import pytest
from cases import needs_kernels

from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    CollapsedGibbs,
    DPSearch,
    VariationalDPM,
    neg_log_joint,
)

pytestmark = needs_kernels

MAKE = {
    "trees": BayesianHierarchicalClustering,
    "trees in clusters": lambda **given: BayesianHierarchicalClustering(
        approximate="map-dpm", **given
    ),
    "search": DPSearch,
    "samples": lambda **given: CollapsedGibbs(n_samples=10, **given),
    "variational": VariationalDPM,
}


@pytest.fixture(params=MAKE)
def make(request):
    return MAKE[request.param]


@pytest.fixture(params=["trees", "search", "samples"])
def make_partition(request):
    return MAKE[request.param]


def six_groups(seed=0, n_each=20):
    """Round groups of unit variance, whose centres are ten apart on a circle."""
    rng = np.random.default_rng(seed)
    angles = np.arange(6) * np.pi / 3.0
    truth = np.repeat(np.arange(6), n_each)
    centres = 10.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    return centres[truth] + rng.normal(size=(len(truth), 2)), truth


def stripes(seed=0, n_each=60):
    """Three groups of strongly correlated columns."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(3 * n_each, 2)) @ [[3.0, 2.9], [0.0, 0.3]]
    return rows + np.repeat([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]], n_each, axis=0)


def assert_same_model(model, other):
    assert model.component_ == other.component_
    assert model.prior_.keys() == other.prior_.keys()
    for key, value in model.prior_.items():
        np.testing.assert_array_equal(value, other.prior_[key])


@pytest.mark.parametrize("seed", range(6))
def test_trees_find_six_clear_groups(seed):
    X, truth = six_groups(seed)
    model = BayesianHierarchicalClustering().fit(X)
    assert naive.canonical(model.labels_) == naive.canonical(truth)
    assert BayesianHierarchicalClustering(prior="paper").fit(X).n_clusters_ < 6


def test_all_find_six_clear_groups(make):
    X, truth = six_groups()
    labels = make(random_state=0).fit(X).labels_
    assert naive.canonical(labels) == naive.canonical(truth)


@pytest.mark.parametrize("alpha", [0.3, 1.0])
def test_the_model_is_that_of_map_dpm(make, alpha):
    X, _ = six_groups(n_each=15)
    given = {"component": "normal-gamma", "alpha": alpha, "random_state": 3}  # the others tie
    assert_same_model(make(**given).fit(X), MAPDPM(**given).fit(X))


def test_full_covariances_where_the_joint_prefers_them(make):
    X = stripes()
    model = make(random_state=0).fit(X)
    assert model.component_ == "normal-inverse-wishart"
    assert_same_model(model, MAPDPM(random_state=0).fit(X))


@pytest.mark.parametrize(
    "model",
    [
        DPSearch(beam=1, refine=False, random_state=5),
        VariationalDPM(init="random", n_components=6, max_iter=3, random_state=5),
        CollapsedGibbs(init="single", n_samples=1, burn_in=0, random_state=5),
    ],
)
def test_many_rows_choose_on_the_sample_and_with_the_power_of_map_dpm(model):
    X, _ = six_groups(n_each=600)
    family = {"component": "normal-gamma"}
    model.set_params(**family).fit(X)
    assert_same_model(model, MAPDPM(random_state=5, **family).fit(X))


def test_rows_count_whole(make_partition):
    X, _ = six_groups(n_each=15)
    model = make_partition(random_state=0).fit(X)
    known = {"component": model.component_, "prior": model.prior_, "alpha": 1.0}
    joint = neg_log_joint(X, model.labels_, **known)
    assert model.neg_log_joint_ == pytest.approx(joint, rel=1e-12)


def test_equal_values_are_spread(make):
    """Under the paper's prior the search makes clusters of the values."""
    X = np.random.default_rng(0).integers(6, size=(300, 1)).astype(float)
    assert make(random_state=0).fit(X).n_clusters_ == 1
    assert DPSearch(prior="paper", random_state=0).fit(X).n_clusters_ > 1


@pytest.mark.parametrize(("scale", "shift"), [(2.0**-12, 0.0), (1000.0, 0.0), (1.0, 64.0)])
def test_units_and_origin_change_no_label(make, scale, shift):
    X, _ = six_groups(seed=1, n_each=12)
    labels = make(random_state=0).fit(X).labels_
    np.testing.assert_array_equal(make(random_state=0).fit(scale * X + shift).labels_, labels)


def test_results_depend_on_the_seed_alone(make):
    X, _ = six_groups(n_each=500)
    X = X[::3]
    one, other = (make(random_state=7) for _ in range(2))
    np.testing.assert_array_equal(one.fit(X[:300]).labels_, other.fit(X[:300]).labels_)
    assert_same_model(one, other)


@pytest.mark.parametrize("X", [six_groups(n_each=10)[0], stripes(n_each=30)])
def test_a_saved_model_is_the_same(make_partition, X, tmp_path):
    model = make_partition(random_state=0).fit(X)
    model.save(tmp_path / "model.npz")
    loaded = type(model).load(tmp_path / "model.npz")
    assert_same_model(loaded, model)
    assert loaded.get_params()["prior"] == loaded.get_params()["component"] == "auto"
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
    assert (model.predict(X) == model.labels_).mean() > 0.95
    assert model.predict_proba(X).shape == (len(X), model.n_clusters_)


@pytest.mark.parametrize(
    ("prior", "component"),
    [
        ({"m0": 0.0, "c0": 0.1}, "normal-gamma"),
        ({"nu0": 5.0}, "normal-inverse-wishart"),
        ({"sigma2": 0.5}, "normal-known-variance"),
        ({"beta0": 0.5}, "dirichlet-multinomial"),
    ],
)
def test_a_dict_chooses_the_family_by_its_keys(make, prior, component):
    X = np.random.default_rng(0).integers(9, size=(12, 2)).astype(float)
    chosen = make(prior=prior, random_state=0).fit(X)
    given = make(prior=prior, component=component, random_state=0).fit(X)
    assert chosen.component_ == component
    assert_same_model(chosen, given)
    np.testing.assert_array_equal(chosen.labels_, given.labels_)


def test_bounds_of_a_family_that_the_keys_choose():
    prior = {"m0": 0.0, "sigma2": 0.1, "tau2": 10.0}
    model = DPSearch(prior=prior, scoring="tight", beam=None).fit([[0.0], [0.2], [7.0]])
    assert model.certified_
    assert model.labels_.tolist() == [0, 0, 1]


def test_none_is_the_paper(make):
    X, _ = six_groups(n_each=10)
    one, other = (make(prior=prior, random_state=0).fit(X) for prior in (None, "paper"))
    assert_same_model(one, other)
    assert_same_model(one, MAPDPM(prior="paper", random_state=0).fit(X))
    np.testing.assert_array_equal(one.labels_, other.labels_)


@pytest.mark.parametrize("component", ["dirichlet-multinomial", "beta-bernoulli"])
def test_families_that_fit_no_prior_keep_the_papers(make, component):
    X = np.random.default_rng(0).integers(2, size=(30, 4)).astype(float)
    one, other = (
        make(component=component, prior=prior, random_state=0).fit(X) for prior in ("auto", "paper")
    )
    assert_same_model(one, other)
    np.testing.assert_array_equal(one.labels_, other.labels_)


def test_weights_choose_the_model_that_mapdpm_chooses(make):
    X, truth = six_groups(n_each=15)
    weights = np.random.default_rng(0).uniform(0.5, 3.0, size=len(X))
    given = {"component": "normal-gamma", "random_state": 0}
    model = make(**given).fit(X, sample_weight=weights)
    assert naive.canonical(model.labels_) == naive.canonical(truth)
    assert_same_model(model, MAPDPM(**given).fit(X, sample_weight=weights))


def test_light_rows_are_no_clusters_of_their_own(make):
    """Weights of 0.1 under the paper's prior make every row a cluster."""
    X, truth = six_groups(n_each=60)
    model = make(random_state=0).fit(X, sample_weight=np.full(len(X), 0.1))
    assert naive.canonical(model.labels_) == naive.canonical(truth)


@pytest.mark.parametrize("name", ["trees", "trees in clusters", "search", "variational"])
def test_rows_without_weight_only_get_a_label(name):
    X, truth = six_groups(n_each=15)
    weights = np.ones(len(X))
    weights[::7] = 0.0
    model = MAKE[name](random_state=0).fit(X, sample_weight=weights)
    assert naive.canonical(model.labels_) == naive.canonical(truth)
    used = weights > 0.0
    assert_same_model(model, MAKE[name](random_state=0).fit(X[used]))


def test_a_constant_column(make):
    X, truth = six_groups(n_each=15)
    X = np.column_stack([X, np.full(len(X), 3.0)])
    with pytest.warns(UserWarning, match="constant, column 2 first"):
        model = make(random_state=0).fit(X)
    assert naive.canonical(model.labels_) == naive.canonical(truth)


def test_missing_cells(make_partition):
    X, truth = six_groups(n_each=15)
    X[::9, 0] = np.nan
    model = make_partition(allow_missing=True, random_state=0).fit(X)
    assert model.component_ == "normal-gamma"
    known = ~np.isnan(X).any(axis=1)
    assert naive.canonical(model.labels_[known]) == naive.canonical(truth[known])


@pytest.mark.parametrize("n_rows", [1, 2])
@pytest.mark.filterwarnings("ignore:.* of X are constant")
def test_few_rows(make, n_rows):
    model = make(random_state=0).fit(np.arange(2.0 * n_rows).reshape(n_rows, 2))
    assert model.labels_[0] == 0


@pytest.mark.parametrize("name", ["search", "samples", "variational"])
def test_the_names_of_priors(name):
    message = "prior must be a dict, None or one of 'auto', 'paper', got 'nll'"
    with pytest.raises(ValueError, match=message):
        MAKE[name](prior="nll").fit([[0.0], [1.0]])
