"""Pictures of the density of one column."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.base import require_fitted
from dpmlite.estimators.family_estimator import FamilyEstimator
from dpmlite.estimators.mapdpm import MAPDPM
from dpmlite.estimators.priors import FAMILIES
from dpmlite.estimators.validation import check_rows
from dpmlite.plotting.style import escaped, require_matplotlib, style_of

if TYPE_CHECKING:
    import os

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_density(
    model: FamilyEstimator,
    X: npt.ArrayLike,
    *,
    name: str = "x",
    path: str | os.PathLike[str] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw the predictive density of a model of one column over a histogram of rows.

    For a `MAPDPM`, the part of each cluster in the density is drawn in the cluster's colour.

    Parameters
    ----------
    model : MAPDPM, CollapsedGibbs, DPSearch, BayesianHierarchicalClustering or VariationalDPM
        Fitted to one column.
    X : array-like, shape (N, 1)
        Rows; finite numbers.
    name : str, default "x"
        Name of the column, for the axis.
    path : path-like, optional
        File to write; its suffix sets the format.
    axes : matplotlib.axes.Axes, optional
        Axes to draw in. Default: those of a new figure.

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

    See Also
    --------
    plot_clusters : The rows alone, of any number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from dpmlite import MAPDPM
    >>> from dpmlite.plotting import plot_density
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 1, (50, 1)) for c in (0, 5)])
    >>> figure = plot_density(MAPDPM(random_state=0).fit(X), X)
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
        axes.plot(grid[:, 0], share * density, color=style_of(rank)[0], linewidth=1.0)
    axes.plot(grid[:, 0], density, color="black")
    axes.set(xlabel=escaped(name), ylabel="density")
    figure = axes.figure.get_figure(root=True)
    assert figure is not None  # every axes has one
    if path is not None:
        figure.savefig(path)
    return figure
