"""A few columns two by two: every pair as a scatter plot, every column as a histogram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.column_families import family_of_numbers
from dpmlite.estimators.columns import LOG_NORMAL
from dpmlite.plotting.points import scatter
from dpmlite.plotting.style import style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpmlite.plotting.points import Floats, Ranks

N_BINS = 30

# Values that differ by no more than this share of their size have no room for bins between them.
EQUAL = 1e-9


def draw_pairs(figure: Figure, rows: Floats, ranks: Ranks, names: list[str]) -> None:
    """Draw the lower triangle of a grid; what is above its diagonal stays free.

    A panel shows the rows that miss neither of its columns. A column of positive numbers with a
    long tail upwards has a logarithmic scale.
    """
    n_columns = rows.shape[1]
    scales = ["log" if family_of_numbers(x) == LOG_NORMAL else "linear" for x in rows.T]
    grid = figure.add_gridspec(n_columns, n_columns)
    for j in range(n_columns):
        top = figure.add_subplot(grid[j, j])
        _draw_histogram(top, rows[:, j], ranks, scales[j])
        panels = [top]
        for i in range(j + 1, n_columns):
            panels.append(figure.add_subplot(grid[i, j], sharex=top))
            _draw_pair(panels[-1], rows[:, [j, i]], ranks, scales[i])
        for panel in panels:
            panel.tick_params(labelsize=7, labelbottom=panel is panels[-1])
            panel.spines[["top", "right"]].set_visible(False)
        panels[-1].set_xlabel(names[j])
        for i, panel in enumerate(panels[1:], start=j + 1):
            panel.tick_params(labelleft=j == 0)
            panel.set_ylabel(names[i] if j == 0 else "")
    figure.align_labels()


def _draw_pair(axes: Axes, points: Floats, ranks: Ranks, scale: str) -> None:
    known = ~np.isnan(points).any(axis=1)
    scatter(axes, points[known], ranks[known])
    axes.set_yscale(scale)


def _draw_histogram(axes: Axes, values: Floats, ranks: Ranks, scale: str) -> None:
    known = ~np.isnan(values)
    values, ranks = values[known], ranks[known]
    on_scale = np.log(values) if scale == "log" else values
    edges = _bin_edges(on_scale)
    for rank in range(int(ranks.max(initial=-1)) + 1):
        counts, _ = np.histogram(on_scale[ranks == rank], edges)
        shown = np.exp(edges) if scale == "log" else edges
        axes.stairs(counts, shown, fill=True, color=style_of(rank)[0], alpha=0.5)
    axes.set_xscale(scale)
    axes.set(yticks=[])
    axes.spines["left"].set_visible(False)


def _bin_edges(values: Floats) -> Floats:
    """Edges of bins from the least to the greatest value, or about values that are equal."""
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    if high - low <= EQUAL * abs(high):
        half = EQUAL * abs(high) or 0.5
        low, high = low - half, high + half
    return np.linspace(low, high, N_BINS + 1)
