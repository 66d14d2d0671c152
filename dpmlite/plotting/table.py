"""A table of columns and clusters in a picture: words in coloured cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.plotting.style import escaped

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.axes import Axes

# Clusters and columns that are shown at most: the largest, and those that tell most.
MAX_CLUSTERS = 10
MAX_COLUMNS = 25

# Letters of a cell, at most.
MAX_LETTERS = 20

# Sizes of letters, and the width of one of size 1, all in points.
MIN_POINTS, MAX_POINTS, POINTS_PER_LETTER = 3.0, 8.0, 0.62

# Cells beyond this share of the strongest colour have white letters.
DARK = 0.6


def size_of(n_columns: int, n_clusters: int) -> tuple[float, float]:
    """Width and height of the picture of a table, in inches."""
    return 2.5 + 1.6 * min(n_clusters, MAX_CLUSTERS), 1.4 + 0.32 * min(n_columns, MAX_COLUMNS)


def draw_table(
    axes: Axes,
    shades: npt.NDArray[np.float64],
    words: Sequence[Sequence[str]],
    names: Sequence[str],
    headings: Sequence[str],
    *,
    limits: tuple[float, float],
    colours: str,
) -> None:
    """Draw a cell for each column and cluster, the columns below each other.

    Parameters
    ----------
    axes : Axes
    shades : ndarray, shape (D, K)
        What the colours tell.
    words : sequence, shape (D, K)
    names, headings : sequence of str
        Of the D columns and the K clusters, escaped.
    limits : (float, float)
        Shades at which colours end.
    colours : str
        A colour map of matplotlib.
    """
    low, high = limits
    axes.imshow(shades, cmap=colours, vmin=low, vmax=high, aspect="auto")
    axes.set_xticks(range(len(headings)), headings)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    axes.spines[:].set_visible(False)
    texts = [[_shortened(text) for text in line] for line in words]
    size = _font_size(axes, max(len(text) for line in texts for text in line), len(headings))
    for row, line in enumerate(texts):
        for k, text in enumerate(line):
            colour = "white" if abs(shades[row, k]) > DARK * high else "black"
            text = escaped(text)
            axes.text(k, row, text, ha="center", va="center", fontsize=size, color=colour)


def _font_size(axes: Axes, n_letters: int, n_clusters: int) -> float:
    """The size, in points, at which a text of so many letters fits into a cell."""
    from dpmlite.plotting.picture import figure_of

    points = 72.0 * figure_of(axes).get_size_inches()[0] * axes.get_position().width / n_clusters
    return float(np.clip(points / (POINTS_PER_LETTER * n_letters), MIN_POINTS, MAX_POINTS))


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_LETTERS else text[: MAX_LETTERS - 1] + "…"
