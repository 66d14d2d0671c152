"""Components joined to clusters, at any level of their tree."""

import naive
import numpy as np
import pytest
from cases import needs_kernels
from scipy.cluster import hierarchy

from dpmlite import MAPDPM, NotFittedError

pytestmark = needs_kernels


@pytest.fixture(scope="module")
def model():
    """Skewed groups, each of which several components describe."""
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(600, 2)) + 3.0 * rng.integers(3, size=(600, 1))
    model = MAPDPM(join=True, random_state=0).fit(X)
    assert len(model.statistics_) > 4
    return model


def joined(model, **level):
    """Labels of the rows by scipy's cut of the tree."""
    clusters = hierarchy.cut_tree(model.cluster_tree_, **level)[:, 0]
    return naive.canonical(clusters[model.component_labels_])


def test_a_number_of_clusters_is_a_level_of_the_tree(model):
    for n_clusters in range(1, len(model.statistics_) + 1):
        found = naive.canonical(model.labels_at(n_clusters=n_clusters))
        assert found == joined(model, n_clusters=n_clusters)
        assert len(set(found)) == n_clusters


def test_components_join_where_the_valley_is_less_deep_than_the_depth(model):
    depths = np.unique(model.cluster_tree_[:, 2])
    assert len(depths) > 2
    for depth in [*(depths[:-1] + depths[1:]) / 2.0, depths[-1] + 1.0]:
        assert naive.canonical(model.labels_at(depth=depth)) == joined(model, height=depth)
    assert naive.canonical(model.labels_at(depth=0.0)) == naive.canonical(model.component_labels_)


def test_clusters_of_a_level_are_numbered_by_decreasing_weight(model):
    for n_clusters in (2, 3):
        counts = np.bincount(model.labels_at(n_clusters=n_clusters))
        assert (np.diff(counts) <= 0).all()


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({}, "one of depth and n_clusters must be given, and not both, got depth=None and n_cl"),
        ({"depth": 1.0, "n_clusters": 2}, "got depth=1.0 and n_clusters=2"),
        ({"depth": -1.0}, "depth must be a number of at least 0, got -1.0"),
        ({"n_clusters": 0}, "n_clusters must be a whole number of at least 1, got 0"),
        ({"n_clusters": 1000}, r"n_clusters must be at most \d+, got 1000"),
    ],
)
def test_a_level_that_does_not_exist_is_an_error(model, given, rule):
    with pytest.raises(ValueError, match=rule):
        model.labels_at(**given)


def test_a_model_whose_components_were_not_joined_has_no_levels():
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(NotFittedError, match=r"has no cluster_tree_, .*: fit MAPDPM\(join=True\)"):
        MAPDPM(prior="paper", random_state=0).fit(X).labels_at(n_clusters=1)
    with pytest.raises(NotFittedError, match="not fitted yet: call fit first"):
        MAPDPM(prior="paper").labels_at(n_clusters=1)
    model = MAPDPM(prior="paper", join=True, random_state=0).fit(X)
    assert set(model.labels_at(n_clusters=1)) == {0}
