"""Pictures of a posterior over partitions: how many clusters, and which rows are together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.collapsed_gibbs import CollapsedGibbs
from dpmlite.estimators.exact import ExactPosterior
from dpmlite.estimators.fitted.not_fitted import require_fitted
from dpmlite.plotting.style import COLOURS, require_matplotlib

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpmlite.estimators.inputs.data import Floats, Indices

# Numbers of clusters at the ends that are less probable are not shown.
MIN_PROBABILITY = 0.001

# Clusters of fewer rows than this part of all have no number beside the matrix.
MIN_NUMBERED_SHARE = 0.02


def plot_n_clusters(
    posterior: CollapsedGibbs | ExactPosterior,
    *,
    path: str | os.PathLike[str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw how probable each number of clusters is.

    Parameters
    ----------
    posterior : CollapsedGibbs or ExactPosterior
        A fitted chain, or what `exact_posterior` returns.
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
        If what is given is neither.
    NotFittedError
        If the chain is not fitted.
    ValueError
        If the format of the file is unknown.

    See Also
    --------
    plot_co_clustering : Which rows are together.

    Examples
    --------
    >>> from dpmlite import CollapsedGibbs
    >>> from dpmlite.datasets import load_sensors
    >>> from dpmlite.plotting import plot_n_clusters
    >>> chain = CollapsedGibbs(n_samples=20, random_state=0).fit(load_sensors()[0][::10])
    >>> figure = plot_n_clusters(chain)
    """
    require_matplotlib()
    from dpmlite.plotting.picture import axes_of, finished

    _check_posterior(posterior)
    if isinstance(posterior, CollapsedGibbs):
        numbers, probability = 0, posterior.n_clusters_proba_
    else:
        numbers, probability = 1, posterior.n_clusters_proba
    shown = np.flatnonzero(probability >= MIN_PROBABILITY)
    shown = np.arange(shown.min(), shown.max() + 1)
    axes = axes_of(ax, 6.4, 4.0)
    axes.bar(shown + numbers, probability[shown], color=COLOURS[0])
    axes.locator_params(axis="x", integer=True)
    axes.set(xlabel="number of clusters", ylabel="probability")
    best = int(probability.argmax())
    axes.set_title(f"most probable: {best + numbers}, {probability[best]:.0%}", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    return finished(axes, path)


def plot_co_clustering(
    posterior: CollapsedGibbs | ExactPosterior,
    *,
    path: str | os.PathLike[str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the probability that two rows share a cluster, as a matrix.

    Rows are in the order of the clusters of the most probable partition that was found. Lines
    divide these clusters: blocks that are pale are clusters of which the posterior is not sure.

    Parameters
    ----------
    posterior : CollapsedGibbs or ExactPosterior
        A fitted chain, or what `exact_posterior` returns, of N rows. The matrix has N^2 elements.
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
        If what is given is neither.
    NotFittedError
        If the chain is not fitted.
    ValueError
        If the format of the file is unknown.

    See Also
    --------
    plot_n_clusters : How many clusters there are.
    dpmlite.CollapsedGibbs.consensus : One partition for all samples.

    Examples
    --------
    >>> from dpmlite import CollapsedGibbs
    >>> from dpmlite.datasets import load_sensors
    >>> from dpmlite.plotting import plot_co_clustering
    >>> chain = CollapsedGibbs(n_samples=20, random_state=0).fit(load_sensors()[0][::10])
    >>> figure = plot_co_clustering(chain)
    """
    require_matplotlib()
    from dpmlite.plotting.picture import axes_of, figure_of, finished

    _check_posterior(posterior)
    if isinstance(posterior, CollapsedGibbs):
        labels, together = posterior.labels_, posterior.co_clustering()
    else:
        labels, together = posterior.labels, posterior.co_clustering
    axes = axes_of(ax, 6.0, 5.0)
    _draw_matrix(axes, together, labels)
    figure_of(axes).colorbar(axes.images[-1], ax=axes, label="probability to be together")
    return finished(axes, path)


def _draw_matrix(axes: Axes, together: Floats, labels: Indices) -> None:
    """Rows in the order of their clusters, with lines between these."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    ends = np.cumsum(sizes)
    axes.imshow(together[np.ix_(order, order)], cmap="Blues", vmin=0.0, vmax=1.0)
    for end in ends[:-1] - 0.5:
        axes.axhline(end, color="0.5", linewidth=0.6)
        axes.axvline(end, color="0.5", linewidth=0.6)
    numbered = np.flatnonzero(sizes >= MIN_NUMBERED_SHARE * len(labels))
    middles, names = (ends - 0.5 * sizes - 0.5)[numbered], [str(k) for k in numbered]
    axes.set_xticks(middles, names)
    axes.set_yticks(middles, names)
    axes.tick_params(length=0.0)
    axes.set(xlabel="cluster", ylabel="cluster")


def _check_posterior(posterior: object) -> None:
    """Raise TypeError for anything else, NotFittedError for a chain that is not fitted."""
    if not isinstance(posterior, CollapsedGibbs | ExactPosterior):
        raise TypeError(
            "posterior must be a CollapsedGibbs or an ExactPosterior, "
            f"got a {type(posterior).__name__}"
        )
    if isinstance(posterior, CollapsedGibbs):
        require_fitted(posterior)
