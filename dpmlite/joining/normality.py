"""Whether a mixture of normals describes the rows: where it does, clusters may overlap.

If it does, the squared Mahalanobis distance of a row to its component has a chi-squared
distribution with D degrees of freedom, and so have the distances to all components together, each
weighted by its responsibility for the row. So has, with one degree, the square of the coordinate
along the line to the nearest other component. Parts of other shapes have fewer rows far out, and
more half-way: arcs of a ring end where the next begins. The Kolmogorov-Smirnov statistic tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import erfc, lgamma
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.joining.normal_components import NormalComponents

    Floats = npt.NDArray[np.float64]

# Rows that are looked at, at most, evenly spaced: with more, ever finer misfit would be found.
MAX_ROWS = 2500

# The greatest statistic of distances, times the root of the number of rows, of rows that fit. It
# has a probability of 2 % for rows that do, if no parameter is estimated, and a smaller one here.
MAX_STATISTIC = 1.5

# The same of coordinates, whose variance is estimated. It is above 1.2 for one in 25 drawn tables
# of normals; for 400 rows of other shapes it is 1.9 in the median.
MAX_LINE_STATISTIC = 1.2

# The greatest statistic of coordinates of rows that no other shape explains: that of a uniform
# length is 0.11. A hundred rows of normals are seldom so near, four hundred mostly.
MAX_SURE_MISFIT = 0.04

# Shares of a row below this are left out: most components are far from it.
MIN_SHARE = 1e-9

# Points at which the chi-squared distribution is computed; it is linear in the distance between
# them, but for an error of 1e-4.
N_POINTS = 400

# From this far beyond the mean distance on, the chi-squared distribution is 1.
MAX_BEYOND = 8.0


@dataclass(frozen=True)
class Misfit:
    """How far the rows are from being distributed as a mixture of normals says.

    Attributes
    ----------
    distances, coordinates : float
        Kolmogorov-Smirnov statistics, 0 to 1, of distances to components, and of coordinates along
        the lines to the nearest others.
    n_rows : int
        Rows that were looked at.
    """

    distances: float
    coordinates: float
    n_rows: int

    @classmethod
    def of(cls, components: NormalComponents, X: Floats) -> Misfit:
        """The misfit of at most `MAX_ROWS` of the rows, those with a missing value left out."""
        rows = X[:: -(-len(X) // MAX_ROWS)]
        rows = rows[~np.isnan(rows).any(axis=1)]
        if len(rows) == 0:
            return cls(0.0, 0.0, 0)
        distances = components.squared_distances(rows)
        costs = 0.5 * distances - components.log_peaks
        shares = np.exp(costs.min(axis=1, keepdims=True) - costs)
        shares /= shares.sum(axis=1, keepdims=True)
        counts = shares > MIN_SHARE
        squares, weights = components.coordinates(rows)[counts] ** 2, shares[counts]
        squares /= np.average(squares, weights=weights) or 1.0
        return cls(
            _kolmogorov_smirnov(distances[counts], weights, rows.shape[1]),
            _kolmogorov_smirnov(squares, weights, 1),
            len(rows),
        )

    @property
    def is_chance(self) -> bool:
        """Whether so many rows of such normals are as far from it."""
        root = np.sqrt(self.n_rows)
        return bool(
            root * self.distances <= MAX_STATISTIC and root * self.coordinates <= MAX_LINE_STATISTIC
        )

    @property
    def excludes_other_shapes(self) -> bool:
        """Whether so many rows would show it if they had another shape."""
        return self.is_chance and self.n_rows > 0 and self.coordinates <= MAX_SURE_MISFIT


def _kolmogorov_smirnov(values: Floats, weights: Floats, degrees: int) -> float:
    """Greatest difference between the distribution of weighted values and chi-squared's."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    below /= below[-1]
    return float(np.abs(below - chi_squared_distribution(values[order], degrees)).max())


def chi_squared_distribution(values: Floats, degrees: int) -> Floats:
    """The probability that a chi-squared variable is below each value, to about 1e-4."""
    roots, below = _chi_squared_table(degrees)
    return np.asarray(np.interp(np.sqrt(values), roots, below))


@cache
def _chi_squared_table(degrees: int) -> tuple[Floats, Floats]:
    """Roots of values, and the probability that a chi-squared variable is below each value.

    With h half the value, the upper tail of a + 1 half degrees of freedom exceeds that of a by
    h^a exp(-h) / Gamma(a + 1) (DLMF 8.8.6); that of one half is erfc(sqrt(h)).
    """
    roots = np.linspace(1e-6, np.sqrt(degrees) + MAX_BEYOND, N_POINTS)
    half, is_odd = 0.5 * roots**2, degrees % 2
    above = np.array([is_odd * erfc(root) for root in np.sqrt(half)])
    for a in np.arange(degrees // 2) + 0.5 * is_odd:
        above += np.exp(a * np.log(half) - half - lgamma(a + 1.0))
    return roots, 1.0 - above
