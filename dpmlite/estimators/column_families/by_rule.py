"""The family of each column of a table: as a user says or, for the rest, as its cells look."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.columns import (
    CATEGORICAL,
    COUNTS,
    EXPOSURE,
    FULL,
    LOG_NORMAL,
    LOGARITHMS,
    NORMAL,
    ZERO_LOG_NORMAL,
    ZERO_NORMAL,
    Columns,
    members,
)
from dpmlite.estimators.inputs.domain import MAX_COUNT
from dpmlite.estimators.inputs.reading import CellsOf
from dpmlite.estimators.inputs.user_tables import DATES_ADVICE, column_names
from dpmlite.estimators.inputs.validation import check_choice
from dpmlite.estimators.priors.checks import are_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpmlite.estimators.inputs.columns import Cells, Column, Key
    from dpmlite.estimators.inputs.data import Data, Floats

AUTO = "auto"

_ZERO_INFLATED = (ZERO_NORMAL, ZERO_LOG_NORMAL)

#: Families of single columns.
COLUMN_FAMILIES = (
    AUTO,
    NORMAL,
    LOG_NORMAL,
    CATEGORICAL,
    COUNTS,
    *_ZERO_INFLATED,
    "beta-bernoulli",
    "normal-known-variance",
)

#: Those that need no missing cells, into which zero-inflated columns are coded.
COMPLETE_FAMILIES = tuple(each for each in COLUMN_FAMILIES if each not in _ZERO_INFLATED)

#: Families of several columns: with one covariance matrix, or one-hot columns of one category.
JOINT_FAMILIES = (FULL, LOG_NORMAL, CATEGORICAL)

# Rows by which columns of large tables are judged.
MAX_JUDGED_ROWS = 5000

# Numbers with at most this many different values are levels, if there are at least as many rows
# for each.
MAX_LEVELS = 10
MIN_ROWS_A_LEVEL = 5

# Text is of names or ids, not of categories, if more than this share of its cells are different. In
# few rows that is common by chance.
MAX_DIFFERENT = 0.5
MIN_ROWS_OF_TEXT = 50

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


def check_component(component: Any, choices: tuple[str, ...] = COLUMN_FAMILIES) -> None:
    """Raise ValueError unless a mapping has columns as keys and names of families as values.

    `choices` are those of single columns, one of which may also be the exposure of counts.
    """
    for key, name in component.items():
        if isinstance(key, tuple):
            check_choice(f"component of columns {key}", name, JOINT_FAMILIES)
        else:
            check_choice(f"component of column {key!r}", name, (*choices, EXPOSURE))
    named = [column for key in component for column in members(key)]
    twice = [column for column in named if named.count(column) > 1]
    if twice:
        raise ValueError(f"component must have each column once, got {twice[0]!r} twice")
    exposures = [key for key, name in component.items() if name == EXPOSURE]
    if len(exposures) > 1:
        raise ValueError(
            f"component must have one exposure at most, got {exposures[0]!r} and {exposures[1]!r}"
        )


def columns_of(
    cells: Mapping[Column, CellsOf],
    component: Mapping[Key, str] | str,
    choices: tuple[str, ...] = COLUMN_FAMILIES,
) -> Columns:
    """The columns of a table under the families that a user says; "auto" is decided by the cells.

    Parameters
    ----------
    cells : dict
    component : dict or str
        A dict need not have all columns; a str is of all of them.
    choices : tuple of str
        The families that "auto" may find.

    Raises
    ------
    ValueError
        If the table has no such column, or most cells of a column of text are different, and no
        family is given for it, or there is an exposure and no column of counts.
    TypeError
        If a column is of dates, and no family is given for it.
    """
    if isinstance(component, str):
        component = dict.fromkeys(cells, component)
    _check_known(component, cells)
    joint: dict[Key, str] = {k: name for k, name in component.items() if isinstance(k, tuple)}
    in_joint = {column: name for key, name in joint.items() for column in members(key)}
    for column, name in in_joint.items():
        _resolved(column, FULL if name == CATEGORICAL else name, cells[column], choices)
    names: dict[Key, str] = {
        column: _resolved(column, component.get(column, AUTO), cells[column], choices)
        for column in cells
        if column not in in_joint
    }
    for group in _one_hot_groups(names, component, cells):
        joint[group] = CATEGORICAL
        names = {column: name for column, name in names.items() if column not in group}
    names |= joint
    if EXPOSURE in names.values():
        names = _with_counts(names, component, cells)
    logs = [column for key, name in names.items() if name in LOGARITHMS for column in members(key)]
    levels = {
        column: _levels(found.cells) if names.get(column) == CATEGORICAL else None
        for column, found in cells.items()
    }
    return Columns(names, levels, tuple(column for column in cells if column in logs))


def _with_counts(
    names: dict[Key, str], component: Mapping[Key, str], cells: Mapping[Column, CellsOf]
) -> dict[Key, str]:
    """Families of columns beside an exposure: whole numbers that grow with it are counts.

    Columns whose family `component` says keep it.
    """
    exposure = next(column for column in cells if names.get(column) == EXPOSURE)
    names, exposures = dict(names), cells[exposure].cells
    for column, found in cells.items():
        is_open = column in names and component.get(column, AUTO) == AUTO
        may_count = is_open and found.kind == "number" and are_counts(found.cells)
        if may_count and grows_with(exposures, found.cells):
            names[column] = COUNTS
    if COUNTS not in names.values():
        raise ValueError(
            f"exposure {exposure!r} must have a column of counts to use it, got none: "
            f"say which is {COUNTS!r}"
        )
    return names


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
    known = values[~np.isnan(values)]
    return bool(len(known)) and bool(are_whole(known, MAX_COUNT).all())


def says_families(component: Mapping[Key, str] | str, fitted: Mapping[Key, str] | str) -> bool:
    """Whether the parameter `component` allows the fitted families."""
    if component in (AUTO, fitted):
        return True
    if isinstance(fitted, str):
        return False
    if isinstance(component, str):
        return set(fitted.values()) == {component}
    return all(name in (AUTO, fitted.get(key)) for key, name in component.items())


def with_full_covariance(columns: Columns, most: int) -> Columns | None:
    """The columns where those of real numbers have one full covariance matrix.

    None unless there are from 2 to `most` such columns, and none has one already.
    """
    real = [c for c in columns.levels if columns.component.get(c) in (NORMAL, LOG_NORMAL)]
    if not 2 <= len(real) <= most or FULL in (name for name, _ in columns.blocks):
        return None
    rest = {key: name for key, name in columns.component.items() if key not in real}
    return Columns({tuple(real): FULL, **rest}, columns.levels, columns.logs)


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


def _one_hot_groups(
    names: Mapping[Key, str], component: Mapping[Key, str], cells: Mapping[Column, CellsOf]
) -> list[tuple[Column, ...]]:
    """The one-hot columns among those of `names` whose family `component` leaves open."""
    bits = {
        column: found.cells
        for column, found in cells.items()
        if column in names and component.get(column, AUTO) == AUTO and _is_bits(found)
    }
    return one_hot_columns(bits)


def _is_bits(found: CellsOf) -> bool:
    if found.cells.dtype.kind == "b":
        return True
    return found.cells.dtype.kind == "f" and bool(np.isin(found.cells, (0.0, 1.0)).all())


def family_of_numbers(values: Floats, choices: tuple[str, ...] = COLUMN_FAMILIES) -> str:
    """The family that the values of a column of numbers suggest; NaN is a missing value."""
    known = values[~np.isnan(values)]
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


def _some(known: Floats) -> Floats:
    """Values, evenly spaced among the rows, of at most `MAX_JUDGED_ROWS`."""
    return known[:: -(-len(known) // MAX_JUDGED_ROWS)]


def _resolved(column: Column, name: str, found: CellsOf, choices: tuple[str, ...]) -> str:
    if name == EXPOSURE and found.kind == "date":
        raise TypeError(f"column {column!r} must be numbers for {name!r}, got dates or times")
    if name != AUTO:
        if found.kind == "category" and name != CATEGORICAL:
            raise TypeError(f"column {column!r} must be numbers for {name!r}, got categories")
        return name
    if found.kind == "date":
        raise TypeError(
            f"column {column!r} has dates or times, which no family describes: {DATES_ADVICE}"
        )
    if found.kind == "category":
        _check_repeats(column, found.cells)
        return CATEGORICAL
    return family_of_numbers(found.cells, choices)


def _check_repeats(column: Column, cells: Cells) -> None:
    """Raise ValueError if most cells of a column of text are different."""
    if len(set(cells.tolist())) <= MAX_DIFFERENT * MIN_ROWS_OF_TEXT:
        return
    known = [cell for cell in cells.tolist() if cell is not None and cell == cell]
    n_different = len(set(known))
    if len(known) >= MIN_ROWS_OF_TEXT and n_different > MAX_DIFFERENT * len(known):
        raise ValueError(
            f"column {column!r} has {n_different} different values in {len(known)} rows, such as "
            f"{known[0]!r}: leave it out, make numbers of it, as read_table does of money, or take "
            f"it as categories by component={{{column!r}: {CATEGORICAL!r}}}"
        )


def _levels(cells: Cells) -> Cells:
    """The different values of a column, in order."""
    if cells.dtype.kind == "f":
        return np.unique(cells[~np.isnan(cells)])
    known = sorted(set(cells.tolist()) - {None})
    return np.array(known, dtype=object if isinstance(known[0], str) else bool)


def _check_known(component: Mapping[Key, str], cells: Mapping[Column, CellsOf]) -> None:
    for key in component:
        for column in members(key):
            if column not in cells:
                known = ", ".join(map(repr, cells))
                raise ValueError(f"component has column {column!r}, X has {known}")


def coded_numbers(table: Data, X: Any, choices: tuple[str, ...]) -> Data:
    """A table of numbers, coded if the values of a column suggest another family than a normal's.

    `X` is the user's table, for the names of the columns; `choices` are families of columns.
    """
    if table.values is None:
        return table
    names = column_names(X)
    keys = range(table.shape[1]) if names is None else names.tolist()
    if {family_of_numbers(values, choices) for values in table.values.T} <= {NORMAL}:
        return table
    found = dict(zip(keys, table.values.T, strict=True))
    numbers = {key: CellsOf(cells, "number") for key, cells in found.items()}
    columns = columns_of(numbers, AUTO, choices)
    return replace(table.with_values(columns.encode(found)), columns=columns)
