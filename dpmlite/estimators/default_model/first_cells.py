"""The first cells that stand for missing ones, before clusters are known to draw them from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.priors.lacking import lacking_cells

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Data, Floats, Indices
    from dpmlite.estimators.priors.base import Family

# Rows from which cells are taken, evenly spaced, at most; and pairs of rows of which distances are
# found at once, which bounds the memory.
MAX_DONORS = 2000
PAIRS = 1_000_000

# Columns that a smaller fraction of these rows has are drawn instead: copies of a few cells would
# be as many clusters.
MIN_KNOWN = 0.03


def completed_by_neighbours(family: Family, table: Data) -> Data:
    """A table whose missing cells of columns with full covariance come from the most similar rows.

    Of the rows that have the cell, the most similar one has the least mean squared distance over
    the columns that both know, each in units of its deviation. Cells that hardly any row has are
    drawn from a normal, whatever the row. This is where draws from clusters start.
    """
    missing = lacking_cells(family, table)
    if not missing.any():
        return table
    assert table.values is not None
    known, donors = ~np.isnan(table.values), _some(np.arange(table.shape[0]))
    lacking, rare = missing.any(axis=0), known[donors].mean(axis=0) < MIN_KNOWN
    values = table.values.copy()
    _draw_rare_cells(values, np.flatnonzero(lacking & rare))
    numbers, rows = table.numbers().values, np.flatnonzero(missing.any(axis=1))
    assert numbers is not None
    units = _standardised(numbers)
    for chunk in np.array_split(rows, -(-len(rows) * len(donors) // PAIRS)):
        distances = _mean_squares(units[chunk], units[donors])
        for j in np.flatnonzero(lacking & ~rare):
            of_chunk, have = missing[chunk, j], known[donors, j]
            nearest = distances[np.ix_(of_chunk, have)].argmin(axis=1)
            values[chunk[of_chunk], j] = table.values[donors[have][nearest], j]
    return table.with_values(values)


def _draw_rare_cells(values: Floats, columns: Indices) -> None:
    """Fill columns with draws from normals that have the mean and the deviation of their cells."""
    rng = np.random.default_rng(0)
    for j in columns:
        missing = np.isnan(values[:, j])
        cells = np.zeros(1) if missing.all() else values[~missing, j]
        values[missing, j] = rng.normal(cells.mean(), cells.std(), missing.sum())


def _standardised(X: Floats) -> Floats:
    """Columns in units of their deviation from their mean; what is missing stays so."""
    n = np.maximum((~np.isnan(X)).sum(axis=0), 1)
    centred = X - np.nansum(X, axis=0) / n
    with np.errstate(over="ignore"):
        deviations = np.sqrt(np.nansum(centred**2, axis=0) / n)
    return np.asarray(centred / np.where(deviations > 0.0, deviations, 1.0))


def _some(rows: Indices) -> Indices:
    """At most `MAX_DONORS` rows, evenly spaced."""
    return rows[:: -(-len(rows) // MAX_DONORS)]


def _mean_squares(X: Floats, Y: Floats) -> Floats:
    """Mean squared distances of rows over the cells that both know, shape (len(X), len(Y)).

    Of rows that have no such cells, it is infinite.
    """
    x_known, y_known = ((~np.isnan(each)).astype(np.float64) for each in (X, Y))
    x, y = np.nan_to_num(X), np.nan_to_num(Y)
    squares = (x * x) @ y_known.T - 2.0 * x @ y.T + x_known @ (y * y).T
    n_both = x_known @ y_known.T
    return np.where(n_both > 0.0, squares / np.maximum(n_both, 1.0), np.inf)
