"""Whether the first row of a file names the columns."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from dpmlite.tables.dates import parse_dates
from dpmlite.tables.missing import is_missing
from dpmlite.tables.numerals import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

# Rows below the first that tell what a column holds.
N_ROWS = 200

YEARS = range(1800, 2200)


def has_header(columns: Sequence[Sequence[str]], decimal: str) -> bool:
    """Whether the first row names the columns.

    It does if it has text over numbers or dates, or begins with an empty cell over an index: the
    numbers of the rows. It does not if it has numbers where there are numbers below, save that
    years one apart are names beside a name or an empty cell over text.
    A table of text alone has names if the first row has no word twice, nor one that comes again
    below it.
    """
    if len(columns[0]) == 1:
        return not any(is_number(column[0], decimal) for column in columns)
    if _is_index(columns[0]) and len(columns) > 1:
        return True
    over_values: list[tuple[str, Sequence[str]]] = []
    over_text: list[tuple[str, Sequence[str]]] = []
    for column in columns:
        first, below = column[0], column[1 : N_ROWS + 1]
        (over_values if _are_values(below, decimal) else over_text).append((first, below))
    names_values = any(
        not is_missing(cell) and not _is_value(cell, decimal) for cell, _ in over_values
    )
    if names_values:
        return True
    are_new = all(cell not in below for cell, below in over_text)
    names = [cell for cell, _ in over_text]
    if over_values:
        return bool(names) and are_new and _are_years([cell for cell, _ in over_values])
    return (
        are_new
        and len(set(names)) == len(names)
        and not any(is_number(name, decimal) for name in names)
    )


def _is_index(column: Sequence[str]) -> bool:
    """Whether a column has no name, and numbers the rows from 0 or 1, as R and pandas write it."""
    name, first, *others = column
    if name or first not in ("0", "1") or not others:
        return False
    start = int(first) + 1
    return others == [str(number) for number in range(start, start + len(others))]


def _is_value(cell: str, decimal: str) -> bool:
    return is_number(cell, decimal) or parse_dates([cell]) is not None


def _are_values(cells: Sequence[str], decimal: str) -> bool:
    """Whether most known cells are numbers, or all are dates; true if none is known."""
    known = [cell for cell in cells if not is_missing(cell)]
    n_numbers = sum(is_number(cell, decimal) for cell in known)
    return 2 * n_numbers > len(known) or not known or parse_dates(known) is not None


def _are_years(cells: Sequence[str]) -> bool:
    """Whether cells are at least two years, each one more than the last."""
    if len(cells) < 2 or not all(cell.isdecimal() for cell in cells):
        return False
    years = [int(cell) for cell in cells]
    return all(year in YEARS for year in years) and all(
        later == year + 1 for year, later in pairwise(years)
    )
