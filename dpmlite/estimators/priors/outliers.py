"""Warnings before the fit: of few rows far out, and of a code far out in many rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.inputs.extremes import reduced
from dpmlite.estimators.inputs.user_warnings import warn

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Data, Floats
    from dpmlite.estimators.priors.moments import Moments

# A warning is issued if at most this fraction of the rows makes at least this part of a column's
# variance.
FEW_ROWS = 0.01
MOST_VARIANCE = 0.8

# A code, such as -9999, is further from the nearest other value than so many times their range,
FAR = 5.0

# which has at least this number of different values: 0 and 1 are no codes of each other.
MIN_OTHERS = 10

# Rows that are looked at, at most, evenly spaced.
MAX_ROWS = 2000


def warn_of_outliers(table: Data, moments: Moments) -> None:
    """Warn if a few rows of a dense table make most of the variance of a column."""
    assert table.values is not None
    reach = np.maximum(
        reduced(np.fmax, table.values) - moments.mean, moments.mean - reduced(np.fmin, table.values)
    )
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = FEW_ROWS * reach**2 > MOST_VARIANCE * moments.variance
    for j in np.flatnonzero(suspicious):
        n_few = max(1, int(FEW_ROWS * table.shape[0]))
        squares = (table.values[:, j] - moments.mean[j]) ** 2
        squares = np.sort(squares[~np.isnan(squares)])
        part = squares[-n_few:].sum() / squares.sum()
        if part >= MOST_VARIANCE:
            n_needed = int(np.searchsorted(np.cumsum(squares[::-1]), MOST_VARIANCE * squares.sum()))
            warn(
                f"{n_needed + 1} of {table.shape[0]} rows make {MOST_VARIANCE:.0%} of the variance "
                f"of column {moments.name(int(j))}: if they are errors or codes for missing "
                "values, take them out; outlier_score tells which rows fit nowhere"
            )
            return


def warn_of_codes(table: Data, moments: Moments) -> None:
    """Warn of the first column of numbers of a dense table with a value far out in many cells.

    `warn_of_outliers` tells of columns where few cells are far out.
    """
    assert table.values is not None
    columns = table.columns
    rows = table.values[:: -(-len(table.values) // MAX_ROWS)]
    for j in range(table.shape[1]) if columns is None else np.flatnonzero(columns.is_real):
        cells = rows[:, j]
        if columns is not None and columns.is_log[j]:
            cells = np.exp(cells)
        for sign in (-1.0, 1.0):
            code = float(np.fmax.reduce(sign * cells))
            share = np.mean(sign * cells == code)
            if share > FEW_ROWS and _is_far(code, sign * cells):
                name = moments.name(int(j))
                warn(
                    f"{share:.0%} of the cells of column {name} are {sign * code:g}, far from all "
                    "others: if that is a code for a missing value, make them NaN, and give "
                    "allow_missing=True"
                )
                return


def _is_far(code: float, cells: Floats) -> bool:
    """Whether the greatest value of a column is far from all others."""
    others = cells[cells < code]
    if len(others) < MIN_OTHERS:
        return False
    most = others.max()
    with np.errstate(over="ignore"):
        is_far = code - most > FAR * (most - others.min())
    return bool(is_far and len(np.unique(others)) >= MIN_OTHERS)
