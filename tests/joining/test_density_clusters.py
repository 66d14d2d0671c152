"""Which clusters a person sees in drawn tables, by default."""

import numpy as np
import pytest
from cases import needs_kernels

from dpmlite import MAPDPM

pytestmark = needs_kernels


def ring(rng, n_rows, centre=(0.0, 0.0)):
    angle = rng.uniform(0.0, 2.0 * np.pi, n_rows)
    noise = rng.normal(scale=0.15, size=(n_rows, 2))
    return 3.0 * np.column_stack([np.cos(angle), np.sin(angle)]) + noise + centre


def overlapping(rng, n_rows, n_columns=2):
    """A wide normal and a narrow one, which have some rows in common."""
    labels = np.arange(n_rows) % 2
    rows = rng.normal(size=(n_rows, n_columns)) / (1 + labels)[:, np.newaxis]
    return rows + 2.5 * np.outer(labels, np.eye(n_columns)[0])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_two_normals_that_overlap_are_two_clusters(seed, n_columns):
    X = overlapping(np.random.default_rng(seed), 1600, n_columns)
    assert MAPDPM(random_state=0).fit(X).n_clusters_ == 2


def test_valleys_in_the_density_of_the_rows_join_what_normals_tell_apart():
    found = []
    for seed in range(4):
        X = overlapping(np.random.default_rng(seed), 1600)
        found.append(MAPDPM(join=True, random_state=0).fit(X).n_clusters_)
    assert np.median(found) == 1


def test_a_ring_of_few_rows_is_mostly_one_cluster_in_three_columns():
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = np.column_stack([ring(rng, 400), rng.normal(scale=0.15, size=400)])
        model = MAPDPM(random_state=0).fit(X)
        assert len(model.component_counts_) > 4
        found.append(model.n_clusters_)
    assert np.median(found) == 1


def test_a_ring_is_one_cluster_beside_normals_that_overlap():
    rng = np.random.default_rng(0)
    X = np.concatenate([ring(rng, 1000, (12.0, 0.0)), overlapping(rng, 1600)])
    model = MAPDPM(random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert len(set(model.labels_[:1000])) == 1


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("draw", ["exponential", "laplace", "logistic"])
def test_one_skewed_or_heavy_tailed_cluster_is_mostly_whole(draw, n_columns):
    """Its tails are far from normal, and no valley leads to them, but to a lone row."""
    found = []
    for seed in range(5):
        X = getattr(np.random.default_rng(seed), draw)(size=(1500, n_columns))
        found.append(MAPDPM(random_state=0).fit(X).counts_)
    assert np.median([counts.max() for counts in found]) >= 1497
    assert np.median([len(counts) for counts in found]) <= 2


@pytest.mark.parametrize("n_columns", [20, 50])
def test_cauchy_noise_is_one_cluster_of_many_components(n_columns):
    """Some of them are far from all others in some column."""
    X = np.random.default_rng(0).standard_cauchy(size=(1000, n_columns))
    with pytest.warns(UserWarning, match="make 80% of the variance"):
        model = MAPDPM(random_state=0).fit(X)
    assert len(model.component_counts_) > 50
    assert model.n_clusters_ == 1
