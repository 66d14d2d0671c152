"""Randomized trees: valid, with the numbers of the definition, and as good as exact ones."""

import naive
import numpy as np
import pytest
import trees
from cases import blobs

from dpmlite import BayesianHierarchicalClustering
from dpmlite.datasets import planted_gaussians
from dpmlite.estimators import bhc
from dpmlite.estimators.hierarchical import randomized as bhc_randomized

hierarchy = pytest.importorskip("scipy.cluster.hierarchy")

PRIOR = {"m0": np.zeros(2), "c0": 0.05, "a0": 1.0, "b0": np.ones(2)}


@pytest.fixture
def small_samples(estimator, monkeypatch):
    """Samples of a few rows, on both implementations."""
    monkeypatch.setattr(bhc_randomized, "SAMPLE_ROWS", 8)
    monkeypatch.setattr(bhc_randomized, "ROWS_PER_CALL", 50)


def fitted(X, **parameters):
    given = {"prior": PRIOR, "approximate": "randomized", "random_state": 0, **parameters}
    return BayesianHierarchicalClustering(**given).fit(X)


def check_tree(model, n):
    """Every row is a leaf, and every node but the root has one parent, made after it."""
    assert model.n_leaves_ == n
    assert sorted(model.children_.ravel()) == list(range(2 * n - 2))
    assert (model.children_[:, 0] < model.children_[:, 1]).all()
    assert (model.children_[:, 1] < n + np.arange(n - 1)).all()
    assert hierarchy.is_valid_linkage(model.linkage_)


def check_numbers(model, X, alpha):
    """Odds and bound of each node are eq. (7) to (9) of Xu, Heller & Ghahramani (2009)."""

    def log_marginal(rows):
        return naive.log_marginal(rows, PRIOR)

    children = model.children_.tolist()
    log_odds, (log_p, log_d) = trees.of_merges(X, log_marginal, alpha, children)
    np.testing.assert_allclose(model.log_odds_, log_odds, rtol=1e-8, atol=1e-7)
    assert model.log_evidence_approximation_ == pytest.approx(log_p, rel=1e-9)
    log_rising = np.log(alpha + np.arange(len(X))).sum()
    assert model.log_evidence_bound_ == pytest.approx(log_p + log_d - log_rising, rel=1e-9)
    assert model.node_counts_.tolist() == [len(b) for b in trees.blocks_of(children, len(X))]


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("seed", range(3))
def test_trees_are_valid_and_their_numbers_are_those_of_all_rows(seed):
    X, _ = blobs(n_rows=110, n_clusters=4, seed=seed)
    model = fitted(X, alpha=0.7, random_state=seed)
    check_tree(model, 110)
    check_numbers(model, X, 0.7)


@pytest.mark.usefixtures("small_samples")
def test_far_groups_are_found():
    X = np.concatenate([blobs(30, 2, 1, seed=k)[0] + 60.0 * k for k in range(4)])
    model = fitted(X)
    assert naive.canonical(model.labels_) == naive.canonical(np.arange(4).repeat(30))
    assert trees.dendrogram_purity(model.children_, np.arange(4).repeat(30)) == 1.0


def test_purity_is_the_mean_over_pairs():
    truth = np.array([0, 1, 0, 1, 0])
    children = [(0, 2), (1, 3), (4, 6), (5, 7)]
    of_pairs = {(0, 2): 1.0, (0, 4): 0.6, (2, 4): 0.6, (1, 3): 1.0}
    mean = sum(of_pairs.values()) / 4
    assert trees.dendrogram_purity(children, truth) == pytest.approx(mean)


