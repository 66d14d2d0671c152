"""Values on a grid, spread over its cells, so that a normal can describe them.

The density of a normal has no bound: rows with equal values in a column, bits or rounded readings,
would be clusters of no width. What such a value says is that the number lies in the cell about it,
half-way to the next values. Equal values are therefore spread evenly over their cell, as in the
dequantisation of images (Theis, van den Oord & Bethge 2016), but by a fixed rule and not at random.
A column in which hardly any values are equal stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpmlite.estimators.data import Floats

# The fraction of a column's values that equal another, from which on they are spread.
MIN_TIED_FRACTION = 0.05

# Values, evenly spaced among the rows, by which columns of large tables are judged.
MAX_JUDGED_ROWS = 20_000

# The sequences (i r) mod 1 with powers of the golden ratio's inverse are spread evenly.
GOLDEN = 0.6180339887498949


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
    step = -(-len(X) // MAX_JUDGED_ROWS)
    tied = [d for d in range(X.shape[1]) if _has_many_ties(X[::step, d])]
    if not tied:
        return X
    X = X.copy()
    for d in tied:
        known = np.flatnonzero(~np.isnan(X[:, d]))
        X[known, d] = _spread(X[known, d], _order_of_places(len(known), d))
    return X


def _has_many_ties(column: Floats) -> bool:
    values = np.sort(column[~np.isnan(column)])
    if len(values) < 2 or values[0] == values[-1]:
        return False
    equal = values[1:] == values[:-1]
    tied = np.concatenate([equal, [False]]) | np.concatenate([[False], equal])
    return bool(tied.mean() >= MIN_TIED_FRACTION)


def _order_of_places(n_rows: int, column: int) -> Floats:
    """A number for each row, by which equal values are ordered: unlike in any two columns."""
    ratio = (GOLDEN * (column + 1.0) ** 0.5) % 1.0
    return np.asarray((np.arange(n_rows) * ratio) % 1.0)


def _spread(values: Floats, places: Floats) -> Floats:
    """Values, equal ones spread over half the way to the next ones in the order of `places`."""
    distinct, index, counts = np.unique(values, return_inverse=True, return_counts=True)
    gaps = np.diff(distinct)
    below, above = 0.5 * np.append(gaps[:1], gaps), 0.5 * np.append(gaps, gaps[-1:])
    order = np.lexsort((places, index))
    rank = np.empty(len(values))
    rank[order] = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    part = 2.0 * (rank + 0.5) / counts[index] - 1.0  # -1 to 1; 0 for a value that is alone
    return np.asarray(values + part * np.where(part < 0.0, below[index], above[index]))
