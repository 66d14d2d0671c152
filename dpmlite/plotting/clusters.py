"""Pictures of rows in the colours of their clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, overload, runtime_checkable

import numpy as np

from dpmlite.estimators.inputs.arrays import check_rows
from dpmlite.estimators.inputs.given_labels import check_labels
from dpmlite.estimators.inputs.parameters import check_choice
from dpmlite.estimators.inputs.reading import is_frame, read_columns
from dpmlite.plotting.means import draw_means
from dpmlite.plotting.pairs import draw_pairs
from dpmlite.plotting.plane import draw_plane
from dpmlite.plotting.points import scatter
from dpmlite.plotting.style import (
    ROWS_OF_CLUSTERS,
    decorate,
    escaped,
    legend_handles,
    rank_by_size,
    require_matplotlib,
    title_of,
)
from dpmlite.plotting.table import size_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

View = Literal["auto", "plane", "pairs", "means"]

VIEWS: tuple[str, ...] = get_args(View)

# Columns of which all pairs are shown, at most.
MAX_PAIRED = 6

# Width of the grid of pairs in inches, for each column and at least; the height is 3/4 of it.
WIDTH_A_COLUMN, MIN_WIDTH = 1.8, 8.0


@runtime_checkable
class Predictor(Protocol):
    """A fitted estimator that labels rows, of dpmlite or of others."""

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.intp]:
        """The cluster of each row."""


@overload
def plot_clusters(
    model: Predictor,
    X: npt.ArrayLike,
    /,
    *,
    columns: Sequence[str] | None = None,
    view: View = "auto",
    path: str | os.PathLike[str] | None = None,
    ax: Axes | None = None,
) -> Figure: ...


@overload
def plot_clusters(
    X: npt.ArrayLike,
    labels: npt.ArrayLike,
    /,
    *,
    columns: Sequence[str] | None = None,
    view: View = "auto",
    path: str | os.PathLike[str] | None = None,
    ax: Axes | None = None,
) -> Figure: ...


def plot_clusters(
    model: Any,
    X: Any,
    /,
    *,
    columns: Sequence[str] | None = None,
    view: View = "auto",
    path: str | os.PathLike[str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw rows in the colours of their clusters.

    ``plot_clusters(model, X)`` draws what a model predicts of rows, ``plot_clusters(X, labels)``
    any labels.

    One column is drawn as a strip for each cluster, two columns as a scatter plot, three to six as
    a grid of all pairs, and more as a table of the means of the clusters.

    Columns of a data frame that are not of numbers are left out. Rows that miss one of one or two
    columns are not shown; the title tells how many. Of more columns, a row is shown wherever it has
    the cells.

    Parameters
    ----------
    model : estimator
        A fitted estimator that has `predict`.
    X : array-like, shape (N, D)
        Rows; finite numbers, or NaN for missing cells.
    labels : array-like, shape (N,)
        Without a model: the cluster of each row; numbers or names.
    columns : sequence of str, optional
        D names for the axes; default those of a data frame, or "column 0", ...
    view : {"auto", "plane", "pairs", "means"}, default "auto"
        What is drawn of two columns or more.

        - "plane": one scatter plot. Of more than two columns, it has the two leading principal
          components of the standardised columns; a missing cell stands at the mean of its row's
          cluster. An ellipse shows two standard deviations around the mean of each cluster of at
          least three rows.
        - "pairs": a scatter plot of each pair of columns, and a histogram of each column. Positive
          numbers with a long tail upwards have a logarithmic scale; where many are 0, it is linear
          near 0.
        - "means": a table of the mean of each column in each cluster, of 25 columns and 10
          clusters at most. The colour is the distance from the mean of all rows, in standard
          deviations.
        - "auto": "plane" of two columns, "pairs" of three to six, "means" of more. With `ax`,
          "plane" of up to six.
    path : path-like, optional
        File to write; its suffix sets the format.
    ax : matplotlib.axes.Axes, optional
        Axes to draw in. Default: those of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        That of `ax`; or a new one, made without pyplot, so that no window opens and no global state
        changes. Notebooks show it as the last line of a cell.

    Raises
    ------
    ImportError
        If there is no matplotlib.
    ValueError
        If `X`, `labels` or `columns` do not fit together, no row can be shown, there is an `ax` for
        pairs, or the view or the format is unknown.

    See Also
    --------
    plot_profiles : What makes each cluster one.

    Examples
    --------
    >>> from dpmlite import MAPDPM
    >>> from dpmlite.datasets import load_sensors
    >>> from dpmlite.plotting import plot_clusters
    >>> X, states, columns = load_sensors()
    >>> model = MAPDPM(random_state=0).fit(X)
    >>> figure = plot_clusters(model, X, columns=columns)
    >>> figure = plot_clusters(X, states, columns=columns)
    """
    require_matplotlib()
    check_choice("view", view, VIEWS)
    X, labels = (X, model.predict(X)) if isinstance(model, Predictor) else (model, X)
    rows, names = _numbers_of(X, columns)
    clusters = check_labels(labels, len(rows))
    shown = shown_rows(rows)
    if not shown.any():
        raise ValueError("X must have a row without a missing cell, got none")
    ranks, entries = rank_by_size(clusters, np.unique(np.asarray(labels)))
    drawn = ShownRows(rows[shown], ranks[shown], names, entries, len(ranks))
    view_drawn = _view_of(view, rows.shape[1], ax)
    if view_drawn == "pairs":
        figure = _figure_of_pairs(drawn)
    elif view_drawn == "means":
        figure = _figure_of_means(drawn, ax)
    else:
        figure = _figure_of_points(drawn, view_drawn, ax)
    if path is not None:
        figure.savefig(path)
    return figure


