"""Weighted means and variances of columns, from which default priors are computed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import core
from dpmlite.estimators.inputs.extremes import reduced
from dpmlite.estimators.inputs.user_warnings import warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Data, Floats

# A column whose values differ by less may have a variance that rounds to 0.
MIN_SPREAD = 1e-150


@dataclass(frozen=True, eq=False, repr=False)
class Moments:
    """Number of rows, and weighted means and variances of the columns, without missing cells.

    Attributes
    ----------
    n_rows : int
        N.
    weight : float
        Total weight of the rows.
    cells : ndarray, shape (D,)
        Weight of the rows that have a value in each column.
    mean, variance : ndarray, shape (D,)
        Weighted mean and variance of each column. The variance is NaN where it is positive but
        rounds to 0, and 0 for sparse tables, whose priors do not need it.
    names : sequence or None
        What messages call the columns, if not by their numbers.
    """

    n_rows: int
    weight: float
    cells: Floats
    mean: Floats
    variance: Floats
    names: Sequence[Any] | None = None

    @classmethod
    def of(cls, data: Data) -> Moments:
        """Moments of the columns of a table."""
        n_rows, n_columns = data.shape
        if data.values is None:
            cells = data.column_weights()
            mean = data.column_sums() / np.maximum(cells, np.finfo(float).tiny)
            return cls(n_rows, data.total_weight, cells, mean, np.zeros(n_columns))
        found = core.column_moments(data.rows())
        cells, mean, variance = (np.array(each) for each in found)
        variance[np.isnan(variance)] = np.inf  # the mean overflowed
        variance[_underflown(variance, data.values)] = np.nan
        names = data.names if data.columns is None else data.columns.coded
        return cls(n_rows, data.total_weight, cells, mean, variance, names)

    def part(self, columns: slice | npt.NDArray[np.bool_]) -> Moments:
        """Moments of some columns."""
        names = self.names
        if names is not None:
            names = [names[j] for j in np.arange(len(names))[columns]]
        cells, mean, variance = (each[columns] for each in (self.cells, self.mean, self.variance))
        return Moments(self.n_rows, self.weight, cells, mean, variance, names)

    def numbers(self) -> dict[str, Any]:
        """The moments alone, as a fitted model keeps them."""
        return {name: value for name, value in vars(self).items() if name != "names"}

    def name(self, j: int) -> str:
        """What messages call a column."""
        name = j if self.names is None else self.names[j]
        return repr(name) if isinstance(name, str) else str(name)

    def times(self, factor: float) -> Moments:
        """Moments of the rows with weights times a factor."""
        return replace(self, weight=factor * self.weight, cells=factor * self.cells)

    def forgetting(self, part: float, n_rows: int) -> Moments:
        """Moments of rows that are `n_rows` now, and weigh this part of what they did."""
        return replace(self.times(part), n_rows=n_rows)

    def __add__(self, other: Moments) -> Moments:
        """Moments of the rows of two tables together."""
        cells = self.cells + other.cells
        part = other.cells / np.maximum(cells, np.finfo(float).tiny)
        gap = other.mean - self.mean
        ours, theirs = np.nan_to_num([self.variance, other.variance], nan=0.0, posinf=np.inf)
        within = (1.0 - part) * ours + part * theirs
        with np.errstate(over="ignore"):  # `check_reach` reports it
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
            self.names,
        )

    def means(self) -> Floats:
        """Mean of each column, shape (D,).

        Raises
        ------
        ValueError
            If a column has no value.
        """
        if not (self.cells > 0.0).all():
            j = int(np.argmin(self.cells > 0.0))
            raise ValueError(
                f"X must have a value in every column, got none in column {self.name(j)}"
            )
        return self.mean

    def variances(self, warn_constant: bool = True) -> Floats:
        """Variance of each column, shape (D,); 1 for a constant column, with a warning.

        Raises
        ------
        ValueError
            If a variance over- or underflows.
        """
        beyond = ~np.isfinite(self.variance)
        if beyond.any():
            j = int(np.argmax(beyond))
            value = "less" if np.isnan(self.variance[j]) else "more"
            raise ValueError(
                "X must have variances of 1e-320 at least, and squares about the mean that sum to "
                f"1e308 at most, got {value} in column {self.name(j)}: change its unit"
            )
        constant = self.variance == 0.0
        if warn_constant and constant.any() and self.n_rows > 1:
            j = int(np.argmax(constant))
            kind = "constant" if self.cells[constant].all() else "constant or empty"
            warn(
                f"{constant.sum()} column(s) of X are {kind}, column {self.name(j)} first: they "
                "tell clusters apart only by size; a variance of 1 is used for them"
            )
        return np.where(constant, 1.0, self.variance)


def _underflown(variance: Floats, values: Floats) -> npt.NDArray[np.bool_]:
    """Mask of the columns whose values differ, but whose variance rounds to 0."""
    zero = np.asarray(variance == 0.0)
    if not zero.any():
        return zero
    with np.errstate(over="ignore", invalid="ignore"):
        spread = reduced(np.fmax, values) - reduced(np.fmin, values)
    return np.asarray(zero & (spread > 0.0) & (spread < MIN_SPREAD))


def constant_columns(data: Data) -> npt.NDArray[np.bool_]:
    """Mask of the columns of a dense table whose values are all equal."""
    assert data.values is not None
    return np.asarray(~(reduced(np.fmax, data.values) > reduced(np.fmin, data.values)))
