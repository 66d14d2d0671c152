"""How many rows are worth one: the design effect of values that rows share.

Rows of one town have the town's tax rate and its schools, and pupils of one class what is known of
the class. A value that was observed once and stands in m rows is evidence of one row. If rows
counted whole, each town would be a cluster of no width. N rows of groups are worth N / d, with the
design effect d = 1 + (m - 1) rho: m is the size of a row's group in the mean over rows, and rho the
correlation of two rows of a group, in the mean over columns (Kish 1965, section 5.4).

Groups are rows that are equal in two columns at once, of many values each: one column alone may be
heaped, as round prices are. Of a table of one or two columns, all count, and one of them has many
values. Not all equal rows are groups:

- Rounding makes rows equal. But where rows are dense enough for it, many lie a step of the grid
  apart: of a normal column of a standard deviation of 0.6 steps or more, above a third as many.
- Two columns in which few values are frequent have equal rows by chance.
- A large part of the rows is a cluster, or the end of a gauge.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.empirical_bayes.equal_rows import Grid, Places
from dpmlite.estimators.empirical_bayes.spread_ties import MIN_ROWS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpmlite.estimators.inputs.data import Floats

# A column tells groups if it has this many values, at least: fewer are levels, or clusters.
MIN_VALUES = 25

# Other rows that a row equals, in the mean, at least: fewer may be chance, or a coarse grid.
MIN_COPIES = 1.0

# Equal rows are of groups if they are more than this many times those that rounding, or chance,
# makes equal.
MANY_TIMES = 3.0

# Where the next rows may be, by the number of columns: a step away in one, or in both where one
# follows from the other.
OFFSETS: dict[int, list[tuple[int, ...]]] = {1: [(1,)], 2: [(1, 0), (0, 1), (1, 1), (1, -1)]}

# Rows, drawn at random, by which large tables are judged.
MAX_JUDGED_ROWS = 5000

# Columns with the most equal values, of which pairs are looked at.
MAX_PAIRED_COLUMNS = 20


def judged_rows(values: Floats) -> Floats:
    """The rows of a table, or of a large one a random sample, by which it is judged."""
    if len(values) <= MAX_JUDGED_ROWS:
        return values
    rng = np.random.default_rng(0)
    return np.asarray(values[rng.choice(len(values), MAX_JUDGED_ROWS, replace=False)])


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
    fraction = 1.0 / rows_per_row
    grids = [Grid.of(column) for column in numbers if not np.isnan(column).all()]
    least = fraction * MIN_COPIES
    found = [(n_copies(each, least), each) for each in candidates(grids, len(columns), least)]
    copies, shared = max(found, key=lambda each: each[0], default=(0.0, ()))
    if not copies:
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


def n_copies(shared: Sequence[Grid], least: float) -> float:
    """Mean number of other rows that equal a row in some columns, above what needs no groups.

    0 if it is below `least`.
    """
    places = Places.of(shared)
    n_pairs, n_rows = places.n_pairs(), len(places.known)
    if not n_pairs or n_pairs < least * n_rows:
        return 0.0
    expected = places.n_pairs_by_chance() if len(shared) > 1 else 0.0
    if n_pairs <= MANY_TIMES * expected:  # of most columns: save the time of what follows
        return 0.0
    for offset in OFFSETS[len(shared)]:
        expected = max(expected, places.n_pairs_a_step_apart(shared, offset))
    copies = (n_pairs - expected) / n_rows
    return copies if n_pairs > MANY_TIMES * expected and copies >= least else 0.0


def intraclass_correlation(grid: Grid, shared: Sequence[Grid]) -> float:
    """Correlation of the ranks of two rows that are equal in other columns; 0 if it is negative."""
    has_value = grid.ranks >= 0
    places = Places.of(
        [Grid(np.where(has_value, each.ranks, -1), each.has_next) for each in shared]
    )
    ranks = grid.ranks[places.known].astype(np.float64)
    if not places.n_pairs() or ranks.min() == ranks.max():
        return 0.0
    place = places.place_of_row(shared)
    means = np.bincount(place, ranks) / places.counts
    scatter = np.bincount(place, (ranks - means[place]) ** 2)
    variance_of_pairs = places.of_groups(places.counts * scatter).sum() / places.n_pairs()
    return float(max(0.0, 1.0 - variance_of_pairs / ranks.var()))
