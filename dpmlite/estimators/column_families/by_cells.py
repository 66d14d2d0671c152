"""What the cells of a column look like: levels, counts, skewed numbers, or many zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.inputs.columns import (
    CATEGORICAL,
    LOG_NORMAL,
    NORMAL,
    ZERO_LOG_NORMAL,
    ZERO_NORMAL,
)
from dpmlite.estimators.inputs.domain import MAX_COUNT
from dpmlite.estimators.priors.checks import are_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpmlite.estimators.inputs.columns import Cells, Column
    from dpmlite.estimators.inputs.data import Floats

# Rows by which columns of large tables are judged.
MAX_JUDGED_ROWS = 5000

# Numbers with at most this many different values are levels, if there are at least as many rows
# for each.
MAX_LEVELS = 10
MIN_ROWS_A_LEVEL = 5

# Rows of which one-hot columns are told from chance.
MIN_ONE_HOT_ROWS = 25

# Numbers are zero-inflated if at least this fraction of them is 0, any other value is at most
# MAX_OF_ANOTHER times as frequent, and there are more of these than levels may have.
MIN_ZEROS = 0.1
MAX_OF_ANOTHER = 0.2

# Positive numbers may be log-normal if the 99th percentile is at least this many times as far from
# the median as the first, and less so for their logarithms: the joint decides. Without such a
# tail, logarithms would depend on an arbitrary origin, as that of a map.
MIN_SKEW = 3.0


def are_bits(cells: Cells) -> bool:
    """Whether all cells are truth values, or 0 and 1."""
    if cells.dtype.kind == "b":
        return True
    return cells.dtype.kind == "f" and bool(np.isin(cells, (0.0, 1.0)).all())


def family_of_numbers(values: Floats, choices: tuple[str, ...]) -> str:
    """The one of the `choices` that a column of numbers looks like; NaN is a missing value."""
    known = _known(values)
    if len(known) == 0:
        return NORMAL
    if _are_few(known):
        return CATEGORICAL
    if ZERO_NORMAL in choices and _are_zero_inflated(known):
        return ZERO_LOG_NORMAL if are_skewed(known[known != 0.0]) else ZERO_NORMAL
    return LOG_NORMAL if are_skewed(known) else NORMAL


def _are_few(known: Floats) -> bool:
    """Whether numbers have so few values that they are levels."""
    if len(np.unique(_some(known))) > MAX_LEVELS:
        return False
    n_levels = len(np.unique(known))
    return 1 < n_levels <= MAX_LEVELS and len(known) >= MIN_ROWS_A_LEVEL * n_levels


def _are_zero_inflated(known: Floats) -> bool:
    """Whether 0 is far more frequent than any other number."""
    values, counts = np.unique(_some(known), return_counts=True)
    others = counts[values != 0.0]
    n_zeros = counts.sum() - others.sum()
    if len(others) <= MAX_LEVELS or n_zeros < MIN_ZEROS * counts.sum():
        return False
    return bool(others.max() <= MAX_OF_ANOTHER * n_zeros)


def are_skewed(known: Floats) -> bool:
    """Whether positive numbers have a long tail upwards, and their logarithms a shorter one."""
    low, median, high = np.quantile(_some(known), [0.01, 0.5, 0.99])
    if not (low < median < high and known.min() > 0.0):
        return False
    skew = (high - median) / (median - low)
    skew_of_logs = np.log(high / median) / np.log(median / low)
    return bool(skew >= MIN_SKEW and abs(np.log(skew_of_logs)) < np.log(skew))


def _known(values: Floats) -> Floats:
    """The values that are not missing; no copy if none is."""
    missing = np.isnan(values)
    return values[~missing] if missing.any() else values


def _some(known: Floats) -> Floats:
    """Values, evenly spaced among the rows, of at most `MAX_JUDGED_ROWS`."""
    return known[:: -(-len(known) // MAX_JUDGED_ROWS)]


def grows_with(exposures: Floats, counts: Floats) -> bool:
    """Whether one rate for all rows describes counts better than one mean.

    With x ~ Poisson(r e) and x ~ Poisson(m), the greatest log likelihoods differ by the sum of
    x log(e / mean of e).
    """
    known = ~np.isnan(counts) & (exposures > 0.0)
    x, e = counts[known], exposures[known]
    return bool(len(e)) and bool(x @ np.log(e / e.mean()) > 0.0)


def are_counts(values: Floats) -> bool:
    """Whether a column has numbers, and all that are not missing may be counts."""
    known = _known(values)
    return bool(len(known)) and bool(are_whole(known, MAX_COUNT).all())


def one_hot_columns(cells: Mapping[Column, Cells]) -> list[tuple[Column, ...]]:
    """Groups of adjacent columns of 0 and 1 of which exactly one is 1 in every row."""
    found: list[tuple[Column, ...]] = []
    group: list[Column] = []
    total = np.zeros(0)
    for column, bits in cells.items():
        total = total + bits if group else np.asarray(bits, dtype=np.float64)
        group.append(column)
        if total.max() > 1.0:  # it overlaps with those before: it may start another group
            group, total = [column], np.asarray(bits, dtype=np.float64)
        elif total.min() == 1.0 and len(total) >= MIN_ONE_HOT_ROWS:
            found.append(tuple(group))
            group = []
    return [each for each in found if len(each) > 1]
