"""Means and variances of columns, and priors that have a value for each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import models
from dpmlite.estimators.validation import LEAST, as_floats, check_positive, warn

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from dpmlite.estimators.data import Data, Floats

# Values of a row that make numpy's loops over rows no slower than those within.
WIDE_ROW = 512

# In scales of the prior: rows of wider clusters may have no squares.
LARGEST_DRAWN = 1e150

# Of values that differ by less, squares need not be above 0.
LEAST_SPREAD = 1e-150


@dataclass(frozen=True, eq=False, repr=False)
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
        Weighted, of each column; the variance of sparse tables, which no prior needs, is 0; NaN
        if it is less than a double can hold, but not 0.
    """

    n_rows: int
    weight: float
    cells: Floats
    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, data: Data, n_threads: int = 1) -> Moments:
        """Those of a table."""
        n_rows, n_columns = data.shape
        if data.values is None:
            cells = data.column_weights()
            mean = data.column_sums() / np.maximum(cells, np.finfo(float).tiny)
            return cls(n_rows, data.total_weight, cells, mean, np.zeros(n_columns))
        found = models.column_moments(data.rows(), n_threads)
        cells, mean, variance = (np.array(each) for each in found)
        variance[np.isnan(variance)] = np.inf  # the mean is not finite, either
        variance[_underflown(variance, data.values)] = np.nan
        return cls(n_rows, data.total_weight, cells, mean, variance)

    def __add__(self, other: Moments) -> Moments:
        """Those of the rows of two tables together."""
        cells = self.cells + other.cells
        part = other.cells / np.maximum(cells, np.finfo(float).tiny)
        gap = other.mean - self.mean
        ours, theirs = np.nan_to_num([self.variance, other.variance], nan=0.0, posinf=np.inf)
        within = (1.0 - part) * ours + part * theirs
        with np.errstate(over="ignore"):  # `check_reach` tells of it
            between = part * (1.0 - part) * np.square(gap)
        variance = within + between
        underflown = np.isnan(self.variance) | np.isnan(other.variance)
        variance[underflown & (variance == 0.0)] = np.nan
        return Moments(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            cells,
            self.mean + part * gap,
            variance,
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
        """The columns' variances; a constant column's counts as 1, with a warning.

        Raises
        ------
        ValueError
            If a double cannot hold one.
        """
        beyond = ~np.isfinite(self.variance)
        if beyond.any():
            j = int(np.argmax(beyond))
            value = "less" if np.isnan(self.variance[j]) else "more"
            raise ValueError(
                "X must have variances of 1e-320 at least, and squares about the mean that sum to "
                f"1e308 at most, got {value} in column {j}: change its unit"
            )
        constant = self.variance == 0.0
        if aloud and constant.any() and self.n_rows > 1:
            j = int(np.argmax(constant))
            warn(
                f"{constant.sum()} column(s) of X are constant, column {j} first: they tell "
                "clusters apart only by size; a variance of 1 is used for them"
            )
        return np.where(constant, 1.0, self.variance)


def _underflown(variance: Floats, values: Floats) -> npt.NDArray[np.bool_]:
    """Which variances are 0 although the values of the column differ, by very little."""
    zero = np.asarray(variance == 0.0)
    if not zero.any():
        return zero
    with np.errstate(over="ignore", invalid="ignore"):
        spread = reduced(np.fmax, values) - reduced(np.fmin, values)
    return np.asarray(zero & (spread > 0.0) & (spread < LEAST_SPREAD))


def constant_columns(data: Data) -> npt.NDArray[np.bool_]:
    """Which columns of a dense table have no two values that differ."""
    assert data.values is not None
    return np.asarray(~(reduced(np.fmax, data.values) > reduced(np.fmin, data.values)))


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


def per_column(name: str, value: Any, n_columns: int) -> Floats:
    """A finite number for each column from a scalar or from D numbers."""
    array = _parameters(name, value)
    if array.shape not in ((), (n_columns,)):
        raise ValueError(f"prior {name} must have shape ({n_columns},), got {array.shape}")
    if not np.isfinite(array).all():
        bad = array if array.ndim == 0 else array[~np.isfinite(array)][0]
        raise ValueError(f"prior {name} must be finite, got {bad}")
    return np.array(np.broadcast_to(array, (n_columns,)))


def positive_per_column(name: str, value: Any, n_columns: int) -> Floats:
    """A positive, finite number for each column."""
    array = _parameters(name, value)
    if array.shape not in ((), (n_columns,)):
        raise ValueError(f"prior {name} must have shape ({n_columns},), got {array.shape}")
    full = np.array(np.broadcast_to(array, (n_columns,)))
    usable = (full > 0.0) & (full < np.inf)
    if not usable.all():
        j = int(np.argmin(usable))
        raise ValueError(f"prior {name} must be positive and finite, got {full[j]} in column {j}")
    return full


def counts_per_column(name: str, value: Any, n_columns: int) -> Floats:
    """Pseudo-counts of a prior, from 1e-100 to 1e100: log-gammas of others are not precise."""
    return _within_range(name, positive_per_column(name, value, n_columns), "")


def check_ratio(prior: Mapping[str, Floats], name: str, other: str) -> None:
    """Raise ValueError unless one key of a prior is from 1e-100 to 1e100 times another."""
    with np.errstate(over="ignore"):
        _within_range(name, prior[name] / prior[other], f" times {other}")


def _within_range(name: str, values: Floats, unit: str) -> Floats:
    usable = (values >= LEAST) & (values <= 1.0 / LEAST)
    if not usable.all():
        j = int(np.argmin(usable))
        raise ValueError(
            f"prior {name} must be from 1e-100 to 1e100{unit}, got {values[j]} in column {j}"
        )
    return values


def _parameters(name: str, value: Any) -> Floats:
    """A scalar or one number for each column."""
    array = as_floats(f"prior {name}", value, ("column",))
    return array.reshape(()) if np.ndim(value) == 0 else array


def positive(name: str, value: Any) -> float:
    """A positive number of a prior."""
    return check_positive(f"prior {name}", value)


def check_distance(
    data: Data, moments: Moments, centre: Floats, scale: Floats, most: float, rule: str
) -> None:
    """Raise ValueError, with a rule, if cells lie more than `most` scales from a centre.

    Moments of the table, and maybe of other rows, mostly tell that none does: no square of a
    distance from the mean is above their sum.
    """
    if data.weights is None:
        with np.errstate(over="ignore", invalid="ignore"):
            farthest = np.sqrt(moments.cells * moments.variance) + np.abs(moments.mean - centre)
        if (farthest < 0.5 * most * scale).all():
            return
    check_range(data.values, centre, scale, most, rule)


def check_drawn(name: str, prior: Mapping[str, Any], deviations: Floats) -> None:
    """Raise ValueError, naming a key of the prior, if doubles cannot hold what was drawn."""
    if not (deviations < LARGEST_DRAWN).all():
        raise ValueError(
            f"clusters drawn must be less than {LARGEST_DRAWN} scales of the prior wide, "
            f"got {deviations.max()} from {name}={prior[name]}: raise {name}"
        )


def check_settled(means: Floats, most: float, rule: str) -> None:
    """The same of the means of clusters, in scales of a prior, once it is that of more rows."""
    check_range(means, np.zeros(1), np.ones(1), most, rule)


def check_range(
    values: Floats | None, centre: Floats, scale: Floats, most: float, rule: str
) -> None:
    """The same from the cells themselves."""
    assert values is not None
    above, below = reduced(np.fmax, values) - centre, centre - reduced(np.fmin, values)
    farthest = np.fmax(np.maximum(above, below) / scale, 0.0)
    if (farthest > most).any():
        j = int(np.argmax(farthest))
        raise ValueError(
            f"X must lie within {most:.1e} {rule}, got {farthest[j]:.1e} in column {j}"
        )
