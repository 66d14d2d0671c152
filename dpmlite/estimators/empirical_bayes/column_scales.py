"""Centres and widths of columns that a few outliers do not move, from which a search starts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.inputs.extremes import reduced

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Data, Floats

# Distance between the quartiles of a normal, in standard deviations.
NORMAL_QUARTILES = 1.349

# Values further from the median than this many deviations count as lying there, for the mean.
MAX_DEVIATIONS = 10.0


@dataclass(frozen=True, eq=False, repr=False)
class ColumnScales:
    """Centre, variance and extent of each column.

    Attributes
    ----------
    centre : ndarray, shape (D,)
        The mean, of values that are not allowed to lie far from the median.
    variance : ndarray, shape (D,)
        The variance, or that of a normal with the same quartiles if this is smaller and not 0; 1
        for a constant column.
    reach : ndarray, shape (D,)
        The greatest distance of a value from the centre.
    constant : ndarray of bool, shape (D,)
        Whether all values of a column are equal, or missing.
    """

    centre: Floats
    variance: Floats
    reach: Floats
    constant: np.ndarray

    @classmethod
    def of(cls, table: Data) -> ColumnScales:
        """Scales of a dense table, whose weights count and whose missing cells do not."""
        assert table.values is not None
        weights = table.row_weights()
        columns = [_scales(column, weights) for column in table.values.T]
        centre, variance, reach = (np.array(each) for each in zip(*columns, strict=True))
        constant = variance == 0.0
        return cls(centre, np.where(constant, 1.0, variance), reach, constant)

    def reaching(self, table: Data) -> ColumnScales:
        """These scales with the extent that columns have in a table of more rows."""
        assert table.values is not None
        high, low = reduced(np.fmax, table.values), reduced(np.fmin, table.values)
        reach = np.fmax(self.reach, np.fmax(high - self.centre, self.centre - low))
        return replace(self, reach=reach)

    def take(self, chosen: np.ndarray) -> ColumnScales:
        """The scales of the columns where the mask `chosen` is true."""
        parts = self.centre, self.variance, self.reach, self.constant
        return ColumnScales(*(part[chosen] for part in parts))


def _scales(column: Floats, weights: Floats) -> tuple[float, float, float]:
    """Centre, variance and reach of one column; variance 0 if no value differs from another."""
    known = ~np.isnan(column)
    if not known.any():
        return 0.0, 0.0, 0.0
    order = np.argsort(column[known], kind="stable")
    values, weight = column[known][order], weights[known][order]
    below = np.cumsum(weight) / weight.sum()
    low, median, high = values[np.searchsorted(below, [0.25, 0.5, 0.75])]
    if values[0] == values[-1]:  # their mean may differ from them by a rounding error
        return float(values[0]), 0.0, 0.0
    gap = values - np.average(values, weights=weight)
    variance = float((gap * weight) @ gap * (1.0 / weight.sum()))  # np.cov, in less time
    of_quartiles = ((high - low) / NORMAL_QUARTILES) ** 2
    if 0.0 < of_quartiles < variance:
        variance = of_quartiles
    limit = MAX_DEVIATIONS * np.sqrt(variance)
    centre = float(np.average(np.clip(values, median - limit, median + limit), weights=weight))
    reach = float(max(values[-1] - centre, centre - values[0]))
    return centre, variance, reach
