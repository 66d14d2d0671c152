"""Small grey copies of pictures, by which a change of their looks is seen.

    python3 tests/helpers/pictures.py

draws them anew, into `tests/images/`. Look at the pictures themselves before.
"""

from pathlib import Path

import numpy as np

from dpmlite import MAPDPM, BayesianHierarchicalClustering
from dpmlite.datasets import load_sensors, planted_gaussians
from dpmlite.plotting import plot_clusters, plot_dendrogram, plot_density, plot_profiles

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


PICTURES = {
    "strips": strips,
    "plane": lambda: sensors("plane"),
    "pairs": lambda: sensors("pairs"),
    "means": means,
    "profiles": profiles,
    "density": density,
    "dendrogram": dendrogram,
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
