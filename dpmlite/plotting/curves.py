"""Pictures of a fit: how its objective fell, and what each candidate for alpha scored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpmlite.estimators.bases.estimator import Estimator
from dpmlite.estimators.dpsearch import DPSearch
from dpmlite.estimators.fitted.not_fitted import require_fitted
from dpmlite.estimators.mapdpm import MAPDPM
from dpmlite.plotting.style import COLOURS, require_matplotlib

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dpmlite.estimators.inputs.data import Floats

# Objectives that estimators keep for each step; whether they fall; what a step and the axis are.
TRACES = {
    "neg_log_joint_trace_": (True, "step", "neg_log_joint above its least, nats"),
    "neg_log_joint_samples_": (True, "sample", "neg_log_joint above its least, nats"),
    "lower_bound_trace_": (False, "iteration", "lower bound below its greatest, nats"),
    "objective_trace_": (True, "pass", "objective above its least"),
}

# The axis of a trace is linear up to here, and logarithmic above.
LINEAR = 1.0


def plot_trace(
    model: Estimator, *, path: str | os.PathLike[str] | None = None, ax: Axes | None = None
) -> Figure:
    """Draw how far the objective of each step was from the best of all steps.

    Parameters
    ----------
    model : MAPDPM, DPSearch, CollapsedGibbs, VariationalDPM or DPMeans
        A fitted model. A chain has a step for each sample.
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
        If `model` keeps no objectives of steps.
    NotFittedError
        If it is not fitted.
    ValueError
        If the format of the file is unknown.

    See Also
    --------
    plot_alpha : What candidates for the concentration scored.

    Examples
    --------
    >>> from dpmlite import MAPDPM
    >>> from dpmlite.datasets import load_sensors
    >>> from dpmlite.plotting import plot_trace
    >>> figure = plot_trace(MAPDPM(random_state=0).fit(load_sensors()[0]))
    """
    require_matplotlib()
    from dpmlite.plotting.picture import axes_of, finished

    trace, falls, step, label = _trace_of(model)
    gap = trace - trace.min() if falls else trace.max() - trace
    axes = axes_of(ax, 6.4, 4.0)
    axes.plot(gap, color=COLOURS[0], marker="." if len(gap) <= 50 else None)
    axes.set_yscale("symlog", linthresh=LINEAR)
    axes.set(xlabel=step, ylabel=label, ylim=(-0.1 * LINEAR, None))
    axes.locator_params(axis="x", integer=True)
    axes.spines[["top", "right"]].set_visible(False)
    return finished(axes, path)


def _trace_of(model: Estimator) -> tuple[Floats, bool, str, str]:
    """The objectives of a model, whether they fall, and names of both axes."""
    if not isinstance(model, Estimator):
        raise TypeError(f"model must be an estimator, got a {type(model).__name__}")
    require_fitted(model)
    for name, (falls, step, label) in TRACES.items():
        if hasattr(model, name):
            return getattr(model, name), falls, step, label
    raise TypeError(f"model must keep its objectives, got a {type(model).__name__}")


def plot_alpha(
    model: MAPDPM | DPSearch, *, path: str | os.PathLike[str] | None = None, ax: Axes | None = None
) -> Figure:
    """Draw the score of each candidate for the concentration, and the one that was chosen.

    Parameters
    ----------
    model : MAPDPM or DPSearch
        Fitted with ``alpha="nll"``, "loo" or "cv".
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
        If `model` is neither.
    NotFittedError
        If it is not fitted, or not with one of these.
    ValueError
        If the format of the file is unknown.

    See Also
    --------
    plot_trace : How the objective of the chosen one fell.

    Examples
    --------
    >>> from dpmlite import MAPDPM
    >>> from dpmlite.datasets import load_sensors
    >>> from dpmlite.plotting import plot_alpha
    >>> model = MAPDPM(prior="paper", alpha="nll", alphas=[0.1, 1.0, 10.0], random_state=0)
    >>> figure = plot_alpha(model.fit(load_sensors()[0]))
    """
    require_matplotlib()
    from dpmlite.plotting.picture import axes_of, finished

    if not isinstance(model, MAPDPM | DPSearch):
        raise TypeError(f"model must be a MAPDPM or a DPSearch, got a {type(model).__name__}")
    require_fitted(model, "alpha_scores_")
    held_out = model.alpha == "cv"
    label = "log density of held-out rows, nats a row" if held_out else "least objective, nats"
    axes = axes_of(ax, 6.4, 4.0)
    axes.plot(model.alphas_, model.alpha_scores_, color=COLOURS[0], marker=".")
    axes.axvline(model.alpha_, color="0.5", linestyle="--")
    axes.set(xscale="log", xlabel="alpha", ylabel=label)
    axes.set_title(f"chosen: {model.alpha_:.3g}", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    return finished(axes, path)
