"""What all pictures share: the check for matplotlib, colours, markers, title and legend."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.fitted.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# The colours of Okabe & Ito, which colour-blind people can tell apart, without the yellow, which is
# lost on white. Beyond their number, clusters differ by their marker too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vP"

MAX_LEGEND_ENTRIES = 10

# Title of a legend.
ROWS_OF_CLUSTERS = "cluster  (rows)"

# Part of their width that axes keep where a legend must find room beside them.
AXES_SHARE = 0.72


def require_matplotlib() -> None:
    """Raise ImportError, saying what to do, if matplotlib is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError("pictures need matplotlib: python3 -m pip install matplotlib") from error


def check_picture(path: Path) -> None:
    """Raise ImportError without matplotlib, ValueError if it cannot write files of this suffix."""
    require_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    formats = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix[1:].lower() not in formats:
        raise ValueError(f"{path}: must end with one of .{', .'.join(formats)}")


def escaped(text: object) -> str:
    """Text with dollar signs escaped, which matplotlib would read as a formula."""
    return str(text).replace("$", r"\$")


def rank_by_size(
    clusters: npt.NDArray[np.intp], values: npt.NDArray[np.generic]
) -> tuple[npt.NDArray[np.intp], list[str]]:
    """The rank by size of each row's cluster, 0 for the largest, and a legend entry a rank."""
    counts = np.bincount(clusters)
    order = np.argsort(-counts, kind="stable")
    entries = [f"{escaped(values[k])}  ({counts[k]})" for k in order]
    return np.argsort(order)[clusters], entries


def style_of(rank: int) -> tuple[str, str]:
    """Colour and marker of the cluster of this rank."""
    return COLOURS[rank % len(COLOURS)], MARKERS[rank // len(COLOURS) % len(MARKERS)]


def title_of(n_clusters: int, n_rows: int, n_hidden: int = 0) -> str:
    """The title of a picture, which tells how many rows are not shown."""
    hidden = f"; {n_hidden} with missing values not shown" if n_hidden else ""
    return f"{counted(n_clusters, 'cluster')} in {counted(n_rows, 'row')}{hidden}"


def decorate(axes: Axes, entries: list[str], title: str) -> None:
    """Add the title and the legend; remove the frame."""
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    add_legend(axes, entries, ROWS_OF_CLUSTERS)


def legend_handles(entries: list[str]) -> list[Line2D]:
    """What a legend shows of clusters, the largest first."""
    from matplotlib.lines import Line2D

    handles = []
    for rank, entry in enumerate(entries[:MAX_LEGEND_ENTRIES]):
        colour, marker = style_of(rank)
        handles.append(Line2D([], [], color=colour, marker=marker, linestyle="none", label=entry))
    if len(entries) > MAX_LEGEND_ENTRIES:
        rest = f"and {len(entries) - MAX_LEGEND_ENTRIES} smaller"
        handles.append(Line2D([], [], linestyle="none", label=rest))
    return handles


def add_legend(axes: Axes, entries: list[str], title: str) -> None:
    """Add a legend of clusters beside the axes, where it hides nothing.

    A figure that does not lay out its axes by itself has them narrower, to make room.
    """
    from dpmlite.plotting.picture import figure_of

    if figure_of(axes).get_layout_engine() is None and axes.get_legend() is None:
        place = axes.get_position(original=True)
        axes.set_position((place.x0, place.y0, AXES_SHARE * place.width, place.height))
    axes.legend(
        handles=legend_handles(entries),
        title=title,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
    )
