"""A picture of what clusters are: how much each column tells of each, and typical values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.plotting.style import escaped, require_matplotlib

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Clusters and columns that are shown at most: the largest, and those that tell most.
MAX_CLUSTERS = 10
MAX_COLUMNS = 25

# Letters of a typical value, at most.
MAX_LETTERS = 20

# Sizes of letters, and the width of one of size 1, all in points.
MIN_POINTS, MAX_POINTS, POINTS_PER_LETTER = 3.0, 8.0, 0.62

# Nats at which colours end: a column that tells more separates a cluster all but surely.
MAX_NATS = 3.0


def plot_profiles(
    model: Any, *, path: str | os.PathLike[str] | None = None, ax: Axes | None = None
) -> Figure:
    """Draw a table of clusters and columns, coloured by how much a column tells of a cluster.

    Columns that tell most come first. Each cell has what is typical in the cluster, as in
    `MAPDPM.explain`; the darker it is, the more nats separate the cluster from the others there.

    Parameters
    ----------
    model : MAPDPM
        A fitted model, or another mixture that has `explain`.
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
    TypeError
        If `model` has no `explain`.
    NotFittedError
        If it is not fitted.
    ValueError
        If the format is unknown.

    See Also
    --------
    plot_clusters : The rows, in the colours of their clusters.

    Examples
    --------
    >>> from dpmlite import MAPDPM
    >>> from dpmlite.datasets import load_sensors
    >>> from dpmlite.plotting import plot_profiles
    >>> model = MAPDPM(random_state=0).fit(load_sensors()[0])
    >>> figure = plot_profiles(model)
    """
    require_matplotlib()
    from dpmlite.plotting.picture import axes_of, figure_of

    if not hasattr(model, "explain"):
        raise TypeError(f"model must have explain, as MAPDPM, got a {type(model).__name__}")
    first = model.explain(0)  # it checks the model
    n_shown = min(model.n_clusters_, MAX_CLUSTERS)
    reports = [first, *(model.explain(k) for k in range(1, n_shown))]
    nats = np.array([[float(row[1]) for row in sorted(report.rows)] for report in reports]).T
    words = np.array(
        [[row[2] for row in sorted(report.rows)] for report in reports], dtype=object
    ).T
    names = [row[0] for row in sorted(first.rows)]
    order = np.argsort(-nats.max(axis=1), kind="stable")[:MAX_COLUMNS]
    axes = axes_of(ax, 2.5 + 1.6 * n_shown, 1.2 + 0.32 * len(order))
    axes.imshow(nats[order], cmap="Blues", vmin=0.0, vmax=MAX_NATS, aspect="auto")
    axes.set_xticks(range(n_shown), [_heading(model, k) for k in range(n_shown)])
    axes.set_yticks(range(len(order)), [escaped(names[j]) for j in order])
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    axes.spines[:].set_visible(False)
    size = _font_size(axes, [_shortened(text) for text in words[order].flat], n_shown)
    for row, j in enumerate(order):
        for k in range(n_shown):
            colour = "white" if nats[j, k] > 0.6 * MAX_NATS else "black"
            text = escaped(_shortened(words[j, k]))
            axes.text(k, row, text, ha="center", va="center", fontsize=size, color=colour)
    figure = figure_of(axes)
    if path is not None:
        figure.savefig(path)
    return figure


def _font_size(axes: Axes, texts: list[str], n_clusters: int) -> float:
    """The size, in points, at which the longest text fits into a cell."""
    from dpmlite.plotting.picture import figure_of

    points = 72.0 * figure_of(axes).get_size_inches()[0] * axes.get_position().width / n_clusters
    letters = max(len(text) for text in texts)
    return float(np.clip(points / (POINTS_PER_LETTER * letters), MIN_POINTS, MAX_POINTS))


def _heading(model: Any, k: int) -> str:
    return f"cluster {k}\n{model.weights_[k]:.0%}"


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_LETTERS else text[: MAX_LETTERS - 1] + "…"
