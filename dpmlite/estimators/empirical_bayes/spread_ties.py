"""Values on a grid, spread over its cells, so that a normal can describe them.

The density of a normal has no bound: rows with equal values in a column, bits or rounded readings,
would be clusters of no width. What such a value says is that the number lies in the cell about it,
half-way to the nearer of its neighbours: the farther one may lie beyond a gap between clusters, or
be an outlier. Equal values are therefore spread evenly over their cell, as in the dequantisation of
images (Theis, van den Oord & Bethge 2016), in an order drawn at random from a seed that depends on
nothing but the ranks of the column. A column in which hardly any values are equal stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Floats, Indices

# The fraction of a column's values that equal another, from which on they are spread.
MIN_TIED_FRACTION = 0.05

# Rows of which equal values show a grid, at least: of fewer they may be the groups that a person
# sees.
MIN_ROWS = 25

# Values, evenly spaced among the rows, by which columns of large tables are judged.
MAX_JUDGED_ROWS = 20_000


def spread_ties(X: Floats) -> Floats:
    """A table whose equal values are spread over their cells.

    Parameters
    ----------
    X : ndarray, shape (N, D)
        NaN is a missing value.

    Returns
    -------
    ndarray, shape (N, D)
        `X` itself if no column has many equal values.
    """
    tied = [d for d in range(X.shape[1]) if _has_many_ties(X[:, d])]
    if not tied:
        return X
    X = X.astype(np.float64)  # a copy; cells may be narrower than single precision can tell
    for d in tied:
        known = ~np.isnan(X[:, d])
        X[known, d] = spread_on_grid(X[known, d], np.unique(X[known, d]))
    return X


def cell_widths(distinct: Floats) -> Floats:
    """Widths of the cells about two or more values in ascending order: the gap to the nearer."""
    gaps = np.diff(distinct)
    return np.minimum(np.append(gaps[:1], gaps), np.append(gaps, gaps[-1:]))


def _has_many_ties(column: Floats) -> bool:
    """Whether many of the values are equal, but not all."""
    step = -(-len(column) // MAX_JUDGED_ROWS)
    values = np.sort(column[::step][~np.isnan(column[::step])])
    if len(values) < MIN_ROWS:
        return False
    equal = values[1:] == values[:-1]
    tied = np.concatenate([equal, [False]]) | np.concatenate([[False], equal])
    return bool(tied.mean() >= MIN_TIED_FRACTION and np.nanmin(column) < np.nanmax(column))


def spread_on_grid(values: Floats, grid: Floats) -> Floats:
    """Values of one column, equal ones spread evenly over their cells, in a drawn order.

    A cell ends half-way to the nearer neighbour on `grid`, which is ascending. A value that is not
    on it stays.
    """
    distinct, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    at = np.minimum(np.searchsorted(grid, distinct), len(grid) - 1)
    half_width = np.where(grid[at] == distinct, 0.5 * cell_widths(grid)[at], 0.0)
    order = np.lexsort((_places(index), index))
    rank = np.empty(len(values))
    rank[order] = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    part = 2.0 * (rank + 0.5) / counts[index] - 1.0  # -1 to 1; 0 for a value that is alone
    return np.asarray(values + part * half_width[index])


def _places(ranks: Indices) -> Floats:
    """A random number for each row: equal for columns of equal ranks, otherwise independent."""
    return np.random.default_rng(crc32(ranks.astype("<i8").tobytes())).random(len(ranks))
