"""How improbable rows are under a fitted model, beside rows that are drawn from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Floats

# Rows that are drawn from a model to compare densities with. Of the rows that are less probable
# than 1 in 1,000, twenty are among them.
N_DRAWN = 20_000

# Classes of exposures within a factor of 2, of rows whose densities are compared.
STEPS_PER_OCTAVE = 4

# Components of at most this many rows do not tell what is usual.
MAX_STRAY_ROWS = 2


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
