"""Squared distances of rows from cluster centres, a block of rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite import algorithms

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Floats

# Distances that are held at a time, to save memory.
BLOCK_DISTANCES = 2**20


def nearest_centres(rows: Floats, centres: Floats) -> npt.NDArray[np.intp]:
    """Number of the nearest centre of each row, shape (N,)."""
    return np.concatenate([d.argmin(axis=1) for d in blocks_of_distances(rows, centres)])


def least_distances(rows: Floats, centres: Floats) -> Floats:
    """Squared distance of each row from the nearest centre, shape (N,)."""
    return np.concatenate([d.min(axis=1) for d in blocks_of_distances(rows, centres)])


def blocks_of_distances(rows: Floats, centres: Floats) -> Iterator[Floats]:
    """Yield `squared_distances` of consecutive blocks of rows."""
    step = max(BLOCK_DISTANCES // len(centres), 1)
    for first in range(0, len(rows), step):
        yield squared_distances(rows[first : first + step], centres)


def squared_distances(rows: Floats, centres: Floats) -> Floats:
    """Squared distances of rows, shape (N, D), from centres, shape (K, D): shape (N, K)."""
    out = np.empty((len(rows), len(centres)))
    algorithms.squared_distances(rows, centres, out)
    return out
