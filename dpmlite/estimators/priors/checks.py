"""Checks of prior parameters, and of how far rows lie from a prior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.arrays import as_floats
from dpmlite.estimators.inputs.domain import PSEUDO_COUNT, SCALE, WORTH
from dpmlite.estimators.inputs.extremes import reduced
from dpmlite.estimators.inputs.parameters import check_positive

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Data, Floats
    from dpmlite.estimators.inputs.domain import Range
    from dpmlite.estimators.priors.moments import Moments

# Statistics that are found in two ways differ by less than this part.
STATISTICS_RTOL = 1e-6

# Drawn clusters that are wider, in prior scales, may have rows whose squares overflow.
MAX_DRAWN_WIDTH = 1e150


def per_column(name: str, value: Any, n_columns: int) -> Floats:
    """A finite number for each column, from a scalar or D numbers, shape (D,)."""
    array = _parameters(name, value)
    if array.shape not in ((), (n_columns,)):
        raise ValueError(f"prior {name} must have shape ({n_columns},), got {array.shape}")
    if not np.isfinite(array).all():
        bad = array if array.ndim == 0 else array[~np.isfinite(array)][0]
        raise ValueError(f"prior {name} must be finite, got {bad}")
    return np.array(np.broadcast_to(array, (n_columns,)))


def positive_per_column(name: str, value: Any, n_columns: int) -> Floats:
    """A positive, finite number for each column, from a scalar or D numbers, shape (D,)."""
    array = _parameters(name, value)
    if array.shape not in ((), (n_columns,)):
        raise ValueError(f"prior {name} must have shape ({n_columns},), got {array.shape}")
    full = np.array(np.broadcast_to(array, (n_columns,)))
    usable = (full > 0.0) & (full < np.inf)
    if not usable.all():
        j = int(np.argmin(usable))
        raise ValueError(f"prior {name} must be positive and finite, got {full[j]} in column {j}")
    return full


def scale_per_column(name: str, value: Any, n_columns: int) -> Floats:
    """A scale for each column, in the range of scales."""
    return _within(SCALE, name, positive_per_column(name, value, n_columns))


def counts_per_column(name: str, value: Any, n_columns: int) -> Floats:
    """Cells that the prior is worth in each column, in their range."""
    return _within(PSEUDO_COUNT, name, positive_per_column(name, value, n_columns))


def check_ratio(prior: Mapping[str, Floats], name: str, other: str) -> None:
    """Raise ValueError unless ``prior[name] / prior[other]``, in rows, is in its range."""
    with np.errstate(over="ignore"):
        _within(WORTH, name, prior[name] / prior[other], f" times {other}")


def _within(ends: Range, name: str, values: Floats, unit: str = "") -> Floats:
    usable = (values >= ends.least) & (values <= ends.most)
    if not usable.all():
        j = int(np.argmin(usable))
        raise ValueError(
            f"prior {name} must be from {ends.least:.3g} to {ends.most:.3g}{unit}, "
            f"got {values[j]} in column {j}"
        )
    return values


def _parameters(name: str, value: Any) -> Floats:
    """A parameter of a prior as a float array: 0-D from a scalar, else of its own shape."""
    array = as_floats(f"prior {name}", value, ("column",))
    return array.reshape(()) if np.ndim(value) == 0 else array


def positive(name: str, value: Any, within: Range) -> float:
    """A positive parameter of a prior as float, in a range."""
    return check_positive(f"prior {name}", value, within)


def check_distance(
    data: Data, moments: Moments, centre: Floats, scale: Floats, most: float, rule: str
) -> None:
    """Raise ValueError, stating the rule, if a cell lies more than `most` scales from the centre.

    The moments, of these rows and maybe others, mostly spare a look at the cells: the square of a
    distance from the mean is at most the sum of all of them, n times the variance.
    """
    if data.weights is None:
        with np.errstate(over="ignore", invalid="ignore"):
            farthest = np.sqrt(moments.cells * moments.variance) + np.abs(moments.mean - centre)
        if (farthest < 0.5 * most * scale).all():
            return
    check_range(data.values, centre, scale, most, rule, moments.name)


def check_drawn(name: str, prior: Mapping[str, Any], deviations: Floats) -> None:
    """Raise ValueError, naming a key of the prior, if drawn clusters are too wide for doubles."""
    if not (deviations < MAX_DRAWN_WIDTH).all():
        raise ValueError(
            f"clusters drawn must be less than {MAX_DRAWN_WIDTH} scales of the prior wide, "
            f"got {deviations.max()} from {name}={prior[name]}: raise {name}"
        )


def check_means(means: Floats, most: float, rule: str) -> None:
    """Raise ValueError if a cluster mean lies over `most` prior scales from the prior's centre."""
    check_range(means, np.zeros(1), np.ones(1), most, rule)


def check_range(
    values: Floats | None,
    centre: Floats,
    scale: Floats,
    most: float,
    rule: str,
    name: Callable[[int], str] = str,
) -> None:
    """Raise ValueError if the farthest value of a column is over `most` scales from the centre.

    `name` is what the message calls a column.
    """
    assert values is not None
    above, below = reduced(np.fmax, values) - centre, centre - reduced(np.fmin, values)
    farthest = np.fmax(np.maximum(above, below) / scale, 0.0)
    if (farthest > most).any():
        j = int(np.argmax(farthest))
        raise ValueError(
            f"X must lie within {most:.1e} {rule}, got {farthest[j]:.1e} in column {name(j)}"
        )


def are_whole(cells: Floats, most: Any = np.inf) -> npt.NDArray[np.bool_]:
    """Mask of the cells that are whole numbers from 0 to `most`."""
    return np.asarray((cells >= 0.0) & (cells <= most) & (cells == np.floor(cells)))


def check_cells_of(weights: Floats, cells: Floats, allow_missing: bool) -> None:
    """Raise ValueError unless columns have the weight of the rows, or less if cells may be missing.

    Parameters
    ----------
    weights : ndarray, shape (K,)
        Weight of each cluster.
    cells : ndarray, shape (K, D)
        Weight of the cells in each column.
    allow_missing : bool
    """
    most = weights[:, None] * (1.0 + STATISTICS_RTOL)
    least = 0.0 if allow_missing else weights[:, None] * (1.0 - STATISTICS_RTOL)
    if not ((cells >= least) & (cells <= most)).all():
        raise ValueError("statistics_ must have the cells of each cluster's rows in every column")


def check_counts_of(cells: Floats, counts: Floats, most: float) -> None:
    """Raise ValueError unless counts are those of cells of some weight, each `most` at most."""
    if not (counts <= most * (1.0 + STATISTICS_RTOL) * cells).all():
        raise ValueError(f"statistics_ must have counts of at most {most:.0f} in a cell")


def require_scatter(good: Any) -> None:
    """Raise ValueError unless the squares of every cluster are at least what its mean tells."""
    if not np.all(good):
        raise ValueError("statistics_ must have a scatter that is not negative in every cluster")
