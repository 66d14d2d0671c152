"""The figures of all pictures. This module imports matplotlib: import it when one is drawn."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes


class Picture(Figure):
    """A figure made without pyplot, which a notebook shows as the last line of a cell."""

    def _repr_png_(self) -> bytes:
        """What a notebook shows: all that is drawn, also beside the axes."""
        out = BytesIO()
        self.savefig(out, format="png", bbox_inches="tight")
        return out.getvalue()


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """The given axes, or those of a new picture; width and height are in inches."""
    if ax is not None:
        return ax
    return new_picture(width, height).add_subplot()


def new_picture(width: float, height: float) -> Picture:
    """An empty picture; width and height are in inches."""
    return Picture(figsize=(width, height), dpi=150, layout="constrained")


def figure_of(ax: Axes) -> Figure:
    """The figure that has the axes, also those of a part of it."""
    figure: Figure = ax.figure.figure  # of a part of a figure, too, it is the whole
    return figure


def finished(ax: Axes, path: str | os.PathLike[str] | None) -> Figure:
    """The figure that has the axes, written to a file if there is a path."""
    figure = figure_of(ax)
    if path is not None:
        figure.savefig(path)
    return figure
