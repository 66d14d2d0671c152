"""A picture of what clusters are: how much each column tells of each, and typical values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.plotting.style import escaped, require_matplotlib

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

# Clusters and columns that are shown at most: the largest, and those that tell most.
MAX_CLUSTERS = 10
MAX_COLUMNS = 25

# Letters of a typical value, at most.
MAX_LETTERS = 20

# Nats at which colours end: a column that tells more separates a cluster all but surely.
MAX_NATS = 3.0


def plot_profiles(model: Any, *, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draw a table of clusters and columns, coloured by how much a column tells of a cluster.

    Columns that tell most come first. Each cell has what is typical in the cluster, as in
    `MAPDPM.explain`; the darker it is, the more nats separate the cluster from the others there.

    Parameters
    ----------
    model : MAPDPM
        A fitted model, or another mixture that has `explain`.
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
    from matplotlib.figure import Figure

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
    figure = Figure(figsize=(2.5 + 1.6 * n_shown, 1.2 + 0.32 * len(order)), layout="constrained")
    axes = figure.add_subplot()
    axes.imshow(nats[order], cmap="Blues", vmin=0.0, vmax=MAX_NATS, aspect="auto")
    axes.set_xticks(range(n_shown), [_heading(model, k) for k in range(n_shown)])
    axes.set_yticks(range(len(order)), [escaped(names[j]) for j in order])
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0)
    axes.spines[:].set_visible(False)
    for row, j in enumerate(order):
        for k in range(n_shown):
            colour = "white" if nats[j, k] > 0.6 * MAX_NATS else "black"
            text = escaped(_shortened(words[j, k]))
            axes.text(k, row, text, ha="center", va="center", fontsize=8, color=colour)
    if path is not None:
        figure.savefig(path)
    return figure


def _heading(model: Any, k: int) -> str:
    return f"cluster {k}\n{model.weights_[k]:.0%}"


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_LETTERS else text[: MAX_LETTERS - 1] + "…"