@pytest.mark.usefixtures("small_samples")
def test_chance_is_the_random_state():
    X, _ = blobs(n_rows=60, n_clusters=1)
    model, same, other = (fitted(X, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(model.children_, same.children_)
    assert (model.children_ != other.children_).any()


def test_both_implementations_grow_the_same_tree(estimators, monkeypatch):
    monkeypatch.setattr(bhc_randomized, "SAMPLE_ROWS", 8)
    X, _ = blobs(n_rows=60, n_clusters=3, seed=5)
    plain, kernel = (fitted(X) for _ in estimators)
    np.testing.assert_array_equal(plain.children_, kernel.children_)
    np.testing.assert_allclose(plain.log_odds_, kernel.log_odds_, rtol=1e-9, atol=1e-7)


def test_a_table_no_larger_than_a_sample_gets_the_exact_tree():
    X, _ = blobs(n_rows=50, n_clusters=3)
    exact, model = fitted(X, approximate=None), fitted(X)
    np.testing.assert_array_equal(model.children_, exact.children_)
    np.testing.assert_array_equal(model.log_odds_, exact.log_odds_)


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize(
    ("X", "alpha"),
    [
        (np.zeros((70, 2)), 1.0),  # all rows are as like to each seed
        (np.arange(70.0).repeat(2).reshape(70, 2) % 3, 1.0),
        (blobs(n_rows=70)[0], 1e9),  # a new cluster is more probable than any
        (np.logspace(0, 6, 140).reshape(70, 2), 1.0),
    ],
)
def test_trees_of_odd_tables_are_trees_with_exact_numbers(X, alpha):
    model = fitted(X, alpha=alpha)
    check_tree(model, 70)
    check_numbers(model, X, alpha)


@pytest.mark.usefixtures("small_samples")
def test_weights_sparse_counts_and_missing_cells():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    counts, weights = rng.poisson(0.6, size=(40, 6)), rng.integers(3, size=40)
    dense, other = (
        BayesianHierarchicalClustering(
            component="dirichlet-multinomial",
            prior="paper",
            approximate="randomized",
            random_state=0,
        ).fit(table, sample_weight=weights)
        for table in (counts, sparse.csr_array(counts))
    )
    np.testing.assert_array_equal(dense.children_, other.children_)
    check_tree(dense, np.count_nonzero(weights))
    assert dense.node_counts_[-1] == weights.sum()
    X, _ = blobs(n_rows=40)
    X[::4, 0] = np.nan
    check_tree(fitted(X, allow_missing=True), 40)


@pytest.mark.usefixtures("small_samples")
def test_large_clusters_of_map_dpm_get_a_randomized_tree(monkeypatch):
    X, _ = blobs(n_rows=60, n_clusters=2, seed=2)
    exact = fitted(X, approximate="map-dpm")
    monkeypatch.setattr(bhc, "MAX_EXACT_GROUP", 20)
    model = fitted(X, approximate="map-dpm")
    assert (model.children_ != exact.children_).any()
    np.testing.assert_array_equal(model.labels_, exact.labels_)
    check_tree(model, 60)
    check_numbers(model, X, 1.0)


@pytest.mark.usefixtures("small_samples")
def test_verbose_prints_every_tenth(capsys):
    fitted(blobs(n_rows=60)[0], verbose=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "node      119 of 119"
    assert len(lines) <= 10


def planted(n_rows):
    X, truth = planted_gaussians(n_rows, 8, 10, random_state=0)
    prior = {"m0": X.mean(axis=0), "c0": 10.0 / n_rows, "a0": 1.0, "b0": X.var(axis=0) / 16.0}
    return X, truth, prior


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("n_clusters", [10, 100])
def test_the_bound_is_close_to_that_of_the_exact_tree(n_clusters):
    X, _ = planted_gaussians(5000, 8, n_clusters, random_state=0)
    prior = {"m0": X.mean(axis=0), "c0": 0.01, "a0": 1.0, "b0": X.var(axis=0) / 16.0}
    exact, model = (fitted(X, prior=prior, approximate=a) for a in (None, "randomized"))
    least = exact.log_evidence_bound_ - 1e-3 * abs(exact.log_evidence_bound_)
    assert model.log_evidence_bound_ > least
    assert (model.children_ != exact.children_).any()


@pytest.mark.slow
@pytest.mark.usefixtures("kernel")
def test_trees_of_100000_rows_are_as_good_as_exact_ones_of_10000():
    X, truth, prior = planted(10_000)
    exact = fitted(X, prior=prior, approximate=None)
    purity = trees.dendrogram_purity(exact.children_, truth)
    X, truth, prior = planted(100_000)
    model = fitted(X, prior=prior)
    assert trees.dendrogram_purity(model.children_, truth) >= purity
    check_tree(model, 100_000)
