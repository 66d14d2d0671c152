"""Whether a mixture of normals describes the rows: where it does, each component is a cluster.

Normals that overlap without a valley between them are clusters nevertheless if the rows are
distributed as the mixture says. If it holds, the squared Mahalanobis distance of a row to its
component has a chi-squared distribution with D degrees of freedom, and so have the distances to all
components together, each weighted by its responsibility for the row. Parts of other shapes have
fewer rows far out, and more half-way; the Kolmogorov-Smirnov statistic tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.joining.valley import NormalComponents

    Floats = npt.NDArray[np.float64]

# Rows that are looked at, at most, evenly spaced: with more, ever finer misfit would be found.
MAX_ROWS = 2500

# The greatest statistic, times the root of the number of rows, of rows that fit. It has a
# probability of 2 % for rows that do, if no parameter is estimated, and a smaller one here.
MAX_STATISTIC = 1.5

# Draws from the chi-squared distribution: its own distribution function is not in numpy.
N_DRAWN = 100_000


def fits_normals(components: NormalComponents, X: Floats) -> bool:
    """Whether the distances of rows to the components are distributed as those of normals.

    Parameters
    ----------
    components : NormalComponents
    X : ndarray, shape (N, D)
        Rows; those with a missing value, NaN, do not count.
    """
    rows = X[:: -(-len(X) // MAX_ROWS)]
    rows = rows[~np.isnan(rows).any(axis=1)]
    if len(rows) == 0:
        return True
    distances = components.squared_distances(rows)
    costs = 0.5 * distances - components.log_peaks()
    shares = np.exp(costs.min(axis=1, keepdims=True) - costs)
    shares /= shares.sum(axis=1, keepdims=True)
    statistic = _kolmogorov_smirnov(distances.ravel(), shares.ravel(), rows.shape[1])
    return bool(statistic * np.sqrt(len(rows)) <= MAX_STATISTIC)


def _kolmogorov_smirnov(values: Floats, weights: Floats, degrees: int) -> float:
    """Greatest difference between the distribution of weighted values and chi-squared's."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    below /= below[-1]
    drawn = np.sort(np.random.default_rng(0).chisquare(degrees, N_DRAWN))
    expected = np.searchsorted(drawn, values[order]) / N_DRAWN
    return float(np.abs(below - expected).max())
