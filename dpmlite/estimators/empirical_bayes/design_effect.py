"""How many rows the evidence of one was written into: the design effect of values that rows share.

Rows of one town have the town's tax rate and its schools, and pupils of one class what is known of
the class. A value that was observed once and stands in m rows is evidence of one row. If rows
counted whole, each town would be a cluster of no width. N rows of a cluster sample are worth N / d
with the design effect d = 1 + (m - 1) rho, where rho is the correlation of two rows of a group,
here a mean over columns (Kish 1965, section 5.4).

Groups are rows that are equal in two columns at once: one column alone may be heaped, as round
prices are. Of a table of one column, that counts. Rounding makes rows equal, too, and these are no
groups: where rows are dense enough to be equal, as many lie a step of the grid apart. So m - 1 is
the mean number of rows that are equal to a row, above what a normal column of a standard deviation
of 0.6 steps has. There half as many as are equal lie a step away, on one side. Values of a large
part of the rows are clusters, or the end of a gauge, and no groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.empirical_bayes.spread_ties import MIN_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from dpmlite.estimators.inputs.data import Floats, Indices

    Mask = npt.NDArray[np.bool_]

# A column tells groups if it has this many values, at least: fewer are levels, or clusters.
MIN_VALUES = 25

# Equal rows that are a greater part of all are no group.
MAX_SHARE = 0.05

# A step of the grid is this quantile of the gaps between values: a few may be less, such as that
# of 0.5379 among numbers of three digits.
QUANTILE_OF_STEP = 0.1

# Gaps below this multiple of the step are one step: values are rounded, and the next is at two.
WITHIN_A_STEP = 1.5

# Equal rows are of a group if there are more than this many times those that rounding, or chance,
# makes equal.
MANY_TIMES = 2.0

# Other rows that a row equals, in the mean, at least: fewer may be chance, or a coarse grid.
MIN_COPIES = 1.0

# Rows, drawn at random, by which large tables are judged.
MAX_JUDGED_ROWS = 5000

# Columns with the most equal values, of which pairs are looked at.
MAX_PAIRED_COLUMNS = 30


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


def design_effect(columns: Sequence[Floats | None], rows_per_row: float = 1.0) -> float:
    """The number of rows that are worth one which shares no values with others.

    Parameters
    ----------
    columns : sequence
        Columns of N rows, NaN for a missing value; None for a column that has no numbers.
    rows_per_row : float
        Rows of the whole table for each of these N, which are a random sample.

    Returns
    -------
    float
        1 without groups of rows.
    """
    numbers = [column for column in columns if column is not None]
    n_rows = len(numbers[0]) if numbers else 0
    if n_rows < MIN_ROWS:
        return 1.0
    judged = np.arange(n_rows)
    if n_rows > MAX_JUDGED_ROWS:
        judged = np.random.default_rng(0).choice(n_rows, MAX_JUDGED_ROWS, replace=False)
    fraction = len(judged) / (n_rows * rows_per_row)
    grids = [Grid.of(column[judged]) for column in numbers if not np.isnan(column[judged]).all()]
    least = fraction * MIN_COPIES
    found = [(n_copies(each), each) for each in candidates(grids, len(columns), least)]
    copies, shared = max(found, key=lambda each: each[0], default=(0.0, ()))
    if copies < least:
        return 1.0
    correlation = np.mean([intraclass_correlation(grid, shared) for grid in grids])
    return float(1.0 + correlation * copies / fraction)


def candidates(grids: list[Grid], n_columns: int, least: float) -> list[tuple[Grid, ...]]:
    """Columns, two at once if there are, in which a row may equal so many others, or more."""
    fine = [grid for grid in grids if len(grid.has_next) >= MIN_VALUES and n_equal(grid) >= least]
    if n_columns == 1:
        return [(grid,) for grid in fine]
    if n_columns == 2 and fine:
        return list(combinations(grids, 2))
    return list(combinations(sorted(fine, key=n_equal)[-MAX_PAIRED_COLUMNS:], 2))


def n_equal(grid: Grid) -> float:
    """Mean number of other rows that have the value of a row."""
    counts = np.bincount(grid.ranks[grid.ranks >= 0])
    return float((counts * (counts - 1.0)).sum() / len(grid.ranks))


def n_copies(shared: Sequence[Grid]) -> float:
    """Mean number of other rows that equal a row in some columns, above what needs no groups."""
    known, place_of_row = places_of(shared)
    places, counts = np.unique(place_of_row, return_counts=True)
    is_group = counts <= MAX_SHARE * len(known)
    expected = [n_pairs_by_chance(places, counts, is_group, shared)] if len(shared) > 1 else []
    for stride, grid in zip(strides_of(shared), shared, strict=True):
        expected.append(n_pairs_a_step_apart(places, counts, is_group, stride, grid.has_next))
    n_pairs = (counts * (counts - 1.0))[is_group].sum()
    return float((n_pairs - MANY_TIMES * max(expected)) / len(known))


def places_of(shared: Sequence[Grid]) -> tuple[Mask, Indices]:
    """Which rows have a value in each of some columns; and a number of all their values together.

    Numbers are in the order of values, those of the last column first.
    """
    known = np.logical_and.reduce([grid.ranks >= 0 for grid in shared])
    ranks = [grid.ranks[known] for grid in shared]
    return known, np.ravel_multi_index(ranks, [len(grid.has_next) for grid in shared])


def strides_of(shared: Sequence[Grid]) -> Indices:
    """By how much places differ from one value of each column to the next."""
    return np.cumprod([1, *(len(grid.has_next) for grid in shared[:0:-1])])[::-1]


def n_pairs_by_chance(
    places: Indices, counts: Indices, is_group: Mask, shared: Sequence[Grid]
) -> float:
    """Pairs of equal rows if columns were independent, at most as many as there are."""
    total, expected = counts.sum(), np.full(len(places), float(counts.sum()))
    for stride, grid in zip(strides_of(shared), shared, strict=True):
        ranks = places // stride % len(grid.has_next)
        expected *= (np.bincount(ranks, counts) / total)[ranks]
    return float((counts * np.minimum(counts, expected))[is_group].sum())


def n_pairs_a_step_apart(
    places: Indices, counts: Indices, is_group: Mask, stride: int, has_next: Mask
) -> float:
    """Pairs of a row and one a step from it in one column, at most as many as are equal to it.

    There are `counts` rows at `places`, which differ by `stride` from one value of the column to
    the next. Only rows of groups count, for the mean of both sides.
    """
    if not len(places):
        return 0.0
    at = np.minimum(np.searchsorted(places, places + stride), len(places) - 1)
    is_next = has_next[places // stride % len(has_next)] & (places[at] == places + stride)
    here, there = np.flatnonzero(is_next), at[is_next]
    rows = counts[here] * is_group[here] + counts[there] * is_group[there]
    return float(0.5 * rows @ np.minimum(counts[here], counts[there]))


def intraclass_correlation(grid: Grid, shared: Sequence[Grid]) -> float:
    """Correlation of the ranks of two rows that are equal in other columns; 0 if it is negative."""
    known, place_of_row = places_of(shared)
    has_value = grid.ranks[known] >= 0
    ranks = grid.ranks[known][has_value].astype(np.float64)
    _, group, counts = np.unique(place_of_row[has_value], return_inverse=True, return_counts=True)
    is_group = counts <= MAX_SHARE * len(known)
    n_pairs = (counts * (counts - 1.0))[is_group].sum()
    if not n_pairs or ranks.min() == ranks.max():
        return 0.0
    means = np.bincount(group, ranks) / counts
    scatter = np.bincount(group, (ranks - means[group]) ** 2)
    variance_of_pairs = (counts * scatter)[is_group].sum() / n_pairs
    return float(max(0.0, 1.0 - variance_of_pairs / ranks.var()))
