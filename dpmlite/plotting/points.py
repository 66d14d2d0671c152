"""Points in the colours of clusters, and what a picture does where cells are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.plotting.style import style_of

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes

    Floats = npt.NDArray[np.float64]
    Ranks = npt.NDArray[np.intp]


def scatter(axes: Axes, points: Floats, ranks: Ranks) -> None:
    """Draw points, shape (N, 2), in the style of the cluster of each rank by size."""
    # Many points become small and light, so that a crowd still shows its shape.
    crowd = min(1.0, (500.0 / max(len(points), 1)) ** 0.5)
    for rank in range(int(ranks.max(initial=-1)) + 1):
        colour, marker = style_of(rank)
        x, y = points[ranks == rank].T
        axes.scatter(
            x,
            y,
            s=max(3.0, 26.0 * crowd),
            c=colour,
            marker=marker,
            alpha=max(0.25, 0.75 * crowd),
            linewidths=0.0,
        )


def means_of_known(rows: Floats) -> Floats:
    """Mean of the known cells of each column; NaN if there are none."""
    known = ~np.isnan(rows)
    counts = known.sum(axis=0)
    sums = np.where(known, rows / np.maximum(counts, 1), 0.0).sum(axis=0)
    return np.where(counts > 0, sums, np.nan)


def largest(centred: Floats) -> Floats:
    """Largest absolute value of each column, 1 for 0: in this unit squares do not overflow."""
    sizes = np.abs(centred).max(axis=0)
    return np.where(sizes > 0.0, sizes, 1.0)
