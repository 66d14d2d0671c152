"""A few columns two by two: every pair as a scatter plot, every column as a histogram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.column_families.by_cells import family_of_numbers
from dpmlite.estimators.column_families.by_rule import COLUMN_FAMILIES
from dpmlite.estimators.inputs.columns import LOG_NORMAL, ZERO_LOG_NORMAL
from dpmlite.plotting.points import scatter
from dpmlite.plotting.style import style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpmlite.plotting.points import Floats, Ranks

N_HISTOGRAM_BINS = 30

# Values that differ by no more than this share of their size have no room for bins between them.
EQUAL = 1e-9

# Decades of room that matplotlib's scale "symlog" gives to what is below its unit.
BELOW_UNIT = 10.0 / 9.0


@dataclass(frozen=True)
class Scale:
    """How a column is shown: as it is, by logarithms, or, with zeros, by logarithms from a unit on.

    Attributes
    ----------
    name : {"linear", "log", "symlog"}
        As matplotlib names it.
    unit : float
        Where logarithms begin on a "symlog" scale: a power of ten near the least positive numbers.
    """

    name: str
    unit: float = 1.0

    @classmethod
    def of(cls, values: Floats) -> Scale:
        """The scale that suits the family which the numbers of a column suggest."""
        family = family_of_numbers(values, COLUMN_FAMILIES)
        if family == ZERO_LOG_NORMAL:
            least = np.quantile(values[values > 0.0], 0.01)
            return cls("symlog", float(10.0 ** np.round(np.log10(least))))
        return cls("log" if family == LOG_NORMAL else "linear")

    def place(self, values: Floats) -> Floats:
        """Where values are on an axis."""
        if self.name == "symlog":
            above = np.log10(np.maximum(values / self.unit, 1.0))
            return np.minimum(values / self.unit, 1.0) * BELOW_UNIT + above
        return np.log(values) if self.name == "log" else values

    def value(self, places: Floats) -> Floats:
        """The values at places on an axis."""
        if self.name == "symlog":
            above = 10.0 ** np.maximum(places - BELOW_UNIT, 0.0)
            return self.unit * np.where(places <= BELOW_UNIT, places / BELOW_UNIT, above)
        return np.exp(places) if self.name == "log" else places

    def options(self) -> dict[str, float]:
        """What matplotlib needs besides the name."""
        return {"linthresh": self.unit} if self.name == "symlog" else {}


def draw_pairs(figure: Figure, rows: Floats, ranks: Ranks, names: list[str]) -> None:
    """Draw the lower triangle of a grid; what is above its diagonal stays free.

    A panel shows the rows that miss neither of its columns. A column of positive numbers with a
    long tail upwards has a logarithmic scale; if many are 0, one that is linear near 0.
    """
    n_columns = rows.shape[1]
    scales = [Scale.of(x) for x in rows.T]
    grid = figure.add_gridspec(n_columns, n_columns)
    for j in range(n_columns):
        top = figure.add_subplot(grid[j, j])
        _draw_histogram(top, rows[:, j], ranks, scales[j])
        panels = [top]
        for i in range(j + 1, n_columns):
            panels.append(figure.add_subplot(grid[i, j], sharex=top))
            _draw_pair(panels[-1], rows[:, [j, i]], ranks, scales[i])
        _label(panels, j, names)
    figure.align_labels()


def _label(panels: list[Axes], j: int, names: list[str]) -> None:
    """Label the panels of column j, the histogram first, where they are at the grid's edge."""
    for panel in panels:
        panel.tick_params(labelsize=7, labelbottom=panel is panels[-1])
        panel.spines[["top", "right"]].set_visible(False)
    panels[-1].set_xlabel(names[j])
    for i, panel in enumerate(panels[1:], start=j + 1):
        panel.tick_params(labelleft=j == 0)
        panel.set_ylabel(names[i] if j == 0 else "")


def _draw_pair(axes: Axes, points: Floats, ranks: Ranks, scale: Scale) -> None:
    known = ~np.isnan(points).any(axis=1)
    scatter(axes, points[known], ranks[known])
    axes.set_yscale(scale.name, **scale.options())


def _draw_histogram(axes: Axes, values: Floats, ranks: Ranks, scale: Scale) -> None:
    known = ~np.isnan(values)
    places, ranks = scale.place(values[known]), ranks[known]
    edges = _bin_edges(places)
    for rank in range(int(ranks.max(initial=-1)) + 1):
        counts, _ = np.histogram(places[ranks == rank], edges)
        axes.stairs(counts, scale.value(edges), fill=True, color=style_of(rank)[0], alpha=0.5)
    axes.set_xscale(scale.name, **scale.options())
    axes.set(yticks=[])
    axes.spines["left"].set_visible(False)


def _bin_edges(values: Floats) -> Floats:
    """Edges of bins from the least to the greatest value, or about values that are equal."""
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    if high - low <= EQUAL * abs(high):
        half = EQUAL * abs(high) or 0.5
        low, high = low - half, high + half
    return np.linspace(low, high, N_HISTOGRAM_BINS + 1)
