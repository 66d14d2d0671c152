"""The family of each column of a table: as a user says or, for the rest, as its cells look."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.column_families.by_cells import (
    are_bits,
    are_counts,
    family_of_numbers,
    grows_with,
    one_hot_columns,
)
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
from dpmlite.estimators.inputs.parameters import check_choice
from dpmlite.estimators.inputs.reading import CellsOf
from dpmlite.estimators.inputs.user_tables import DATES_ADVICE, column_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpmlite.estimators.inputs.columns import Cells, Column, Key
    from dpmlite.estimators.inputs.data import Data

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

# Text is of names or ids, not of categories, if more than this share of its cells are different. In
# few rows that is common by chance.
MAX_DIFFERENT = 0.5
MIN_ROWS_OF_TEXT = 50


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


def _one_hot_groups(
    names: Mapping[Key, str], component: Mapping[Key, str], cells: Mapping[Column, CellsOf]
) -> list[tuple[Column, ...]]:
    """The one-hot columns among those of `names` whose family `component` leaves open."""
    bits = {
        column: found.cells
        for column, found in cells.items()
        if column in names and component.get(column, AUTO) == AUTO and are_bits(found.cells)
    }
    return one_hot_columns(bits)


def _resolved(column: Column, name: str, found: CellsOf, choices: tuple[str, ...]) -> str:
    """The family of a column: as it is said, or as its cells look for "auto"."""
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
