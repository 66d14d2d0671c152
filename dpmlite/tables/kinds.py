"""What a column of cells holds: numbers, dates or text."""

from __future__ import annotations

from reprlib import repr as shortened
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.tables.dates import parse_dates
from dpmlite.tables.missing import NONE, is_missing
from dpmlite.tables.numerals import parse_at_once, parse_each, without_unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Cells = npt.NDArray[Any]

NUMBER, TEXT, DATE = "number", "text", "date"


def cells_of(
    name: str, cells: Sequence[str], row_numbers: Sequence[int], decimal: str, kind: str | None
) -> tuple[Cells, str]:
    """The cells of a column as an array, and a note on how they were taken, mostly empty.

    Parameters
    ----------
    name : str
    cells : sequence of str
        Stripped.
    row_numbers : sequence of int
        For errors.
    decimal : str
    kind : {"number", "text"} or None
        What the cells are to be; None finds out. Dates become days since 1970.

    Raises
    ------
    ValueError
        If most cells are numbers and others are not, or cells that are to be numbers are not.
    """
    if kind == TEXT:
        return as_text(cells), ""
    values = parse_at_once(cells, decimal)
    note = ""
    if values is None:
        values, note = _numbers_of_each(name, cells, row_numbers, decimal, kind)
    if values is None:
        dated = parse_dates(cells)
        if dated is None:
            return as_text(cells), ""
        dates, order = dated
        if kind == NUMBER:
            return days_since_1970(dates), f"{name}: days since 1970"
        taken = f"{name}: dates taken as {order[:-1]}" if order.endswith("?") else ""
        return dates, taken
    if np.isinf(values).any():
        i = int(np.argmax(np.isinf(values)))
        _raise("values must be finite", name, cells[i], row_numbers[i])
    return values, note


def as_text(cells: Sequence[str]) -> npt.NDArray[np.object_]:
    """Cells as objects, None where one is missing. The word "none" is a level, as "some" is."""
    text = np.empty(len(cells), dtype=object)
    text[:] = [None if is_missing(cell) and cell.lower() != NONE else cell for cell in cells]
    return text


def days_since_1970(dates: npt.NDArray[np.datetime64]) -> npt.NDArray[np.float64]:
    """Dates as numbers of days, NaN for NaT."""
    days = (dates - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
    return np.asarray(days, dtype=np.float64)


def _numbers_of_each(
    name: str, cells: Sequence[str], row_numbers: Sequence[int], decimal: str, kind: str | None
) -> tuple[npt.NDArray[np.float64] | None, str]:
    """Numbers of cells, None if they are not numbers, and a note on the unit that all have."""
    bare = without_unit(cells)
    values, bad = parse_each(bare[0] if bare else cells, decimal)
    if not bad.any():
        return values, f"{name}: numbers with {bare[1]}" if bare else ""
    n_numbers = len(cells) - bad.sum() - np.isnan(values[~bad]).sum()
    is_date = kind == NUMBER and parse_dates(cells) is not None
    if (kind == NUMBER and not is_date) or n_numbers > bad.sum():
        i = int(np.argmax(bad))
        advice = (
            f"mend it, leave the column out (--drop), or take it as text (--as {quote(name)}=text)"
        )
        _raise("text", name, cells[i], row_numbers[i], f" is not a number: {advice}")
    return None, ""


def _raise(rule: str, name: str, cell: str, row: int, rest: str = "") -> None:
    raise ValueError(f"{rule} in column {name!r}, row {row}: {shortened(cell)}{rest}")
