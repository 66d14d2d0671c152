"""Pictures of the trees of hierarchical clustering."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.bhc import BayesianHierarchicalClustering
from dpmlite.estimators.fitted.not_fitted import require_fitted
from dpmlite.plotting.style import (
    decorate,
    escaped,
    rank_by_size,
    require_matplotlib,
    style_of,
    title_of,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The names of more leaves would overlap.
MAX_NAMED_LEAVES = 60

# How deep leaves lie, by the depth of the lowest merge.
LEAF_DEPTH = 1.15

# The heights within clusters take as much room as this number of decades above them.
DECADES_WITHIN = 1.5


def plot_dendrogram(
    model: BayesianHierarchicalClustering,
    *,
    names: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the tree of a hierarchical clustering in the colours of its clusters.

    The height of a merge is the log odds against its being one cluster, or that of the lowest merge
    above it, if that is less. The tree is cut at even odds. Heights above those within clusters are
    on a logarithmic scale.

    Parameters
    ----------
    model : BayesianHierarchicalClustering
        A fitted model with at least two leaves.
    names : sequence of str, optional
        M names of the leaves, shown if there are at most 60. Default: their numbers.
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
        If `model` is not a tree.
    NotFittedError
        If it is not fitted.
    ValueError
        If there is but one leaf, there are not as many names as leaves, or the format is unknown.

    See Also
    --------
    dpmlite.BayesianHierarchicalClustering : Grows the tree.

    Examples
    --------
    >>> from dpmlite import BayesianHierarchicalClustering
    >>> from dpmlite.datasets import load_sensors
    >>> from dpmlite.plotting import plot_dendrogram
    >>> model = BayesianHierarchicalClustering().fit(load_sensors()[0])
    >>> figure = plot_dendrogram(model)
    """
    require_matplotlib()
    from dpmlite.plotting.picture import axes_of, finished

    if not isinstance(model, BayesianHierarchicalClustering):
        raise TypeError(
            f"model must be a BayesianHierarchicalClustering, got a {type(model).__name__}"
        )
    require_fitted(model)
    n = model.n_leaves_
    if n < 2:
        raise ValueError(f"model must have at least two leaves, got {n}")
    if names is not None and len(names) != n:
        raise ValueError(f"names must be {n} names, got {len(names)}")
    ranks, entries = rank_by_size(model.labels_, np.unique(model.labels_))
    axes = axes_of(ax, 10.0, 5.0)
    order = _draw_tree(axes, model, ranks)
    axes.axhline(0.0, color="0.6", linewidth=0.8, linestyle="--")
    axes.set(ylabel="log odds against one cluster", xlim=(-1.0, float(n)), xticks=[])
    if n <= MAX_NAMED_LEAVES:
        given = range(n) if names is None else list(names)  # by position, of a Series too
        shown = [escaped(given[k]) for k in order]
        axes.set_xticks(range(n), shown, rotation=90, fontsize=7)
    decorate(axes, entries, title_of(len(entries), len(ranks)))
    return finished(axes, path)


def _draw_tree(
    axes: Axes, model: BayesianHierarchicalClustering, ranks: npt.NDArray[np.intp]
) -> list[int]:
    """Draw all merges; return the leaves from left to right."""
    from matplotlib.collections import LineCollection

    n, order = model.n_leaves_, _leaf_order(model.children_)
    lowest = min(-model.log_odds_.max(), -1.0)
    height = np.full(2 * n - 1, LEAF_DEPTH * lowest)
    height[n:] = -model.log_odds_
    for k in reversed(range(n, 2 * n - 1)):
        below = model.children_[k - n]
        height[below] = np.minimum(height[below], height[k])
    x, cluster = np.empty(2 * n - 1), np.full(2 * n - 1, -1)
    x[order] = np.arange(n)
    used = model.leaves_ >= 0
    cluster[model.leaves_[used]] = ranks[used]
    lines, colours = [], []
    for k, (i, j) in enumerate(model.children_, start=n):
        x[k] = 0.5 * (x[i] + x[j])
        cluster[k] = cluster[i] if cluster[i] == cluster[j] else -1
        lines += [[(x[child], height[child]), (x[child], height[k])] for child in (i, j)]
        lines.append([(x[i], height[k]), (x[j], height[k])])
        owners = (int(cluster[node]) for node in (i, j, k))
        colours += [style_of(owner)[0] if owner >= 0 else "0.3" for owner in owners]
    axes.add_collection(LineCollection(lines, colors=colours, linewidths=0.9))
    # Linear as far as clusters reach: their own merges would else be pressed to the floor.
    axes.set_yscale("symlog", linthresh=-lowest, linscale=DECADES_WITHIN)
    axes.set_ylim(height.min(), 2.0 * max(height.max(), 1.0))
    return order


def _leaf_order(children: npt.NDArray[np.intp]) -> list[int]:
    """Leaves from left to right, in an order in which no branches cross."""
    n = len(children) + 1
    order, waiting = [], [2 * n - 2]
    while waiting:
        node = waiting.pop()
        if node < n:
            order.append(node)
        else:
            waiting.extend(int(child) for child in children[node - n])
    return order
