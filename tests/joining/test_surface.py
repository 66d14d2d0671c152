"""Thin components of which a curved surface is made are told from clusters that are small."""

import numpy as np
import pytest

from dpmlite.joining import NormalComponents, columns_of_surface


def chords(n_components, thickness, n_columns=2):
    """Normals along a half circle in the first two columns, each along its chord."""
    angles = np.linspace(0.0, np.pi, n_components + 1)
    middles, length = 0.5 * (angles[1:] + angles[:-1]), np.pi / n_components
    along = np.column_stack([-np.sin(middles), np.cos(middles)])
    across = np.column_stack([np.cos(middles), np.sin(middles)])
    means = np.zeros((n_components, n_columns))
    means[:, :2] = across
    covariances = np.tile(np.eye(n_columns), (n_components, 1, 1))
    for k in range(n_components):
        covariances[k, :2, :2] = (
            np.outer(along[k], along[k]) * length**2 / 12.0
            + np.outer(across[k], across[k]) * thickness**2
        )
    return NormalComponents(np.full(n_components, 1.0 / n_components), means, covariances)


@pytest.mark.parametrize("n_columns", [2, 5])
def test_thin_chords_of_a_circle_are_a_surface_of_two_columns(n_columns):
    assert list(columns_of_surface(chords(8, 0.003, n_columns))) == [0, 1]


def test_thick_chords_are_none():
    assert len(columns_of_surface(chords(8, 0.1))) == 0


def test_small_round_clusters_are_none():
    means = np.random.default_rng(0).normal(size=(50, 2))
    covariances = np.tile(1e-6 * np.eye(2), (50, 1, 1))
    assert len(columns_of_surface(NormalComponents(np.full(50, 0.02), means, covariances))) == 0


def test_thin_components_that_do_not_touch_are_none():
    chords_apart = chords(8, 0.003)
    apart = NormalComponents(
        chords_apart.weights, 3.0 * chords_apart.means, chords_apart.covariances
    )
    assert len(columns_of_surface(apart)) == 0


def test_two_thin_components_are_none():
    assert len(columns_of_surface(chords(2, 0.003))) == 0


def test_clusters_of_one_plane_are_none():
    """A column that is the sum of two others leaves one direction thin in the whole table."""
    to_sum = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    means = np.array([[0.0, 0.0], [3.0, 1.0], [-2.0, 4.0]]) @ to_sum
    covariances = np.tile(to_sum.T @ to_sum + 1e-8 * np.eye(3), (3, 1, 1))
    assert len(columns_of_surface(NormalComponents(np.full(3, 1.0 / 3.0), means, covariances))) == 0


def test_few_rows_of_thin_components_make_none():
    both = chords(8, 0.003)
    means = np.vstack([both.means, [[5.0, 5.0]]])
    covariances = np.concatenate([both.covariances, np.eye(2)[np.newaxis]])
    weights = np.append(both.weights * 0.3, 0.7)
    assert len(columns_of_surface(NormalComponents(weights, means, covariances))) == 0


def test_one_component_and_columns_apart_are_none():
    one = chords(1, 0.003)
    apart = NormalComponents(one.weights, one.means, np.full((1, 2), 1e-6))
    assert len(columns_of_surface(one)) == len(columns_of_surface(apart)) == 0
