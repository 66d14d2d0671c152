"""Pictures of clusters. They need matplotlib, which is imported when the first is drawn."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.base import require_fitted
from dpmlite.estimators.bhc import BayesianHierarchicalClustering
from dpmlite.estimators.family_estimator import FamilyEstimator
from dpmlite.estimators.mapdpm import MAPDPM
from dpmlite.estimators.priors import FAMILIES
from dpmlite.estimators.validation import check_labels, check_rows

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The colours of Okabe & Ito, which colour-blind people can tell apart, without the yellow that
# is lost on white. Clusters beyond them differ by their marker too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vP"

LEGEND_AT_MOST = 10

# More leaves of a dendrogram than this are not named.
NAMED_LEAVES = 60


def require_matplotlib() -> None:
    """Raise ImportError, saying what to do, if there is no matplotlib."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise ImportError("pictures need matplotlib: python3 -m pip install matplotlib") from error


def check_picture(path: Path) -> None:
    """Raise ImportError if there is no matplotlib, ValueError if it does not draw such files."""
    require_matplotlib()
    from matplotlib.backend_bases import FigureCanvasBase

    formats = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix[1:].lower() not in formats:
        raise ValueError(f"{path}: must end with one of .{', .'.join(formats)}")


def plot_clusters(
    X: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    columns: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw rows in the colours of their clusters.

    One column becomes a strip for each cluster. Two columns become a scatter plot; more become
    one of the two leading principal components of the standardised columns. An ellipse shows
    two standard deviations around the mean of each cluster of at least three rows.

    Parameters
    ----------
    X : array-like, shape (N, D)
        Rows; finite numbers.
    labels : array-like, shape (N,)
        The cluster of each row; numbers or names.
    columns : sequence of str, optional
        D names for the axes; default "column 0", ...
    path : path-like, optional
        File to write; its ending says the format.

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
    ranks, entries = _rank_by_size(clusters, np.unique(np.asarray(labels)))
    figure = Figure(figsize=(8.0, 5.0), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    if rows.shape[1] == 1:
        _draw_strips(axes, rows[:, 0], ranks, names[0])
    else:
        _draw_plane(axes, rows, ranks, names)
    _decorate(axes, entries, len(rows))
    if path is not None:
        figure.savefig(path)
    return figure


def plot_density(
    model: FamilyEstimator,
    X: npt.ArrayLike,
    *,
    name: str = "x",
    path: str | os.PathLike[str] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw the density that a model gives to one column, over a histogram of rows.

    For a `MAPDPM` each cluster's part of the density is drawn in the cluster's colour.

    Parameters
    ----------
    model : MAPDPM, CollapsedGibbs, DPSearch, BayesianHierarchicalClustering or VariationalDPM
        Fitted to one column.
    X : array-like, shape (N, 1)
        Rows; finite numbers.
    name : str, default "x"
        For the axis.
    path : path-like, optional
        File to write; its ending says the format.
    axes : matplotlib.axes.Axes, optional
        Where to draw. Default: a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        Made without pyplot, so no window opens and no global state changes.

    Raises
    ------
    ImportError
        If there is no matplotlib.
    TypeError
        If `model` has no density.
    NotFittedError
        If it is not fitted.
    ValueError
        If `X` has more than one column, or the model was fitted to more.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmlite import MAPDPM
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 1)) for c in (0, 5)])
    >>> figure = plot_density(MAPDPM(random_state=0).fit(X), X)  # doctest: +SKIP
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    rows = check_rows(X)
    if rows.shape[1] != 1:
        raise ValueError(f"X must have one column for a density, got shape {rows.shape}")
    if not isinstance(model, FamilyEstimator):
        raise TypeError(f"model must have a density, got a {type(model).__name__}")
    require_fitted(model)
    if FAMILIES[model.component_].takes_sparse:
        raise ValueError(f"model must be of real numbers, got component {model.component_!r}")
    margin = 0.15 * max(np.ptp(rows), np.finfo(float).tiny)
    grid = np.linspace(rows.min() - margin, rows.max() + margin, 512)[:, None]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        density = np.exp(model.score_samples(grid))
        shares = model.predict_proba(grid).T if isinstance(model, MAPDPM) else ()
    if axes is None:
        axes = Figure(figsize=(8.0, 5.0), dpi=150, layout="constrained").add_subplot()
        axes.spines[["top", "right"]].set_visible(False)
    axes.hist(rows[:, 0], bins=40, density=True, color="0.85")
    axes.plot(rows[:, 0], np.zeros(len(rows)), "|", color="0.4", markersize=4)
    for rank, share in enumerate(shares):
        axes.plot(grid[:, 0], share * density, color=_style(rank)[0], linewidth=1.0)
    axes.plot(grid[:, 0], density, color="black")
    axes.set(xlabel=_plain(name), ylabel="density")
    figure = axes.figure.get_figure(root=True)
    assert figure is not None  # every axes has one
    if path is not None:
        figure.savefig(path)
    return figure


