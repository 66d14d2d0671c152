"""Means and variances of columns, and priors that have a value for each column."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmlite.estimators.data import Data, Floats
from dpmlite.estimators.validation import check_positive, warn

# Values that are looked at together: few enough to stay in the processor's cache.
BLOCK_CELLS = 2**14

# Values of a row that make numpy's loops over rows no slower than those within.
WIDE_ROW = 512


@dataclass(frozen=True)
class Moments:
    """What default priors need to know of a table, missing values left out.

    Attributes
    ----------
    n_rows : int
    weight : float
        Of the rows.
    cells : ndarray, shape (D,)
        Weight of the rows that have a value in each column.
    mean, variance : ndarray, shape (D,)
        Weighted, of each column; the variance of sparse tables, which no prior needs, is 0.
    """

    n_rows: int
    weight: float
    cells: Floats
    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, data: Data) -> "Moments":
        """Those of a table.

        Taken about a value of each column, so that a constant column's mean is exact and large
        offsets lose nothing.
        """
        n_rows, n_columns = data.shape
        if data.values is None:
            cells = data.column_weights()
            mean = data.column_sums() / np.maximum(cells, np.finfo(float).tiny)
            return cls(n_rows, data.total_weight, cells, mean, np.zeros(n_columns))
        origin = _a_value_of_each(data)
        shift, cells = _mean_over_rows(data, lambda values: values - origin)
        with np.errstate(over="ignore"):
            variance, _ = _mean_over_rows(data, lambda values: np.square(values - origin - shift))
        return cls(n_rows, data.total_weight, cells, origin + shift, variance)

    def __add__(self, other: "Moments") -> "Moments":
        """Those of the rows of two tables together."""
        cells = self.cells + other.cells
        part = other.cells / np.maximum(cells, np.finfo(float).tiny)
        gap = other.mean - self.mean
        within = (1.0 - part) * self.variance + part * other.variance
        return Moments(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            cells,
            self.mean + part * gap,
            within + part * (1.0 - part) * np.square(gap),
        )

    def means(self) -> Floats:
        """The columns' means.

        Raises
        ------
        ValueError
            If a column has no value.
        """
        if not (self.cells > 0.0).all():
            j = int(np.argmin(self.cells > 0.0))
            raise ValueError(f"X must have a value in every column, got none in column {j}")
        return self.mean

    def variances(self, aloud: bool = True) -> Floats:
        """The columns' variances; a constant column's counts as 1, with a warning."""
        constant = self.variance == 0.0
        if aloud and constant.any() and self.n_rows > 1:
            j = int(np.argmax(constant))
            warn(
                f"{constant.sum()} column(s) of X are constant, column {j} first: they tell "
                "clusters apart only by size; a variance of 1 is used for them"
            )
        return np.where(constant, 1.0, self.variance)


def constant_columns(data: Data) -> npt.NDArray[np.bool_]:
    """Which columns of a dense table have no two values that differ."""
    assert data.values is not None
    return np.asarray(~(reduced(np.fmax, data.values) > reduced(np.fmin, data.values)))


def _a_value_of_each(data: Data) -> Floats:
    """The first value of each column that is not missing; 0 if all are."""
    assert data.values is not None
    found: Floats = np.array(data.values[0], dtype=np.float64)
    for j in np.flatnonzero(np.isnan(found)):
        observed = ~np.isnan(data.values[:, j])
        found[j] = data.values[observed.argmax(), j] if observed.any() else 0.0
    return found


def reduced(ufunc: np.ufunc, values: Floats) -> Floats:
    """What `ufunc.reduce` makes of each column; a narrow table is read several rows at a time."""
    n_rows, n_columns = values.shape
    together = WIDE_ROW // max(1, n_columns)
    n_wide = n_rows // max(1, together)
    if n_wide < 2 or together < 2 or not values.flags.c_contiguous:
        return np.asarray(ufunc.reduce(values))
    wide = values[: n_wide * together].reshape(n_wide, -1)
    rest = values[n_wide * together :]
    return np.asarray(
        ufunc.reduce(np.concatenate([ufunc.reduce(wide).reshape(together, -1), rest]))
    )


def _mean_over_rows(data: Data, terms_of: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
    """Weighted mean of terms of the rows, NaN left out, and their weight.

    Some rows at a time, to save memory. The mean of no terms is 0.
    """
    assert data.values is not None
    n_rows, n_columns = data.shape
    sums, total = np.zeros(n_columns), np.zeros(n_columns)
    step = max(1, BLOCK_CELLS // n_columns)
    for start in range(0, n_rows, step):
        terms = terms_of(data.values[start : start + step])
        block = reduced(np.add, terms)
        if data.weights is None and not np.isnan(block).any():
            sums += block
            total += len(terms)
            continue
        weights = np.ones(n_rows) if data.weights is None else data.weights
        observed = ~np.isnan(terms)
        sums += weights[start : start + step] @ np.where(observed, terms, 0.0)
        total += weights[start : start + step] @ observed
    return sums / np.where(total > 0.0, total, 1.0), total


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
    above, below = reduced(np.fmax, values) - centre, centre - reduced(np.fmin, values)
    farthest = np.fmax(np.maximum(above, below) / scale, 0.0)
    if (farthest > most).any():
        j = int(np.argmax(farthest))
        raise ValueError(
            f"X must lie within {most:.1e} {rule}, got {farthest[j]:.1e} in column {j}"
        )
