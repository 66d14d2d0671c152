"""Pictures of the tree in which components join to clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.fitted.not_fitted import require_tree
from dpmlite.estimators.mapdpm import MAPDPM
from dpmlite.joining import VALLEY_DEPTH
from dpmlite.plotting.style import escaped, require_matplotlib, style_of

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpmlite.estimators.inputs.data import Floats, Indices

# Depths from here on are not told apart: clusters without density between them join at hundreds.
MAX_SHOWN_DEPTH = 4

# The numbers of more components would overlap.
MAX_NUMBERED_COMPONENTS = 40


def plot_cluster_tree(
    model: MAPDPM,
    *,
    path: str | os.PathLike[str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw how deep the valleys are at which components join to clusters.

    Each leaf is a component, in the colour of its cluster. Clusters join where the valley between
    them is as deep as the height, in nats; heights end at 4. The dashed line is the depth up to
    which components join by default.

    Parameters
    ----------
    model : MAPDPM
        A fitted model with `cluster_tree_`, of at least two components.
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
        If `model` is not a `MAPDPM`.
    NotFittedError
        If it is not fitted, or its components were not joined.
    ValueError
        If there is but one component, or the format of the file is unknown.

    See Also
    --------
    dpmlite.MAPDPM.labels_at : Labels of another level of the tree.

    Examples
    --------
    >>> from dpmlite import MAPDPM
    >>> from dpmlite.datasets import load_sensors
    >>> from dpmlite.plotting import plot_cluster_tree
    >>> figure = plot_cluster_tree(MAPDPM(random_state=0).fit(load_sensors()[0]))
    """
    require_matplotlib()
    from dpmlite.plotting.picture import axes_of, finished

    if not isinstance(model, MAPDPM):
        raise TypeError(f"model must be a MAPDPM, got a {type(model).__name__}")
    require_tree(model)
    n_components = len(model.cluster_tree_) + 1
    if n_components < 2:
        raise ValueError(f"model must have at least two components, got {n_components}")
    clusters = getattr(model, "cluster_of_component_", np.arange(n_components))
    axes = axes_of(ax, 8.0, 4.0)
    order = _draw_joins(axes, model.cluster_tree_)
    for x, k in enumerate(order):
        colour, marker = style_of(int(clusters[k]))
        axes.plot(x, 0.0, color=colour, marker=marker, clip_on=False, zorder=3)
    axes.axhline(VALLEY_DEPTH, color="0.5", linestyle="--", linewidth=0.8)
    shown = [escaped(k) for k in order] if n_components <= MAX_NUMBERED_COMPONENTS else []
    axes.set_xticks(range(len(shown)), shown, fontsize=8)
    axes.tick_params(axis="x", length=0.0, pad=6.0)
    depths = range(MAX_SHOWN_DEPTH + 1)
    axes.set_yticks(depths, [*map(str, depths[:-1]), f"≥ {MAX_SHOWN_DEPTH}"])
    axes.set(xlabel="component", ylabel="depth of the valley, nats")
    axes.set(xlim=(-0.7, n_components - 0.3), ylim=(0.0, 1.05 * MAX_SHOWN_DEPTH))
    axes.spines[["top", "right"]].set_visible(False)
    return finished(axes, path)


def _draw_joins(axes: Axes, tree: Floats) -> Indices:
    """Draw all joins; return the components from left to right."""
    n = len(tree) + 1
    leaves = {k: [k] for k in range(n)}
    for i, (one, other) in enumerate(tree[:, :2].astype(int)):
        leaves[n + i] = leaves[one] + leaves[other]
    order = np.array(leaves[2 * n - 2])
    x, height = np.empty(2 * n - 1), np.zeros(2 * n - 1)
    x[order] = np.arange(n)
    height[n:] = np.minimum(tree[:, 2], MAX_SHOWN_DEPTH)
    for i, pair in enumerate(tree[:, :2].astype(int)):
        x[n + i] = x[pair].mean()
        (left, right), (low, other_low), top = x[pair], height[pair], height[n + i]
        axes.plot([left, left, right, right], [low, top, top, other_low], color="0.2", lw=1.0)
    return order