def plot_dendrogram(
    model: BayesianHierarchicalClustering,
    *,
    names: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw the tree of a hierarchical clustering in the colours of its clusters.

    A merge is as high as the log odds against its being one cluster, or as the lowest merge above
    it; the tree is cut at even odds. Heights beyond 1 are on a logarithmic scale.

    Parameters
    ----------
    model : BayesianHierarchicalClustering
        Fitted; of at least two leaves.
    names : sequence of str, optional
        M names of the leaves, shown if there are at most 60. Default: their numbers.
    path : path-like, optional
        File to write; its ending says the format.

    Returns
    -------
    matplotlib.figure.Figure
        Made without pyplot, so no window opens and no global state changes.

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

    Examples
    --------
    >>> from dpmlite import BayesianHierarchicalClustering
    >>> from dpmlite.datasets import load_sensors
    >>> model = BayesianHierarchicalClustering().fit(load_sensors()[0])
    >>> figure = plot_dendrogram(model)  # doctest: +SKIP
    """
    require_matplotlib()
    from matplotlib.figure import Figure

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
    ranks, entries = _rank_by_size(model.labels_, np.unique(model.labels_))
    figure = Figure(figsize=(10.0, 5.0), dpi=150, layout="constrained")
    axes = figure.add_subplot()
    order = _draw_tree(axes, model, ranks)
    axes.axhline(0.0, color="0.6", linewidth=0.8, linestyle="--")
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set(ylabel="log odds against one cluster", xlim=(-1.0, float(n)), xticks=[])
    if n <= NAMED_LEAVES:
        given = range(n) if names is None else list(names)  # by position, of a Series too
        shown = [_plain(given[k]) for k in order]
        axes.set_xticks(range(n), shown, rotation=90, fontsize=7)
    _decorate(axes, entries, len(ranks))
    if path is not None:
        figure.savefig(path)
    return figure


def _draw_tree(
    axes: Axes, model: BayesianHierarchicalClustering, ranks: npt.NDArray[np.intp]
) -> list[int]:
    """Draw all merges; returns the leaves from left to right."""
    from matplotlib.collections import LineCollection

    n, order = model.n_leaves_, _leaf_order(model.children_)
    height = np.full(2 * n - 1, 2.0 * min(-model.log_odds_.max(), -1.0))
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
        colours += [_style(owner)[0] if owner >= 0 else "0.3" for owner in owners]
    axes.add_collection(LineCollection(lines, colors=colours, linewidths=0.9))
    axes.set_ylim(height.min(), 2.0 * max(height.max(), 1.0))
    return order


def _leaf_order(children: npt.NDArray[np.intp]) -> list[int]:
    """Leaves such that no branches cross."""
    n = len(children) + 1
    order, waiting = [], [2 * n - 2]
    while waiting:
        node = waiting.pop()
        if node < n:
            order.append(node)
        else:
            waiting.extend(int(child) for child in children[node - n])
    return order


def _axis_names(columns: Sequence[str] | None, n_columns: int) -> list[str]:
    names = [f"column {j}" for j in range(n_columns)] if columns is None else columns
    if len(names) != n_columns:
        raise ValueError(f"columns must be {n_columns} names, got {len(names)}")
    return [_plain(name) for name in names]


def _plain(text: object) -> str:
    """Text that matplotlib does not take for a formula."""
    return str(text).replace("$", r"\$")


def _rank_by_size(
    clusters: npt.NDArray[np.intp], values: npt.NDArray[np.generic]
) -> tuple[npt.NDArray[np.intp], list[str]]:
    """Clusters renumbered from the largest, and what the legend says about each."""
    counts = np.bincount(clusters)
    order = np.argsort(-counts, kind="stable")
    entries = [f"{_plain(values[k])}  ({counts[k]})" for k in order]
    return np.argsort(order)[clusters], entries


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
            _draw_ellipse(axes, members, _style(rank)[0])
    axes.set(xlabel=names[0], ylabel=names[1])


def _principal_plane(rows: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], list[str]]:
    """Scores on the two leading principal components of the standardised columns."""
    centred = rows - rows.mean(axis=0)
    centred /= _largest(centred)
    scales = centred.std(axis=0)
    standard = centred / np.where(scales > 0.0, scales, 1.0)
    _, lengths, directions = np.linalg.svd(standard, full_matrices=False)
    # A direction's sign is arbitrary: its largest entry is made positive.
    largest = np.abs(directions).argmax(axis=1)
    signs = np.where(directions[np.arange(len(directions)), largest] < 0.0, -1.0, 1.0)
    scores = np.zeros((len(rows), 2))  # one row has but one component
    leading = (directions * signs[:, None])[:2]
    scores[:, : len(leading)] = standard @ leading.T
    shares = np.zeros(2)
    shares[: len(leading)] = lengths[:2] ** 2 / max(np.sum(lengths**2), np.finfo(float).tiny)
    return scores, [
        f"principal component {j} ({share:.0%} of the variance)"
        for j, share in enumerate(shares, start=1)
    ]


def _largest(centred: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The largest size in each column, or 1: squares of numbers over it do not overflow."""
    sizes = np.abs(centred).max(axis=0)
    return np.where(sizes > 0.0, sizes, 1.0)


def _style(rank: int) -> tuple[str, str]:
    """Colour and marker of the cluster of a rank."""
    return COLOURS[rank % len(COLOURS)], MARKERS[rank // len(COLOURS) % len(MARKERS)]


def _scatter(axes: Axes, points: npt.NDArray[np.float64], ranks: npt.NDArray[np.intp]) -> None:
    # Many points become small and light, so that a crowd still shows its shape.
    crowd = min(1.0, (500.0 / len(points)) ** 0.5)
    for rank in range(int(ranks.max()) + 1):
        colour, marker = _style(rank)
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


def _decorate(axes: Axes, entries: list[str], n_rows: int) -> None:
    from matplotlib.lines import Line2D

    n_clusters = len(entries)
    axes.set_title(f"{_count(n_clusters, 'cluster')} in {_count(n_rows, 'row')}", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    handles = []
    for rank, entry in enumerate(entries[:LEGEND_AT_MOST]):
        colour, marker = _style(rank)
        handles.append(Line2D([], [], color=colour, marker=marker, linestyle="none", label=entry))
    if n_clusters > LEGEND_AT_MOST:
        rest = f"and {n_clusters - LEGEND_AT_MOST} smaller"
        handles.append(Line2D([], [], linestyle="none", label=rest))
    axes.legend(
        handles=handles,
        title="cluster  (rows)",
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        frameon=False,
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
