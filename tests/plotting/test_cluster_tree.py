"""Pictures of the tree of components: its leaves, their colours, and the depths of joins."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from dpmlite import MAPDPM, DPMeans, NotFittedError
from dpmlite.joining import VALLEY_DEPTH
from dpmlite.plotting import COLOURS, plot_cluster_tree

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def moons():
    """A model of two half circles, each of which has several components."""
    angle = np.linspace(0.0, np.pi, 400)
    upper, lower = (np.cos(angle), np.sin(angle)), (1.0 - np.cos(angle), -0.5 - np.sin(angle))
    noise = np.random.default_rng(0).normal(scale=0.08, size=(800, 2))
    return MAPDPM(random_state=0).fit(
        np.concatenate([np.transpose(upper), np.transpose(lower)]) + noise
    )


def test_joins_are_as_high_as_their_valleys_are_deep(moons, tmp_path):
    (axes,) = plot_cluster_tree(moons, path=tmp_path / "a.png").axes
    n_joins = len(moons.cluster_tree_)
    tops = [max(line.get_ydata()) for line in axes.lines[:n_joins]]
    assert tops == pytest.approx(np.minimum(moons.cluster_tree_[:, 2], 4.0).tolist())
    assert set(axes.lines[-1].get_ydata()) == {VALLEY_DEPTH}
    assert (tmp_path / "a.png").stat().st_size > 0


def test_leaves_have_the_colours_of_their_clusters(moons):
    (axes,) = plot_cluster_tree(moons).axes
    n_components = len(moons.cluster_tree_) + 1
    order = [int(text.get_text()) for text in axes.get_xticklabels()]
    assert sorted(order) == list(range(n_components))
    leaves = axes.lines[n_components - 1 : 2 * n_components - 1]
    assert [to_hex(leaf.get_color()).upper() for leaf in leaves] == [
        COLOURS[k].upper() for k in moons.cluster_of_component_[order]
    ]


def test_no_branches_cross(moons):
    """The components of each cluster of the tree are neighbours."""
    (axes,) = plot_cluster_tree(moons).axes
    order = [int(text.get_text()) for text in axes.get_xticklabels()]
    clusters = moons.cluster_of_component_[order]
    assert (np.diff(clusters) != 0).sum() == moons.n_clusters_ - 1


def test_models_without_a_tree_are_an_error():
    with pytest.raises(TypeError, match="must be a MAPDPM, got a DPMeans"):
        plot_cluster_tree(DPMeans())
    with pytest.raises(NotFittedError, match="this MAPDPM is not fitted"):
        plot_cluster_tree(MAPDPM())
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(ValueError, match="at least two components, got 1"):
        plot_cluster_tree(MAPDPM(random_state=0).fit(X))
