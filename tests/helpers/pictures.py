"""Small grey copies of pictures, by which a change of their looks is seen.

    python3 tests/helpers/pictures.py

draws them anew, into `tests/images/`. Look at the pictures themselves before.
"""

from pathlib import Path

import numpy as np

from dpmlite import MAPDPM, BayesianHierarchicalClustering, exact_posterior
from dpmlite.datasets import load_sensors, planted_gaussians
from dpmlite.plotting import (
    plot_alpha,
    plot_cluster_tree,
    plot_clusters,
    plot_co_clustering,
    plot_dendrogram,
    plot_density,
    plot_n_clusters,
    plot_profiles,
    plot_trace,
)

FOLDER = Path(__file__).parents[1] / "images"

# Pixels of a drawn inch, and of a side of the square that becomes one pixel of the copy.
DPI, BLOCK = 48, 16


def sensors(view):
    X, states, columns = load_sensors()
    return plot_clusters(X, states, columns=columns, view=view)


def strips():
    X, states, columns = load_sensors()
    return plot_clusters(X[:, 1:2], states, columns=columns[1:2])


def means():
    X, labels = planted_gaussians(400, 9, 4, random_state=0)
    return plot_clusters(X, labels)


def profiles():
    return plot_profiles(MAPDPM(prior="paper", random_state=0).fit(load_sensors()[0]))


def density():
    X = load_sensors()[0][:, 1:2]
    return plot_density(MAPDPM(prior="paper", random_state=0).fit(X), X, name="temperature")


def dendrogram():
    X, _ = planted_gaussians(40, 2, 3, separation=20.0, random_state=1)
    return plot_dendrogram(BayesianHierarchicalClustering(prior={"b0": 1.0}).fit(X))


def cluster_tree():
    """Components of two half circles."""
    angle = np.linspace(0.0, np.pi, 300)
    noise = np.random.default_rng(0).normal(scale=0.05, size=(600, 2))
    upper, lower = (np.cos(angle), np.sin(angle)), (1.0 - np.cos(angle), 0.5 - np.sin(angle))
    X = np.concatenate([np.transpose(upper), np.transpose(lower)]) + noise
    return plot_cluster_tree(MAPDPM(random_state=0).fit(X))


def posterior():
    """Of eleven rows, by all partitions."""
    prior = {"m0": 0.0, "c0": 0.05, "a0": 2.0, "b0": 0.1}
    rows = [-3.2, -3.0, -2.9, -2.7, 0.1, 0.3, 0.4, 0.6, 1.5, 1.7, 1.8]
    return exact_posterior(np.array(rows)[:, None], alpha=1.0, prior=prior)


def model_of_many_alphas():
    X = planted_gaussians(200, 2, 4, separation=5.0, random_state=0)[0]
    return MAPDPM(prior="paper", init="single", alpha="nll", random_state=0).fit(X)


PICTURES = {
    "strips": strips,
    "plane": lambda: sensors("plane"),
    "pairs": lambda: sensors("pairs"),
    "means": means,
    "profiles": profiles,
    "density": density,
    "dendrogram": dendrogram,
    "cluster-tree": cluster_tree,
    "n-clusters": lambda: plot_n_clusters(posterior()),
    "co-clustering": lambda: plot_co_clustering(posterior()),
    "trace": lambda: plot_trace(model_of_many_alphas()),
    "alpha": lambda: plot_alpha(model_of_many_alphas()),
}


def grey_copy(figure):
    """Brightness of each square of a figure, from 0 to 1."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure.set_dpi(DPI)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    grey = np.asarray(canvas.buffer_rgba())[:, :, :3].mean(axis=2) / 255.0
    height, width = (BLOCK * (side // BLOCK) for side in grey.shape)
    squares = grey[:height, :width].reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK)
    return squares.mean(axis=(1, 3))


def likeness(figure, name):
    """Correlation of a picture's grey copy with the one that is kept.

    Versions of matplotlib 3.8 and 3.11, which place text and ticks differently, have 0.96.
    """
    from matplotlib.image import imread

    kept = imread(FOLDER / f"{name}.png")[:, :, 0]
    return np.corrcoef(kept.ravel(), grey_copy(figure).ravel())[0, 1]


if __name__ == "__main__":
    from matplotlib.image import imsave

    FOLDER.mkdir(exist_ok=True)
    for name, picture in PICTURES.items():
        imsave(FOLDER / f"{name}.png", grey_copy(picture()), cmap="gray", vmin=0.0, vmax=1.0)
