"""BayesianHierarchicalClustering as people call it; and the exact evidence beside it."""

import naive
import numpy as np
import pytest
import trees
from cases import blobs

from dpmlite import (
    MAPDPM,
    BayesianHierarchicalClustering,
    NotFittedError,
    exact_posterior,
    log_evidence_exact,
    neg_log_joint,
)

hierarchy = pytest.importorskip("scipy.cluster.hierarchy")

pytestmark = pytest.mark.usefixtures("estimator")  # on both implementations

PRIOR = {"m0": 0.0, "c0": 0.05, "a0": 1.0, "b0": 1.0}


def fitted(X, **parameters):
    given = {"prior": PRIOR, "approximate": None, **parameters}
    return BayesianHierarchicalClustering(**given).fit(X)


@pytest.mark.parametrize("alternative_trees", [False, True])
def test_far_groups_are_merged_where_numpy_raises_all(alternative_trees):
    """One minus the probability of their merge is less than a double can hold."""
    X = np.concatenate([blobs(20, 2, 1)[0] + shift for shift in (0.0, 100.0)])
    prior = {"m0": 0.0, "sigma2": 1.0, "tau2": 100.0}
    model = BayesianHierarchicalClustering(
        component="normal-known-variance", prior=prior, alternative_trees=alternative_trees
    )
    with np.errstate(all="raise"):
        model.fit(X)
    assert model.log_odds_.min() < -750.0
    assert model.log_odds_.max() > 0.0


def test_iris_has_two_clusters_by_the_papers_and_three_by_default():
    """A known implementation that numbers nodes wrongly finds 18."""
    sklearn = pytest.importorskip("sklearn.datasets")
    X, species = sklearn.load_iris(return_X_y=True)
    assert BayesianHierarchicalClustering(random_state=0).fit(X).n_clusters_ == 3
    model = BayesianHierarchicalClustering(prior="paper", approximate=None).fit(X)
    assert model.n_clusters_ == 2
    assert len(set(zip(model.labels_, species == 0, strict=True))) == 2
    joint = neg_log_joint(X, model.labels_, alpha=1.0)
    assert model.neg_log_joint_ == pytest.approx(joint)
    assert -joint < model.log_evidence_bound_ < -joint + 1.0


@pytest.mark.parametrize("seed", range(2))
def test_the_default_finds_plain_groups(seed):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(6), 50)
    X = rng.normal(0.0, 8.0, (6, 4))[groups] + rng.normal(size=(300, 4))
    labels = BayesianHierarchicalClustering(random_state=0).fit(X).labels_
    assert len(set(zip(groups, labels, strict=True))) == len(set(labels)) == 6


