"""Pictures of the density of one column."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.bases.family_estimator import FamilyEstimator
from dpmlite.estimators.fitted.not_fitted import require_fitted
from dpmlite.estimators.inputs.arrays import check_rows
from dpmlite.estimators.inputs.columns import FULL, LOG_NORMAL
from dpmlite.estimators.inputs.user_tables import column_names
from dpmlite.estimators.mapdpm import MAPDPM
from dpmlite.plotting.style import add_legend, escaped, require_matplotlib, style_of

if TYPE_CHECKING:
    import os

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpmlite.estimators.inputs.data import Floats

# Families that have a density of real numbers.
REAL = ("normal-gamma", FULL, "normal-known-variance", LOG_NORMAL)


def plot_density(
    model: FamilyEstimator,
    X: npt.ArrayLike,
    *,
    name: str | None = None,
    path: str | os.PathLike[str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the predictive density of a model of one column over a histogram of rows.

    For a `MAPDPM`, the part of each cluster in the density is an area in the cluster's colour.

    Parameters
    ----------
    model : MAPDPM, CollapsedGibbs, DPSearch, BayesianHierarchicalClustering or VariationalDPM
        Fitted to one column.
    X : array-like, shape (N, 1)
        Rows; missing values are left out.
    name : str, optional
        Name of the column, for the axis. Default: that of a data frame, or "x".
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
        If `model` has no density.
    NotFittedError
        If it is not fitted.
    ValueError
        If `X` has more than one column or no value, or the model was fitted to more, or to counts
        or categories.

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
    from dpmlite.plotting.picture import axes_of, finished

    rows = check_rows(X, allow_missing=True)
    if rows.shape[1] != 1:
        raise ValueError(f"X must have one column for a density, got shape {rows.shape}")
    rows = rows[~np.isnan(rows[:, 0])]
    if len(rows) == 0:
        raise ValueError("X must have a value for a density, all are missing")
    if not isinstance(model, FamilyEstimator):
        raise TypeError(f"model must have a density, got a {type(model).__name__}")
    require_fitted(model)
    grid = _grid(rows, _families_of(model))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        density = np.exp(model.score_samples(grid))
        shares = model.predict_proba(grid).T if isinstance(model, MAPDPM) else ()
    axes = axes_of(ax, 8.0, 5.0)
    axes.hist(rows[:, 0], bins=40, density=True, color="0.85")
    axes.plot(rows[:, 0], np.zeros(len(rows)), "|", color="0.4", markersize=4)
    for rank, share in enumerate(shares):
        _draw_part(axes, grid[:, 0], share * density, style_of(rank)[0])
    axes.plot(grid[:, 0], density, color="black")
    axes.set(xlabel=escaped(_name_of(X) if name is None else name), ylabel="density")
    axes.spines[["top", "right"]].set_visible(False)
    if isinstance(model, MAPDPM):
        entries = [f"{k}  ({weight:.1%})" for k, weight in enumerate(model.weights_)]
        add_legend(axes, entries, "cluster  (share)")
    return finished(axes, path)


def _name_of(X: npt.ArrayLike) -> str:
    """The name of the column of a data frame; "x" for any other column."""
    names = column_names(X)
    return "x" if names is None else str(names[0])


def _families_of(model: FamilyEstimator) -> list[str]:
    """The families of the columns, which must be of real numbers."""
    found = model.component_
    families = list(found.values()) if isinstance(found, Mapping) else [found]
    for family in families:
        if family not in REAL:
            raise ValueError(f"model must be of real numbers, got component {family!r}")
    return families


def _grid(rows: Floats, families: list[str]) -> Floats:
    """Numbers across the rows and somewhat beyond, shape (L, 1); positive for logarithms."""
    margin = 0.15 * max(np.ptp(rows), np.finfo(float).tiny)
    low = rows.min() - margin
    if LOG_NORMAL in families:
        low = max(low, 0.1 * rows.min())
    return np.linspace(low, rows.max() + margin, 512)[:, None]


def _draw_part(axes: Axes, x: Floats, density: Floats, colour: str) -> None:
    axes.fill_between(x, density, color=colour, alpha=0.25, linewidth=0.0)
    axes.plot(x, density, color=colour, linewidth=1.0)
