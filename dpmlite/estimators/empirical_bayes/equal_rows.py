"""Rows that are equal in some columns, how many, and how many there would be without groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Floats, Indices

    Mask = npt.NDArray[np.bool_]

# Equal rows that are a greater part of all are no group.
MAX_SHARE = 0.05

# A step of the grid is this quantile of the gaps between values: a few may be less, such as that
# of 0.5379 among numbers of three digits.
QUANTILE_OF_STEP = 0.1

# Gaps below this multiple of the step are one step: values are rounded, and the next is at two.
WITHIN_A_STEP = 1.5


@dataclass(frozen=True, eq=False, repr=False)
class Grid:
    """The values of a column.

    Attributes
    ----------
    ranks : ndarray of int, shape (N,)
        Which of V distinct values, in ascending order, each row has; -1 where it is missing.
    has_next : ndarray of bool, shape (V,)
        Whether the next value is a step of the grid away.
    """

    ranks: Indices
    has_next: Mask

    @classmethod
    def of(cls, column: Floats) -> Grid:
        """The grid of a column of numbers, not all of which are missing: NaN."""
        known = ~np.isnan(column)
        values, found = np.unique(column[known], return_inverse=True)
        ranks = np.full(len(column), -1, dtype=np.intp)
        ranks[known] = found
        gaps = np.diff(values)
        step = np.quantile(gaps, QUANTILE_OF_STEP, method="lower") if len(gaps) else 0.0
        has_next = np.append(gaps < WITHIN_A_STEP * step, False)
        return cls(ranks, has_next)


@dataclass(frozen=True, eq=False, repr=False)
class Places:
    """The different rows that N rows have in C columns.

    Attributes
    ----------
    known : ndarray of bool, shape (N,)
        Whether a row has a value in each of the columns.
    sizes : list of int
        Number of values of each column.
    numbers : ndarray of int, shape (P,)
        Places in ascending order: their ranks in the columns as digits of one number.
    counts : ndarray of int, shape (P,)
        Number of rows of each.
    """

    known: Mask
    sizes: list[int]
    numbers: Indices
    counts: Indices

    @classmethod
    def of(cls, columns: Sequence[Grid]) -> Places:
        """The places of all rows."""
        known = np.logical_and.reduce([grid.ranks >= 0 for grid in columns])
        sizes = [len(grid.has_next) for grid in columns]
        of_rows = np.ravel_multi_index([grid.ranks[known] for grid in columns], sizes)
        return cls(known, sizes, *np.unique(of_rows, return_counts=True))

    def place_of_row(self, columns: Sequence[Grid]) -> Indices:
        """The place of each row that has a value in each of the columns."""
        ranks = [grid.ranks[self.known] for grid in columns]
        return np.searchsorted(self.numbers, np.ravel_multi_index(ranks, self.sizes))

    def ranks(self) -> Indices:
        """Ranks of the values of each place, shape (P, C)."""
        return np.stack(np.unravel_index(self.numbers, self.sizes), axis=1)

    def of_groups(self, pairs: npt.NDArray[Any]) -> Floats:
        """A value for each place; 0 where a place has too many rows to be a group."""
        return np.where(self.counts <= MAX_SHARE * len(self.known), pairs, 0.0)

    def n_pairs(self) -> float:
        """Ordered pairs of equal rows."""
        return float(self.of_groups(self.counts * (self.counts - 1.0)).sum())

    def n_pairs_by_chance(self) -> float:
        """As many as there were if columns were independent, at most as many as rows of a place."""
        expected = np.full(len(self.counts), float(self.counts.sum()))
        for ranks in self.ranks().T:
            expected *= np.bincount(ranks, self.counts)[ranks] / self.counts.sum()
        return float(self.of_groups(self.counts * np.minimum(self.counts, expected)).sum())

    def n_pairs_a_step_apart(self, columns: Sequence[Grid], offset: Sequence[int]) -> float:
        """Pairs of a row and one at the next value of columns, at most as many as rows of a place.

        `offset` is the difference of their ranks. It must be a step of the grid in a column, at
        least. The result is the mean for both sides.
        """
        ranks = self.ranks()
        there = ranks + np.asarray(offset)
        here = np.flatnonzero(((there >= 0) & (there < self.sizes)).all(axis=1))
        lower = np.minimum(ranks, there)[here].T
        steps = [
            grid.has_next[low] for grid, low, by in zip(columns, lower, offset, strict=True) if by
        ]
        here = here[np.logical_or.reduce(steps)]
        numbers = np.ravel_multi_index(list(there[here].T), self.sizes)
        at = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        is_place = self.numbers[at] == numbers
        one, other = here[is_place], at[is_place]
        rows = self.of_groups(self.counts)
        return float(
            0.5 * (rows[one] + rows[other]) @ np.minimum(self.counts[one], self.counts[other])
        )
