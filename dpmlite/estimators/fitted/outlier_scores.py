"""How improbable rows are under a fitted model, beside rows that are drawn from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Floats, Indices

# Rows that are drawn from a model to compare densities with. Of the rows that are less probable
# than 1 in 1,000, twenty are among them. Where rows lack cells in many ways, there are fewer for
# each: of this total, but not below this number.
N_DRAWN = 20_000
MAX_SCORED = 2_000_000
MIN_DRAWN = 2000

# Classes of exposures within a factor of 2, of rows whose densities are compared.
STEPS_PER_OCTAVE = 4

# Components of at most this many rows do not tell what is usual.
MAX_STRAY_ROWS = 2


def by_exposure(
    exposures: Floats | None, n_rows: int
) -> Iterator[tuple[npt.NDArray[np.bool_], float | None]]:
    """A mask of rows of like exposure, and the exposure: None if there are no exposures.

    Rows of other exposures have other densities, however usual they are. Within an eighth of an
    octave these differ by 0.04 nats for each count.
    """
    if exposures is None:
        yield np.ones(n_rows, dtype=bool), None
        return
    steps = np.round(STEPS_PER_OCTAVE * np.log2(exposures))
    for step in np.unique(steps):
        yield steps == step, float(2.0 ** (step / STEPS_PER_OCTAVE))


def by_missing_cells(
    missing: npt.NDArray[np.bool_],
) -> list[tuple[Indices, npt.NDArray[np.bool_]]]:
    """Rows that lack the same cells, and a mask of these: densities of other cells do not compare.

    Parameters
    ----------
    missing : ndarray of bool, shape (N, D)

    Returns
    -------
    list of (ndarray of int, ndarray of bool, shape (D,))
    """
    if not missing.any():
        return [(np.arange(len(missing)), missing[0])]
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(which.ravel()))[:-1])
    return list(zip(groups, patterns, strict=True))


def n_drawn(n_patterns: int) -> int:
    """Rows that each pattern of missing cells is compared with."""
    return max(MIN_DRAWN, min(N_DRAWN, MAX_SCORED // n_patterns))


def share_below(densities: Floats, drawn: Floats) -> Floats:
    """For each log density, the share of the drawn ones that are less."""
    return np.asarray(np.searchsorted(np.sort(drawn), densities, side="left") / len(drawn))
