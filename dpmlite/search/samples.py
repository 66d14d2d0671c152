"""Samples of the rows of a large table, from small to large."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpmlite.search.context import Labels

# Rows of the first sample at most, drawn at random.
SAMPLE_ROWS = 2000

# Each sample has about this many times the rows of the one before: most moves are made where they
# cost little.
SAMPLE_RATIO = 16


def first_sample(n_rows: int, rng: np.random.Generator) -> Labels:
    """`SAMPLE_ROWS` random rows, or all if there are fewer, ascending."""
    size = min(n_rows, SAMPLE_ROWS)
    return np.sort(rng.choice(n_rows, size, replace=False, shuffle=False)).astype(np.intp)


def sizes_between(few: int, many: int) -> list[int]:
    """Sizes of the samples between `few` and `many` rows, ascending."""
    sizes: list[int] = []
    while many >= few * SAMPLE_RATIO**2:
        many //= SAMPLE_RATIO
        sizes.insert(0, many)
    return sizes


def one_of_each_stretch(n_rows: int, size: int, rng: np.random.Generator) -> Labels:
    """`size` rows, ascending: a random one of each of `size` stretches of about equal length.

    To draw without stretches takes memory for all rows.
    """
    ends = np.arange(size + 1) * n_rows // size
    return np.asarray(ends[:-1] + rng.random(size) * np.diff(ends), dtype=np.intp)
