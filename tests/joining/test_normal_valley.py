"""Which normals are one cluster, against their exact densities."""

import numpy as np
import pytest

from dpmlite.joining import NormalComponents
from dpmlite.joining.normal_valley import clusters_of_normals, normal_depth


def normals(weights, means, deviations):
    """Normals of one column, of equal ones in a second column."""
    means = np.column_stack([means, np.zeros(len(means))])
    variances = np.column_stack([np.square(deviations), np.ones(len(deviations))])
    return NormalComponents(np.array(weights), means, variances)


def exact_depth(weights, means, deviations):
    """Log of the ratio of the lower peak to the valley, on a fine grid between two means."""
    x = np.linspace(*means, 20_001)[:, np.newaxis]
    density = (weights / deviations * np.exp(-0.5 * ((x - means) / deviations) ** 2)).sum(axis=1)
    at = np.argmin(density)
    return np.log(min(density[: at + 1].max(), density[at:].max()) / density[at])


@pytest.mark.parametrize(
    ("weights", "means", "deviations"),
    [
        ([0.5, 0.5], [0.0, 2.5], [1.0, 1.0]),
        ([0.5, 0.5], [0.0, 4.0], [1.0, 1.0]),
        ([0.8, 0.2], [1.0, -3.0], [1.0, 1.2]),
        ([0.3, 0.7], [0.0, 3.0], [0.5, 1.5]),
    ],
)
def test_the_depth_is_that_of_the_density_between_two_normals(weights, means, deviations):
    components = normals(weights, means, deviations)
    expected = exact_depth(np.array(weights), np.array(means), np.array(deviations))
    assert normal_depth(components, 0, 1) == pytest.approx(expected, abs=0.02)


def test_two_alike_are_one_cluster_if_they_have_one_peak_and_two_if_they_are_far_apart():
    for gap, n_clusters in [(2.0, 1), (2.6, 1), (3.0, 2), (6.0, 2)]:
        clusters = clusters_of_normals(normals([0.5, 0.5], [0.0, gap], [1.0, 1.0]))
        assert clusters.max() + 1 == n_clusters


def test_normals_that_draw_a_skewed_density_are_one_cluster():
    skewed = normals([0.5, 0.35, 0.15], [0.3, 1.1, 2.6], [0.25, 0.5, 1.0])
    assert clusters_of_normals(skewed).tolist() == [0, 0, 0]


def test_planes_that_cross_are_apart_though_they_have_no_valley():
    first = np.arange(16) < 8
    variances = np.array([np.where(first, 1.0, 0.01), np.where(first, 0.01, 1.0)])
    for covariances in (variances, np.array([np.diag(each) for each in variances])):
        components = NormalComponents(np.full(2, 0.5), np.zeros((2, 16)), covariances)
        assert clusters_of_normals(components).tolist() == [0, 1]


@pytest.mark.parametrize("full", [False, True])
def test_the_bhattacharyya_distance_is_the_log_of_an_integral(full):
    """Of the root of the product of two densities, here by a sum over a grid."""
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(2, 2, 2)) + 2.0 * np.eye(2)
    covariances = roots @ np.swapaxes(roots, 1, 2)
    if not full:
        covariances = np.array([np.diag(np.diag(each)) for each in covariances])
    means = np.array([[0.0, 0.0], [1.0, 2.0]])
    step = 0.05
    grid = np.stack(np.meshgrid(*[np.arange(-20.0, 20.0, step)] * 2), axis=-1).reshape(-1, 2)
    logs = [
        -0.5 * np.einsum("ni,ij,nj->n", grid - mean, np.linalg.inv(each), grid - mean)
        - 0.5 * np.log(np.linalg.det(2.0 * np.pi * each))
        for mean, each in zip(means, covariances, strict=True)
    ]
    expected = -np.log(np.exp(0.5 * (logs[0] + logs[1])).sum() * step**2)
    known = covariances if full else np.array([np.diag(each) for each in covariances])
    components = NormalComponents(np.array([0.9, 0.1]), means, known)
    assert components.bhattacharyya(0, 1) == pytest.approx(expected, rel=1e-6)
