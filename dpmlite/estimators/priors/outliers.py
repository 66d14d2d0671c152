"""A warning before the fit: a few rows make most of the variance of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.inputs.user_warnings import warn
from dpmlite.estimators.priors.moments import reduced

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Data
    from dpmlite.estimators.priors.moments import Moments

# A warning is issued if at most this fraction of the rows makes at least this part of a column's
# variance.
FEW_ROWS = 0.01
MOST_VARIANCE = 0.8


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
