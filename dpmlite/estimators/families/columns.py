"""Means and variances of columns, and priors that have a value for each column."""

from typing import Any

import numpy as np

from dpmlite.estimators.data import Data, Floats
from dpmlite.estimators.validation import check_positive, warn


def column_means(data: Data) -> Floats:
    """Weighted means of a dense table's columns, missing values left out.

    Taken about a value of each column, so that a constant column's mean is exact and large
    offsets lose nothing.
    """
    values, origin = _about_a_value(data)
    means: Floats = origin + _weighted_mean(values, data)
    return means


def column_variances(data: Data, aloud: bool = True) -> Floats:
    """Weighted variances of the columns; a constant column's counts as 1, with a warning."""
    values, _ = _about_a_value(data)
    with np.errstate(over="ignore"):
        variances = _weighted_mean(np.square(values - _weighted_mean(values, data)), data)
    constant = ~(np.fmax.reduce(values) > np.fmin.reduce(values))
    if aloud and constant.any() and data.shape[0] > 1:
        j = int(np.argmax(constant))
        warn(
            f"{constant.sum()} column(s) of X are constant, column {j} first: they tell clusters "
            "apart only by size; a variance of 1 is used for them"
        )
    variances[constant] = 1.0
    return variances


def _about_a_value(data: Data) -> tuple[Floats, Floats]:
    """The table less its first row, or less the first value of a column where that is missing."""
    assert data.values is not None
    values = data.values
    observed = ~np.isnan(values)
    if not observed.any(axis=0).all():
        j = int(np.argmin(observed.any(axis=0)))
        raise ValueError(f"X must have a value in every column, got none in column {j}")
    origin = values[observed.argmax(axis=0), np.arange(values.shape[1])]
    return values - origin, origin


def _weighted_mean(values: Floats, data: Data) -> Floats:
    if data.weights is None and not np.isnan(values.sum()):
        return np.asarray(values.mean(axis=0))
    weights = np.ones(len(values)) if data.weights is None else data.weights
    observed = ~np.isnan(values)
    sums = weights @ np.where(observed, values, 0.0)
    return np.asarray(sums / (weights @ observed), dtype=np.float64)


def per_column(name: str, value: Any, n_columns: int) -> Floats:
    """A finite number for each column from a scalar or from D numbers."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in ((), (n_columns,)):
        raise ValueError(f"prior {name} must have shape ({n_columns},), got {array.shape}")
    if not np.isfinite(array).all():
        bad = array if array.ndim == 0 else array[~np.isfinite(array)][0]
        raise ValueError(f"prior {name} must be finite, got {bad}")
    return np.array(np.broadcast_to(array, (n_columns,)))


def positive_per_column(name: str, value: Any, n_columns: int) -> Floats:
    """A positive, finite number for each column."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in ((), (n_columns,)):
        raise ValueError(f"prior {name} must have shape ({n_columns},), got {array.shape}")
    full = np.array(np.broadcast_to(array, (n_columns,)))
    usable = (full > 0.0) & (full < np.inf)
    if not usable.all():
        j = int(np.argmin(usable))
        raise ValueError(f"prior {name} must be positive and finite, got {full[j]} in column {j}")
    return full


def positive(name: str, value: Any) -> float:
    """A positive number of a prior."""
    return check_positive(f"prior {name}", value)


def check_distance(values: Floats, centre: Floats, scale: Floats, most: float, rule: str) -> None:
    """Raise ValueError, with a rule, if values lie more than `most` scales from a centre."""
    above, below = np.fmax.reduce(values) - centre, centre - np.fmin.reduce(values)
    farthest = np.fmax(np.maximum(above, below) / scale, 0.0)
    if (farthest > most).any():
        j = int(np.argmax(farthest))
        raise ValueError(
            f"X must lie within {most:.1e} {rule}, got {farthest[j]:.1e} in column {j}"
        )
