"""Columns of dates: ISO 8601 and the common orders of day, month and year."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.tables.missing import is_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

TIME = (
    r"(?:(?:[T ]|, ?) *(?P<time>\d{1,2}:\d\d(?::\d\d)?)(?:[.,]\d+)?"
    r" ?(?P<half>[AaPp][Mm])?(?:Z|[+-]\d\d:?\d\d)?)?"
)
YEAR_FIRST = re.compile(r"(?P<y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})" + TIME)
YEAR_LAST = re.compile(r"(?P<a>\d{1,2})([-/.])(?P<b>\d{1,2})\2(?P<y>\d{4}|\d\d)" + TIME)
DAY_NAME = re.compile(r"(?P<d>\d{1,2})[- ](?P<name>[A-Za-z]{3,9})\.?[- ](?P<y>\d{4}|\d\d)" + TIME)
NAME_DAY = re.compile(r"(?P<name>[A-Za-z]{3,9})\.? (?P<d>\d{1,2}),? (?P<y>\d{4})" + TIME)

DAY_FIRST, MONTH_FIRST = "day first", "month first"


def parse_dates(cells: Sequence[str]) -> tuple[npt.NDArray[np.datetime64], str] | None:
    """Dates of a column in seconds, NaT where a cell is missing, and their order.

    None unless all cells that are not missing are dates. The order is "day first" or "month first",
    with a question mark if both fit: it is then the one that the sign between the numbers suggests;
    it is empty where the year comes first or months have names.
    """
    different = {cell for cell in cells if not is_missing(cell)}
    matches = {}
    for cell in different:
        matches[cell] = _match(cell)
        if matches[cell] is None:
            return None
    if not matches:
        return None
    found = [match for match in matches.values() if match is not None]
    orders = _orders(found)
    for order in orders:
        try:
            values = {cell: _date(match, order) for cell, match in matches.items() if match}
        except ValueError:
            continue
        nat = np.datetime64("NaT", "s")
        dates = np.array([values.get(cell, nat) for cell in cells], dtype="datetime64[s]")
        return dates, order + ("?" if len(orders) > 1 else "")
    return None


def _match(cell: str) -> re.Match[str] | None:
    patterns = (YEAR_FIRST, YEAR_LAST, DAY_NAME, NAME_DAY)
    return next((found for p in patterns if (found := p.fullmatch(cell))), None)


def _orders(matches: list[re.Match[str]]) -> list[str]:
    """Orders of day and month that fit all dates, the likelier first."""
    pairs = [(int(m["a"]), int(m["b"])) for m in matches if m.re is YEAR_LAST]
    if not pairs:
        return [""]
    orders = []
    if all(second <= 12 for _, second in pairs):
        orders.append(DAY_FIRST)
    if all(first <= 12 for first, _ in pairs):
        orders.append(MONTH_FIRST)
    has_slash = any("/" in match[0] for match in matches)
    return orders[::-1] if has_slash else orders


def _date(match: re.Match[str], order: str) -> np.datetime64:
    """The date of a match; ValueError if there is no such day."""
    parts = match.groupdict()
    if "name" in parts:
        month = MONTHS.index(parts["name"][:3].lower()) + 1
        day = int(parts["d"])
    elif match.re is YEAR_FIRST:
        month, day = int(parts["m"]), int(parts["d"])
    else:
        day, month = int(parts["a"]), int(parts["b"])
        if order == MONTH_FIRST:
            day, month = month, day
    year = int(parts["y"])
    if len(parts["y"]) == 2:  # as POSIX does
        year += 2000 if year < 69 else 1900
    return np.datetime64(f"{year:04}-{month:02}-{day:02}T{_time(match)}", "s")


def _time(match: re.Match[str]) -> str:
    """The time of day of a match, 00:00:00 without one."""
    if not match["time"]:
        return "00:00:00"
    hour, *rest = match["time"].split(":")
    number = int(hour)
    if match["half"]:
        number = number % 12 + 12 * (match["half"].lower() == "pm")
    return ":".join([f"{number:02}", *rest, *["00"] * (2 - len(rest))])
