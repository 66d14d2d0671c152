"""Numbers as people write them: decimal points or commas, thousands separators, signs of money."""

from __future__ import annotations

import math
import re
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.tables.missing import USUAL_FORMS, is_missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

POINT, COMMA = ".", ","

# Between groups of three digits, besides the one of point and comma that is not the decimal sign.
GROUP_SIGNS = " \u00a0\u202f'’"

# Before or after the number of every cell of a column.
UNITS = "$€£¥%"

INFINITE = frozenset(("inf", "infinity"))

# The decimal sign is looked for in these first rows, and in all only if they do not tell.
N_ROWS = 1000


class AmbiguousDecimalError(ValueError):
    """Commas of a file may be decimal signs or thousands separators."""


def sniff_decimal(columns: Sequence[Sequence[str]], separator: str) -> str:
    """The decimal sign of the numbers in a table.

    Raises
    ------
    AmbiguousDecimalError
        If all that is there are numbers like 1,234, which may be 1.234 or 1234.
    """
    if not any(COMMA in "\n".join(column) for column in columns):
        return POINT
    first = _decimal_of(chain.from_iterable(islice(column, N_ROWS) for column in columns))
    found = first or _decimal_of(chain.from_iterable(columns))
    if found is None or (found == "" and separator == COMMA):
        return POINT
    if found:
        return found
    cell = next(cell for cell in chain.from_iterable(columns) if _is_grouped(cell, POINT))
    raise AmbiguousDecimalError(
        f"{cell!r} may be a decimal number or one of thousands: say which sign is the decimal one, "
        "decimal=',' or decimal='.' (--decimal , or --decimal .)"
    )


def _decimal_of(cells: Iterable[str]) -> str | None:
    """The decimal sign; empty if it is ambiguous, None if no number has a comma."""
    cells = list(cells)
    others = [cell for cell in cells if COMMA in cell or cell.count(POINT) > 1]
    n_commas = sum(_is_surely(cell, COMMA) for cell in others)  # no other cell can be
    ambiguous = any(_is_grouped(cell, POINT) for cell in others)
    if not (n_commas or ambiguous):
        return None
    n_points = sum(_is_surely(cell, POINT) for cell in cells)
    if n_commas > n_points:
        return COMMA
    return POINT if n_points else ""


def _is_surely(cell: str, decimal: str) -> bool:
    """Whether a cell is a number with this decimal sign and cannot be one with the other."""
    other = POINT if decimal == COMMA else COMMA
    if decimal not in cell and other not in cell:
        return False
    return _number(cell, decimal) is not None and _number(cell, other) is None


def _is_grouped(cell: str, decimal: str) -> bool:
    """Whether a cell with commas has a reading with groups of three digits."""
    return COMMA in cell and _number(cell, decimal) is not None


@cache
def _patterns(decimal: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A number without groups of digits, and one with groups of three."""
    d = re.escape(decimal)
    groups = re.escape(GROUP_SIGNS + (POINT if decimal == COMMA else COMMA))
    plain = rf"[+-]?(?:\d+(?:{d}\d*)?|{d}\d+)(?:[eE][+-]?\d+)?"
    grouped = rf"[+-]?[1-9]\d{{0,2}}([{groups}])\d{{3}}(?:\1\d{{3}})*(?:{d}\d+)?"
    return re.compile(plain, re.ASCII), re.compile(grouped, re.ASCII)


def _number(cell: str, decimal: str) -> float | None:
    """The value of a cell, None if it is no number."""
    plain, grouped = _patterns(decimal)
    if plain.fullmatch(cell):
        return float(cell.replace(COMMA, POINT))
    found = grouped.fullmatch(cell)
    if found:
        return float(cell.replace(found[1], "").replace(COMMA, POINT))
    if cell.lower().lstrip("+-") in INFINITE:
        return math.inf
    return None


def is_number(cell: str, decimal: str) -> bool:
    """Whether a stripped cell is a number."""
    return _number(cell, decimal) is not None


def parse_at_once(cells: Sequence[str], decimal: str) -> npt.NDArray[np.float64] | None:
    """Numbers without groups of digits, in the fast way; None if there is any other text."""
    joined = "\n".join(cells)
    if "_" in joined:  # Python's notation 1_000
        return None
    if decimal == COMMA:
        if POINT in joined:
            return None
        cells = joined.replace(COMMA, POINT).split("\n")
    try:
        return _floats(cells)
    except ValueError:
        pass
    try:
        return _floats(["nan" if cell in USUAL_FORMS else cell for cell in cells])
    except ValueError:
        return None


def _floats(cells: Sequence[str]) -> npt.NDArray[np.float64]:
    return np.fromiter(map(float, cells), dtype=np.float64, count=len(cells))


def parse_each(
    cells: Sequence[str], decimal: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Numbers of cells, NaN for others, and a mask of cells that are no number, but known."""
    known: dict[str, float | None] = {
        cell: math.nan if is_missing(cell) else _number(cell, decimal) for cell in set(cells)
    }
    values = [known[cell] for cell in cells]
    bad = np.array([value is None for value in values], dtype=bool)
    return np.array([math.nan if value is None else value for value in values]), bad


def without_unit(cells: Sequence[str]) -> tuple[list[str], str] | None:
    """Cells without the sign, such as $ or %, that all of them have; None if they have none."""
    unit = next((cell.strip("0123456789.,+- ") for cell in cells if not is_missing(cell)), "")
    if len(unit) != 1 or unit not in UNITS:
        return None
    bare = []
    for cell in cells:
        without = cell.replace(unit, "", 1).strip()
        if without == cell and not is_missing(cell):
            return None
        bare.append(without)
    return bare, unit