@dataclass(frozen=True, eq=False)
class ShownRows:
    """The rows that a picture shows, and what it says of all.

    Attributes
    ----------
    cells : ndarray, shape (N, D)
    ranks : ndarray of int, shape (N,)
        The rank by size of the cluster of each row.
    names : list of str
        Of the D columns.
    entries : list of str
        Name and size of each cluster, by rank.
    n_rows : int
        Number of rows, those included that are not shown.
    """

    cells: npt.NDArray[np.float64]
    ranks: npt.NDArray[np.intp]
    names: list[str]
    entries: list[str]
    n_rows: int

    @property
    def title(self) -> str:
        return title_of(len(self.entries), self.n_rows, self.n_rows - len(self.cells))


def _view_of(view: str, n_columns: int, ax: Axes | None) -> str:
    """The view that is drawn: one of `VIEWS` but "auto", or "strips"."""
    if view == "pairs" and ax is not None:
        raise ValueError("view='pairs' draws several axes: ax must be None")
    if n_columns == 1:
        return "strips"
    if view != "auto":
        return view
    if n_columns == 2 or (ax is not None and n_columns <= MAX_PAIRED):
        return "plane"
    return "pairs" if n_columns <= MAX_PAIRED else "means"


def _figure_of_pairs(rows: ShownRows) -> Figure:
    from dpmlite.plotting.picture import new_picture

    width = max(MIN_WIDTH, WIDTH_A_COLUMN * len(rows.names))
    figure: Figure = new_picture(width, 0.75 * width)
    draw_pairs(figure, rows.cells, rows.ranks, rows.names)
    figure.suptitle(rows.title, x=0.01, ha="left")
    handles = legend_handles(rows.entries)
    figure.legend(handles=handles, title=ROWS_OF_CLUSTERS, loc="upper right", frameon=False)
    return figure


def _figure_of_means(rows: ShownRows, ax: Axes | None) -> Figure:
    from dpmlite.plotting.picture import axes_of, figure_of

    headings = ["cluster " + "\n".join(entry.rsplit("  ", 1)) for entry in rows.entries]
    axes = axes_of(ax, *size_of(len(rows.names), len(headings)))
    draw_means(axes, rows.cells, rows.ranks, rows.names, headings)
    axes.set_title(rows.title, loc="left")
    return figure_of(axes)


def _figure_of_points(rows: ShownRows, view: str, ax: Axes | None) -> Figure:
    from dpmlite.plotting.picture import axes_of, figure_of

    axes = axes_of(ax, 8.0, 5.0)
    if view == "strips":
        _draw_strips(axes, rows.cells[:, 0], rows.ranks, rows.names[0])
    else:
        draw_plane(axes, rows.cells, rows.ranks, rows.names)
    decorate(axes, rows.entries, rows.title)
    return figure_of(axes)


def shown_rows(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Mask of the rows that a picture shows: of one or two columns, those without a gap."""
    missing = np.isnan(rows)
    few = rows.shape[1] <= 2
    return np.asarray(~(missing.any(axis=1) if few else missing.all(axis=1)))


def _numbers_of(
    X: npt.ArrayLike, columns: Sequence[str] | None
) -> tuple[npt.NDArray[np.float64], list[str]]:
    """The columns of numbers, shape (N, D), and names for the axes."""
    if is_frame(X):
        found = read_columns(X)
        is_number = [each.kind == "number" for each in found.values()]
        if not any(is_number):
            raise ValueError(f"X must have a column of numbers, got columns {list(found)}")
        default = [name if isinstance(name, str) else f"column {name}" for name in found]
        X = np.column_stack([each.cells for each in found.values() if each.kind == "number"])
        rows = check_rows(X, allow_missing=True)
    else:
        rows = check_rows(X, allow_missing=True)
        is_number = [True] * rows.shape[1]
        default = [f"column {j}" for j in range(rows.shape[1])]
    names = default if columns is None else columns
    if len(names) != len(default):
        raise ValueError(f"columns must be {len(default)} names, got {len(names)}")
    return rows, [escaped(name) for name, shown in zip(names, is_number, strict=True) if shown]


def _draw_strips(
    axes: Axes, values: npt.NDArray[np.float64], ranks: npt.NDArray[np.intp], name: str
) -> None:
    # Values that coincide are told apart by height; the fixed seed draws the same picture again.
    heights = ranks + np.random.default_rng(0).uniform(-0.3, 0.3, size=len(ranks))
    scatter(axes, np.column_stack([values, heights]), ranks)
    axes.set(xlabel=name, yticks=[])
    axes.invert_yaxis()
    axes.spines["left"].set_visible(False)
