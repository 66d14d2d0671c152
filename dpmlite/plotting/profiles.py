"""A picture of what clusters are: how much each column tells of each, and typical values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.plotting.style import escaped, require_matplotlib
from dpmlite.plotting.table import MAX_CLUSTERS, MAX_COLUMNS, draw_table, size_of

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    path, ax
        As in `plot_clusters`.

    Returns
    -------
    matplotlib.figure.Figure
        As of `plot_clusters`.

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
    from dpmlite.plotting.picture import axes_of, finished

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
    axes = axes_of(ax, *size_of(len(order), n_shown))
    draw_table(
        axes,
        nats[order],
        words[order].tolist(),
        [escaped(names[j]) for j in order],
        [f"cluster {k}\n{model.weights_[k]:.0%}" for k in range(n_shown)],
        limits=(0.0, MAX_NATS),
        colours="Blues",
    )
    axes.set_xlabel("the darker, the more the column tells of the cluster")
    return finished(axes, path)
