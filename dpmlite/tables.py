"""Tables of numbers from CSV files; errors name the row and the column."""

from __future__ import annotations

import csv
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

# Cells that stand for a missing value, in lower case.
MISSING = ("", "na", "n/a", "nan", "null", "none", "?")

BY_COMMAS = "cells must be separated by commas, and decimals by points"


@dataclass(frozen=True)
class Table:
    """Rows of numbers with named columns, and optional labels.

    Attributes
    ----------
    columns : list of str
        D names; "column 1", ... where the file has none.
    rows : ndarray, shape (N, D)
        NaN where a value is missing.
    labels : ndarray of str, shape (N,), or None
        The label column, which is not among `columns`.
    """

    columns: list[str]
    rows: npt.NDArray[np.float64]
    labels: npt.NDArray[np.str_] | None


def read_table(
    path: str | os.PathLike[str], label_column: str | None = None, allow_missing: bool = False
) -> Table:
    """Read a CSV file of numbers, separated by commas, in UTF-8.

    Parameters
    ----------
    path : path-like
    label_column, allow_missing
        As of `parse_table`.

    Returns
    -------
    Table

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not a table of numbers; one line that names the file, the row and the column.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return parse_table(file, label_column, allow_missing)
    except UnicodeDecodeError as error:
        raise ValueError(f"{os.fspath(path)}: not a text file in UTF-8") from error
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def parse_table(
    lines: Iterable[str], label_column: str | None = None, allow_missing: bool = False
) -> Table:
    """Parse lines of comma-separated numbers.

    The first row names the columns if one of its cells, the numbered label column aside, is
    neither a number nor missing. Blank lines are skipped.

    Parameters
    ----------
    lines : iterable of str
    label_column : str, optional
        Name, or number from 1, of a column of labels; any text may be in it.
    allow_missing : bool, default False
        Whether cells may be missing, which become NaN: empty ones, or "NA", "?" and the like.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        If there are no rows, a quote does not end or has more than a comma after it, a row has too
        few or too many cells, a cell is missing, or not a finite number, or there is no such label
        column. Rows are counted from 1, with the header, as a spreadsheet shows them.
    """
    records = _records(lines)
    n_columns = len(records[0][1])
    header = _is_header(records[0][1], label_column)
    names = records.pop(0)[1] if header else [""] * n_columns
    if not records:
        raise ValueError("there is no row below the header")
    names = [name or f"column {j}" for j, name in enumerate(names, start=1)]
    label = None if label_column is None else _find(label_column, names)
    kept = [j for j in range(n_columns) if j != label]
    if not kept:
        raise ValueError("there is no column besides the label column")
    rows = [
        [_number(cells[j], names[j], row, allow_missing) for j in kept] for row, cells in records
    ]
    return Table(
        columns=[names[j] for j in kept],
        rows=np.array(rows),
        labels=None if label is None else np.array([cells[label] for _, cells in records]),
    )


def _records(lines: Iterable[str]) -> list[tuple[int, list[str]]]:
    """The rows that are not blank: number of the row, and its cells, as many in every row."""
    bare = ("\n" if line.isspace() else line for line in lines)
    records, row = [], 0
    try:
        # Strict, for a stray quote would otherwise swallow the rows after it.
        for row, cells in enumerate(csv.reader(bare, skipinitialspace=True, strict=True), start=1):
            if cells:
                records.append((row, [cell.strip() for cell in cells]))
    except csv.Error as error:
        raise ValueError(f"row {row + 1} is not one of a CSV file: {error}") from error
    if not records:
        raise ValueError("the file is empty")
    first, width = records[0][0], len(records[0][1])
    hint = f"; {BY_COMMAS}" if _has_other_separator(records[0][1]) else ""
    for row, cells in records:
        if len(cells) != width:
            raise ValueError(f"row {row} has {len(cells)} cells, row {first} has {width}{hint}")
    return records


def _has_other_separator(cells: list[str]) -> bool:
    """Whether the row is one cell with semicolons or tabs, which may separate other cells."""
    return len(cells) == 1 and any(c in cells[0] for c in ";\t")


def _is_header(cells: list[str], label_column: str | None) -> bool:
    return any(
        not _is_value(cell) for j, cell in enumerate(cells, start=1) if str(j) != label_column
    )


def _is_value(cell: str) -> bool:
    """Whether a cell is a number or a sign for a missing value."""
    if cell.lower() in MISSING:
        return True
    try:
        _parsed(cell)
    except ValueError:
        return False
    return True


def _parsed(cell: str) -> float:
    if "_" in cell:  # Python's notation 1_000
        raise ValueError(cell)
    return float(cell)


def _find(column: str, names: list[str]) -> int:
    if names.count(column) > 1:
        raise ValueError(f"there are {names.count(column)} columns {column!r}: give its number")
    if column in names:
        return names.index(column)
    numbers = [str(j) for j in range(1, len(names) + 1)]
    if column in numbers:
        return numbers.index(column)
    raise ValueError(f"there is no column {column!r}; the columns are {', '.join(names)}")


def _number(cell: str, name: str, row: int, allow_missing: bool) -> float:
    where = f"in column {name!r}, row {row}"
    if cell.lower() in MISSING:
        if allow_missing:
            return math.nan
        raise ValueError(f"missing value {where}: {cell!r}; --allow-missing takes it as missing")
    try:
        value = _parsed(cell)
    except ValueError:
        hint = "--label-column leaves a column out"
        if _has_other_separator([cell]):
            hint = BY_COMMAS
        raise ValueError(f"text {where}: {cell!r} is not a number; {hint}") from None
    if not math.isfinite(value):
        raise ValueError(f"values must be finite {where}: {cell!r}")
    return value
