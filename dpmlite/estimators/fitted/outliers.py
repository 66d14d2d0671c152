"""Rows that do not fit: a warning before the fit, and how improbable each row is after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.inputs.validation import warn
from dpmlite.estimators.priors.moments import reduced

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Data, Floats
    from dpmlite.estimators.priors.moments import Moments

# A warning is issued if at most this fraction of the rows makes at least this part of a column's
# variance.
FEW_ROWS = 0.01
MOST_VARIANCE = 0.8

# Rows that are drawn from a model to compare densities with. Of the rows that are less probable
# than 1 in 1,000, twenty are among them.
N_DRAWN = 20_000

# Classes of exposures within a factor of 2, of rows whose densities are compared.
STEPS_PER_OCTAVE = 4

# Components of so few rows do not tell what is usual.
MAX_STRAY_ROWS = 2


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


def by_exposure(
    exposures: Floats | None, n_rows: int
) -> Iterator[tuple[slice | npt.NDArray[np.bool_], float | None]]:
    """Rows of like exposure, and the exposure: all rows and None if there are no exposures.

    Rows of other exposures have other densities, however usual they are. Within an eighth of an
    octave these differ by 0.04 nats for each count.
    """
    if exposures is None:
        yield slice(n_rows), None
        return
    steps = np.round(STEPS_PER_OCTAVE * np.log2(exposures))
    for step in np.unique(steps):
        yield steps == step, float(2.0 ** (step / STEPS_PER_OCTAVE))


def share_below(densities: Floats, drawn: Floats) -> Floats:
    """For each log density, the share of the drawn ones that are less."""
    return np.asarray(np.searchsorted(np.sort(drawn), densities, side="left") / len(drawn))
