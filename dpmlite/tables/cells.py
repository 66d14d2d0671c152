"""The cells of a text file, column by column."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpmlite.tables.separators import BLANK, NAMES, NUMBER_OR_DATE, SEPARATORS, split_line

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = list[str]


@dataclass(frozen=True, eq=False)
class CellTable:
    """Stripped cells of each column, the number of each row, and notes on rows that were mended."""

    columns: list[list[str]]
    row_numbers: Sequence[int]
    notes: list[str]


def split_cells(text: str, separator: str) -> CellTable:
    """The cells of a text; blank lines are skipped.

    Raises
    ------
    ValueError
        If it is empty, a row has too few or too many cells, or a quote does not end or has more
        than a separator after it.
    """
    split = _with_quotes if '"' in text else _without_quotes
    numbers, rows = split(text, separator)
    if not rows:
        raise ValueError("the file is empty")
    notes: list[str] = []
    if _names_rows_without_a_name(rows):
        rows[0] = ["", *rows[0]]
    if len(set(map(len, rows))) > 1:
        rows = _evened(rows, numbers, separator, notes)
    n_empty = _empty_rows_at_the_end(rows)
    if n_empty:
        notes.append(f"{n_empty} empty rows at the end are left out")
        rows, numbers = rows[:-n_empty], numbers[:-n_empty]
    columns = [list(map(str.strip, column)) for column in zip(*rows, strict=True)]
    return CellTable(columns, numbers, notes)


def _without_quotes(text: str, separator: str) -> tuple[Sequence[int], list[Row]]:
    lines = text.split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    numbers: Sequence[int] = range(1, len(lines) + 1)
    if not all(map(str.strip, lines)):
        numbers = [number for number in numbers if lines[number - 1].strip()]
        lines = [lines[number - 1] for number in numbers]
    return numbers, [split_line(line, separator) for line in lines]


def _with_quotes(text: str, separator: str) -> tuple[Sequence[int], list[Row]]:
    lines = (line.strip(BLANK) if separator == BLANK else line for line in text.split("\n"))
    bare = ("\n" if not line or line.isspace() else line + "\n" for line in lines)
    numbers, rows, number = [], [], 0
    # Strict, for a stray quote would otherwise swallow the rows after it.
    reader = csv.reader(bare, delimiter=separator, skipinitialspace=True, strict=True)
    try:
        for number, row in enumerate(reader, start=1):
            if row:
                numbers.append(number)
                rows.append(row)
    except csv.Error as error:
        said = str(error).encode("unicode_escape").decode()  # it names the separator
        raise ValueError(f"row {number + 1} is not one of a CSV file: {said}") from error
    return numbers, rows


def _names_rows_without_a_name(rows: list[Row]) -> bool:
    """Whether a first row of words is a cell short, as where R's write.table names the rows."""
    names, *others = rows
    return (
        len(names) > 1
        and {len(row) for row in others} == {len(names) + 1}
        and any(row[-1].strip() for row in others)
        and not any(NUMBER_OR_DATE.fullmatch(name.strip()) for name in names)
    )


def _evened(rows: list[Row], numbers: Sequence[int], separator: str, notes: list[str]) -> list[Row]:
    """Rows of equal width: empty cells beyond the usual width are cut off."""
    usual = Counter(map(len, rows)).most_common(1)[0][0]
    first = rows[0]
    # What the first row names is a column, unless it is empty.
    width = len(first) if any(map(str.strip, first[usual:])) else min(len(first), usual)
    n_cut = 0
    for i, row in enumerate(rows):
        if len(row) > width and not any(map(str.strip, row[width:])):
            rows[i] = row[:width]
            n_cut += 1
        elif len(row) != width:
            raise ValueError(
                f"row {numbers[i]} has {len(row)} cells, row {numbers[0]} has {len(first)}"
                f"{_hint(first, separator)}"
            )
    notes.append(f"empty cells at the end of {n_cut} rows are left out")
    return rows


def _hint(first: Row, separator: str) -> str:
    """Which other separators the first row has, if it is one cell."""
    others = [sign for sign in SEPARATORS if sign != BLANK and sign in first[0]]
    used = NAMES.get(separator, repr(separator))
    other = f", not {NAMES.get(others[0], repr(others[0]))}" if len(first) == 1 and others else ""
    return f": cells are separated by {used}{other}"


def _empty_rows_at_the_end(rows: list[Row]) -> int:
    """Number of rows at the end whose cells are all empty, if there are several columns."""
    n = 0
    while n < len(rows) - 1 and len(rows[0]) > 1 and not any(map(str.strip, rows[-1 - n])):
        n += 1
    return n