def test_the_tree_is_scikit_learns_and_scipys():
    X, _ = blobs(n_rows=40, n_clusters=4)
    model = fitted(X)
    assert model.n_leaves_ == 40
    assert model.leaves_.tolist() == list(range(40))
    assert sorted(model.children_.ravel()) == list(range(78))
    assert (model.children_.max(axis=1) < 40 + np.arange(39)).all()
    assert hierarchy.is_valid_linkage(model.linkage_)
    sizes = [len(block) for block in trees.blocks_of(model.children_.tolist(), 40)[40:]]
    assert model.linkage_[:, 3].tolist() == sizes == model.node_counts_[40:].tolist()
    drawn = hierarchy.dendrogram(model.linkage_, no_plot=True)
    assert sorted(drawn["leaves"]) == list(range(40))
    np.testing.assert_allclose(model.log_r_, -np.log1p(np.exp(-model.log_odds_)), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_clusters_are_what_scipy_cuts_at_one_half(seed):
    X, _ = blobs(n_rows=40, n_clusters=8, seed=seed)
    model = fitted(X, alpha=3.0)
    cut = hierarchy.fcluster(model.linkage_, np.log(2.0), criterion="distance")
    assert naive.canonical(cut) == naive.canonical(model.labels_)
    assert 1 < model.n_clusters_ == model.labels_.max() + 1
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()


@pytest.mark.parametrize("component", ["normal-gamma", "beta-bernoulli", "dirichlet-multinomial"])
def test_bounds_lie_below_the_exact_evidence(component):
    X = np.random.default_rng(0).integers(2, size=(7, 3)).astype(float)
    model = BayesianHierarchicalClustering(
        component=component, prior="paper", alternative_trees=True
    ).fit(X)
    exact = log_evidence_exact(X, alpha=1.0, component=component)
    assert exact == exact_posterior(X, alpha=1.0, component=component).log_evidence
    assert model.log_evidence_bound_ < model.log_evidence_bound_alternative_ < exact
    three = BayesianHierarchicalClustering(
        component=component, prior="paper", alternative_trees=True
    ).fit(X[:3])
    exact = log_evidence_exact(X[:3], alpha=1.0, component=component)
    assert three.log_evidence_bound_alternative_ == pytest.approx(exact, rel=1e-9)


def test_the_approximation_is_eq_7():
    X, _ = blobs(n_rows=9)
    prior = {
        key: np.full(2, value) if key in ("m0", "b0") else value for key, value in PRIOR.items()
    }
    _, _, (log_p, _) = trees.definition(X, lambda rows: naive.log_marginal(rows, prior), 1.0)
    assert fitted(X).log_evidence_approximation_ == pytest.approx(log_p, rel=1e-9)


def test_scales_of_the_prior_are_chosen_by_the_bound():
    X, _ = blobs(n_rows=60, n_clusters=5, seed=1)
    default = BayesianHierarchicalClustering(prior="paper").fit(X)
    chosen = BayesianHierarchicalClustering(prior="nll", random_state=0).fit(X)
    assert chosen.log_evidence_bound_ > default.log_evidence_bound_ + 10.0
    assert (chosen.prior_["b0"] < default.prior_["b0"] / 4).all()
    assert default.n_clusters_ < chosen.n_clusters_ == 5
    same = BayesianHierarchicalClustering(prior=chosen.prior_).fit(X)
    assert same.log_evidence_bound_ == chosen.log_evidence_bound_


def test_alternative_trees_start_from_a_node():
    X, _ = blobs(n_rows=12)
    every, some = fitted(X, alternative_trees=True), fitted(X, alternative_trees=20)
    assert (some.log_increments_[:8] == -np.inf).all()
    np.testing.assert_array_equal(some.log_increments_[8:], every.log_increments_[8:])
    assert (
        every.log_evidence_bound_
        < some.log_evidence_bound_alternative_
        < every.log_evidence_bound_alternative_
    )
    assert not hasattr(every.set_params(alternative_trees=False).fit(X), "log_increments_")


def test_alternative_clusterings_are_those_that_add_most():
    """Figure 2 of the paper: which of three equidistant groups belong together is uncertain."""
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    X = (3.0 * corners[:, None] + 0.25 * corners).reshape(9, 2)
    prior = {"m0": X.mean(axis=0), "c0": 0.1, "a0": 1.0, "b0": 1.0}
    model = fitted(X, prior=prior, alternative_trees=True)
    assert sorted(model.log_increments_[-1]) == sorted(model.log_increments_.ravel())[-2:]
    first, second, third = model.alternative_clusterings(3)
    assert first.node == second.node == 16
    assert first.log_increment >= second.log_increment >= third.log_increment
    groups = set()
    for found in (first, second):
        assert len(set(found.labels)) == 2
        assert all(len(set(found.labels[i : i + 3])) == 1 for i in (0, 3, 6))
        groups.add(tuple(naive.canonical(found.labels)))
        assert sorted(found.children.ravel()) == list(range(16))
        joined = trees.blocks_of(found.children.tolist(), 9)
        assert frozenset(np.flatnonzero(found.labels == 0)) in joined
        assert joined[-1] == frozenset(range(9))
    assert len(groups) == 2
    with pytest.raises(ValueError, match="alternative_trees must be True or a node in fit"):
        fitted(X).alternative_clusterings()


def test_the_density_integrates_to_one():
    X = np.array([[0.0], [0.3], [5.0], [5.5], [6.0]])
    angle = (np.arange(2000) + 0.5) / 2000 * np.pi - 0.5 * np.pi  # the whole line, by x = 4 tan
    model = fitted(X, alpha=2.0)
    density = np.exp(model.score_samples(4.0 * np.tan(angle)[:, None]))
    total = (density * 4.0 / np.cos(angle) ** 2).sum() * np.pi / 2000
    assert total == pytest.approx(1.0, abs=1e-6)
    assert model.score(X) > model.score(X + 40.0)


def test_bayes_kmeans_leaves_are_clusters():
    X, _ = blobs(n_rows=80, n_clusters=4, seed=2)
    model = fitted(X, approximate="bayes-kmeans", random_state=0, alternative_trees=True)
    m = model.n_leaves_
    assert 1 < m < 40
    assert sorted(set(model.leaves_)) == list(range(m))
    assert model.children_.shape == (m - 1, 2)
    assert model.node_counts_[:m].tolist() == np.bincount(model.leaves_).tolist()
    for k in range(model.n_clusters_):  # clusters are unions of leaves
        inside = np.unique(model.leaves_[model.labels_ == k])
        assert np.isin(model.leaves_[model.labels_ != k], inside).sum() == 0
    assert model.log_evidence_bound_ >= -model.neg_log_joint_
    assert model.score_samples(X).shape == model.predict(X).shape == (80,)
    again = fitted(X, approximate="bayes-kmeans", random_state=0)
    np.testing.assert_array_equal(again.labels_, model.labels_)


def test_trees_within_the_clusters_of_map_dpm():
    X, _ = blobs(n_rows=30, n_clusters=4, seed=2)
    weights = np.ones(30)
    weights[4] = 0.0
    model = BayesianHierarchicalClustering(
        prior=PRIOR, approximate="map-dpm", random_state=0, alternative_trees=True
    ).fit(X, sample_weight=weights)
    best = MAPDPM(prior=PRIOR, random_state=np.random.default_rng(0)).fit(X, sample_weight=weights)
    assert model.n_leaves_ == 29
    assert (model.children_.max(axis=1) < 29 + np.arange(28)).all()
    sizes = [len(block) for block in trees.blocks_of(model.children_.tolist(), 29)]
    assert model.node_counts_.tolist() == sizes
    assert model.linkage_[:, 3].tolist() == sizes[29:]
    blocks = trees.blocks_of(model.children_.tolist(), 29)
    for k in range(best.n_clusters_):
        assert frozenset(model.leaves_[(best.labels_ == k) & (weights > 0.0)]) in blocks
    assert -best.neg_log_joint_ < model.log_evidence_bound_ < model.log_evidence_bound_alternative_


@pytest.mark.parametrize("approximate", [None, "map-dpm"])
def test_bounds_are_sums_over_partitions_whatever_the_tree(approximate):
    X, _ = blobs(n_rows=9, n_clusters=3, seed=4)
    prior = {
        key: np.full(2, value) if key in ("m0", "b0") else value for key, value in PRIOR.items()
    }
    model = fitted(X, approximate=approximate, random_state=0, alternative_trees=True)
    others = trees.relocated(model.children_.tolist(), 9).values()
    plain = trees.consistent(model.children_.tolist(), 9)
    every = [*plain, *(partition for found in others for partition in found)]
    assert len(set(every)) == len(every)
    for bound, partitions in (
        (model.log_evidence_bound_, plain),
        (model.log_evidence_bound_alternative_, every),
    ):
        labels = [trees.labels_of(partition, 9) for partition in partitions]
        joints = [-naive.neg_log_joint(X, z, 1.0, prior) for z in labels]
        assert bound == pytest.approx(trees.log_sum(joints), rel=1e-9)


def test_map_dpm_goes_on_from_the_clusters():
    X, _ = blobs(n_rows=60, n_clusters=4, seed=3)
    model = BayesianHierarchicalClustering(prior="paper").fit(X)
    polished = MAPDPM(prior="paper", init=model.labels_, random_state=0).fit(X)
    assert polished.neg_log_joint_ <= model.neg_log_joint_
    np.testing.assert_allclose(polished.neg_log_joint_trace_[0], model.neg_log_joint_, rtol=1e-9)


def test_weights_and_rows_without():
    X, _ = blobs(n_rows=20)
    weights = np.ones(20)
    weights[[3, 7]] = 0.0
    weights[5] = 2.0
    model = BayesianHierarchicalClustering(prior=PRIOR, alternative_trees=True)
    model.fit(X, sample_weight=weights)
    assert model.leaves_[[3, 7]].tolist() == [-1, -1]
    assert model.n_leaves_ == 18
    assert model.node_counts_[-1] == 19.0
    without = fitted(X[weights > 0.0])
    assert model.log_evidence_bound_ != without.log_evidence_bound_
    (other,) = model.alternative_clusterings()
    assert (other.labels == -1).nonzero()[0].tolist() == [3, 7]
    alike = BayesianHierarchicalClustering(prior=PRIOR, approximate=None)
    alike.fit(X, sample_weight=(weights > 0.0) * 1.0)
    np.testing.assert_array_equal(alike.children_, without.children_)
    np.testing.assert_allclose(alike.score_samples(X), without.score_samples(X), rtol=1e-12)


@pytest.mark.parametrize(
    "X",
    [
        np.array([[3.0, 1.0]]),
        np.zeros((6, 2)),
        np.arange(8.0).repeat(3)[:, None],
        np.random.default_rng(0).normal(size=(4, 200)),
    ],
)
@pytest.mark.parametrize("approximate", [None, "bayes-kmeans", "map-dpm", "randomized"])
def test_odd_tables_have_finite_bounds_and_densities(X, approximate):
    model = fitted(X, approximate=approximate, alternative_trees=True, random_state=0)
    assert np.isfinite(model.log_evidence_bound_alternative_)
    assert np.isfinite(model.score_samples(X)).all()
    assert len(model.linkage_) == model.n_leaves_ - 1
    assert (model.predict(X) < model.n_clusters_).all()


def test_missing_cells_and_sparse_counts():
    X, _ = blobs(n_rows=15)
    X[::4, 0] = np.nan
    model = fitted(X, allow_missing=True)
    assert np.isfinite(model.score_samples(X)).all()
    sparse = pytest.importorskip("scipy.sparse")
    counts = np.random.default_rng(0).poisson(0.6, size=(20, 6))
    dense, other = (
        BayesianHierarchicalClustering(component="dirichlet-multinomial").fit(table)
        for table in (counts, sparse.csr_array(counts))
    )
    np.testing.assert_array_equal(dense.children_, other.children_)
    np.testing.assert_array_equal(
        dense.score_samples(counts), other.score_samples(sparse.csr_array(counts))
    )


def test_a_saved_model_is_the_same(tmp_path):
    X, _ = blobs(n_rows=15)
    model = fitted(X, alternative_trees=True)
    model.save(tmp_path / "tree.npz")
    loaded = BayesianHierarchicalClustering.load(tmp_path / "tree.npz")
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(loaded.linkage_, model.linkage_)
    found, same = loaded.alternative_clusterings(), model.alternative_clusterings()
    np.testing.assert_array_equal(found[0].labels, same[0].labels)


def test_verbose_prints_every_tenth(capsys):
    X, _ = blobs(n_rows=30)
    fitted(X, verbose=True)
    assert capsys.readouterr().out.splitlines()[-1] == "node       59 of 59"


def test_ctrl_c_stops_a_fit(monkeypatch):
    monkeypatch.setattr("dpmlite.estimators.hierarchical.growth.VALUES_PER_CALL", 1)
    made = []

    def interrupt(line, flush):
        made.append(line)
        if len(made) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("builtins.print", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fitted(blobs(n_rows=30)[0], verbose=True)
    assert made[-1] == "node       18 of 59"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0.0}, r"alpha must be positive, got 0\.0"),
        ({"component": "gamma"}, "component must be one of 'auto', 'normal-gamma'.*, got 'gamma'"),
        (
            {"approximate": "fast"},
            "approximate must be None or one of 'bayes-kmeans', .*, 'randomized', got 'fast'",
        ),
        ({"alternative_trees": 3}, "alternative_trees must be a node from 4 to 6, got 3"),
        ({"alternative_trees": "all"}, "alternative_trees must be True, False or .*, got 'all'"),
        (
            {"prior": "best"},
            "prior must be a dict, None or one of 'auto', 'paper', 'nll', got 'best'",
        ),
        ({"verbose": -1}, "verbose must be True or False, or a level from 0 up, got -1"),
        ({"prior": {"c0": -1.0}}, r"prior c0 must be positive, got -1\.0"),
    ],
)
def test_an_error_names_the_parameter_that_breaks_its_rule(parameters, message):
    with pytest.raises(ValueError, match=message):
        fitted(np.arange(4.0)[:, None], **parameters)


def test_nothing_works_before_fit():
    for call in ("predict", "score_samples"):
        with pytest.raises(NotFittedError):
            getattr(BayesianHierarchicalClustering(), call)([[0.0]])
    with pytest.raises(NotFittedError):
        BayesianHierarchicalClustering().alternative_clusterings()


def test_the_clusters_of_two_thousand_rows_are_found(twin):
    if twin.implementation == "python":
        pytest.skip("takes a minute on the plain twin, which smaller tests run")
    X, truth = blobs(n_rows=2000, n_columns=8, n_clusters=5, seed=1)
    model = BayesianHierarchicalClustering(prior={"b0": 1.0}).fit(X)
    assert naive.canonical(model.labels_) == naive.canonical(truth)
