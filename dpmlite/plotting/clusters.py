"""Pictures of rows in the colours of their clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, overload, runtime_checkable

import numpy as np

from dpmlite.estimators.reading import is_frame, read_columns
from dpmlite.estimators.validation import check_labels, check_rows
from dpmlite.plotting.style import (
    decorate,
    escaped,
    rank_by_size,
    require_matplotlib,
    style_of,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
    path: str | os.PathLike[str] | None = None,
    ax: Axes | None = None,
) -> Figure: ...


def plot_clusters(
    model: Any,
    X: Any,
    /,
    *,
    columns: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw rows in the colours of their clusters.

    ``plot_clusters(model, X)`` draws what a model predicts of rows, ``plot_clusters(X, labels)``
    any labels.

    One column is drawn as a strip for each cluster, two columns as a scatter plot, and more columns
    as a scatter plot of the two leading principal components of the standardised columns. An
    ellipse shows two standard deviations around the mean of each cluster of at least three rows.

    Columns of a data frame that are not of numbers are left out. Rows that miss one of one or two
    columns are not shown; the title tells how many. Of more columns, a missing cell stands at the
    mean of its row's cluster.

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
        If `X`, `labels` or `columns` do not fit together, no row can be shown, or the format is
        unknown.

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
    from dpmlite.plotting.picture import axes_of, figure_of

    X, labels = (X, model.predict(X)) if isinstance(model, Predictor) else (model, X)
    rows, names = _numbers_of(X, columns)
    clusters = check_labels(labels, len(rows))
    shown = shown_rows(rows)
    if not shown.any():
        raise ValueError("X must have a row without a missing cell, got none")
    ranks, entries = rank_by_size(clusters, np.unique(np.asarray(labels)))
    rows = _filled(rows, clusters)[shown]
    axes = axes_of(ax, 8.0, 5.0)
    if rows.shape[1] == 1:
        _draw_strips(axes, rows[:, 0], ranks[shown], names[0])
    else:
        _draw_plane(axes, rows, ranks[shown], names)
    decorate(axes, entries, len(ranks), n_hidden=int(np.count_nonzero(~shown)))
    figure = figure_of(axes)
    if path is not None:
        figure.savefig(path)
    return figure


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


def _filled(
    rows: npt.NDArray[np.float64], clusters: npt.NDArray[np.intp]
) -> npt.NDArray[np.float64]:
    """Rows with the mean of their cluster, or of all rows, or 0, for missing cells."""
    missing = np.isnan(rows)
    if not missing.any():
        return rows
    overall = np.nan_to_num(_means(rows))
    filled = rows.copy()
    for k in range(int(clusters.max()) + 1):
        members = rows[clusters == k]
        means = _means(members)
        means = np.where(np.isnan(means), overall, means)
        filled[clusters == k] = np.where(np.isnan(members), means, members)
    return filled


def _means(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Mean of the known cells of each column; NaN if there are none."""
    known = ~np.isnan(rows)
    counts = known.sum(axis=0)
    sums = np.where(known, rows / np.maximum(counts, 1), 0.0).sum(axis=0)
    return np.where(counts > 0, sums, np.nan)


def _draw_strips(
    axes: Axes, values: npt.NDArray[np.float64], ranks: npt.NDArray[np.intp], name: str
) -> None:
    # Values that coincide are told apart by height; the fixed seed draws the same picture again.
    heights = ranks + np.random.default_rng(0).uniform(-0.3, 0.3, size=len(ranks))
    _scatter(axes, np.column_stack([values, heights]), ranks)
    axes.set(xlabel=name, yticks=[])
    axes.invert_yaxis()
    axes.spines["left"].set_visible(False)


def _draw_plane(
    axes: Axes,
    rows: npt.NDArray[np.float64],
    ranks: npt.NDArray[np.intp],
    names: list[str],
) -> None:
    if rows.shape[1] > 2:
        rows, names = _principal_plane(rows)
    _scatter(axes, rows, ranks)
    for rank in range(int(ranks.max()) + 1):
        members = rows[ranks == rank]
        if len(members) >= 3:
            _draw_ellipse(axes, members, style_of(rank)[0])
    axes.set(xlabel=names[0], ylabel=names[1])


def _principal_plane(rows: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], list[str]]:
    """Scores on the two leading principal components of the standardised columns, and names."""
    centred = rows - rows.mean(axis=0)
    centred /= _largest(centred)
    scales = centred.std(axis=0)
    standard = centred / np.where(scales > 0.0, scales, 1.0)
    _, lengths, directions = np.linalg.svd(standard, full_matrices=False)
    # A direction's sign is arbitrary: its largest entry is made positive.
    largest = np.abs(directions).argmax(axis=1)
    signs = np.where(directions[np.arange(len(directions)), largest] < 0.0, -1.0, 1.0)
    scores = np.zeros((len(rows), 2))  # one row has only one component
    leading = (directions * signs[:, None])[:2]
    scores[:, : len(leading)] = standard @ leading.T
    shares = np.zeros(2)
    shares[: len(leading)] = lengths[:2] ** 2 / max(np.sum(lengths**2), np.finfo(float).tiny)
    return scores, [
        f"principal component {j} ({share:.0%} of the variance)"
        for j, share in enumerate(shares, start=1)
    ]


def _largest(centred: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Largest absolute value of each column, 1 for 0: in this unit squares do not overflow."""
    sizes = np.abs(centred).max(axis=0)
    return np.where(sizes > 0.0, sizes, 1.0)


def _scatter(axes: Axes, points: npt.NDArray[np.float64], ranks: npt.NDArray[np.intp]) -> None:
    # Many points become small and light, so that a crowd still shows its shape.
    crowd = min(1.0, (500.0 / len(points)) ** 0.5)
    for rank in range(int(ranks.max()) + 1):
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


def _draw_ellipse(axes: Axes, members: npt.NDArray[np.float64], colour: str) -> None:
    from matplotlib.patches import Ellipse

    centre = members.mean(axis=0)
    unit = _largest(members - centre).max()
    variances, directions = np.linalg.eigh(np.cov(((members - centre) / unit).T))
    # Four standard deviations across are two to each side; rounding may leave a tiny negative.
    height, width = 4.0 * unit * np.sqrt(np.maximum(variances, 0.0))
    angle = float(np.degrees(np.arctan2(directions[1, 1], directions[0, 1])))
    axes.add_patch(
        Ellipse((centre[0], centre[1]), width, height, angle=angle, fill=False, edgecolor=colour)
    )
