"""Pictures of rows in the colours of their clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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


def plot_clusters(
    X: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    columns: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw rows in the colours of their clusters.

    One column is drawn as a strip for each cluster, two columns as a scatter plot, and more columns
    as a scatter plot of the two leading principal components of the standardised columns. An
    ellipse shows two standard deviations around the mean of each cluster of at least three rows.

    Parameters
    ----------
    X : array-like, shape (N, D)
        Rows; finite numbers.
    labels : array-like, shape (N,)
        The cluster of each row; numbers or names.
    columns : sequence of str, optional
        D names for the axes; default "column 0", ...
    path : path-like, optional
        File to write; its suffix sets the format.

    Returns
    -------
    matplotlib.figure.Figure
        Made without pyplot, so no window opens and no global state changes.

    Raises
    ------
    ImportError
        If there is no matplotlib.
    ValueError
        If `X`, `labels` or `columns` do not fit together, or the format is unknown.

    Examples
    --------
    >>> from dpmlite.datasets import load_sensors
    >>> X, states, columns = load_sensors()
    >>> figure = plot_clusters(X, states, columns=columns)  # doctest: +SKIP
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    rows = check_rows(X)
    clusters = check_labels(labels, len(rows))
    names = _axis_names(columns, rows.shape[1])
    ranks, entries = rank_by_size(clusters, np.unique(np.asarray(labels)))
    figure = Figure(figsize=(8.0, 5.0), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    if rows.shape[1] == 1:
        _draw_strips(axes, rows[:, 0], ranks, names[0])
    else:
        _draw_plane(axes, rows, ranks, names)
    decorate(axes, entries, len(rows))
    if path is not None:
        figure.savefig(path)
    return figure


def _axis_names(columns: Sequence[str] | None, n_columns: int) -> list[str]:
    names = [f"column {j}" for j in range(n_columns)] if columns is None else columns
    if len(names) != n_columns:
        raise ValueError(f"columns must be {n_columns} names, got {len(names)}")
    return [escaped(name) for name in names]


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
