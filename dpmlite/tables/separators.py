"""The sign between the cells of a text file, found by its first lines."""

from __future__ import annotations

import re
from collections import Counter

BLANK = " "
SEPARATORS = ("\t", ";", "|", ",", BLANK)
NAMES = {"\t": "tab", BLANK: "blanks"}

N_LINES = 100

# Excel's first line.
SEPARATOR_LINE = re.compile(r"sep=(.)\n?", re.IGNORECASE)

QUOTED = re.compile(r'(?:^|(?<=[\t;|, ]))"(?:[^"]|"")*"', re.MULTILINE)
NUMBER_OR_DATE = re.compile(
    r"[+-]?[\d.][\d.,']*(?:[eE][+-]?\d+)?%?|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:[ T][\d:.]+Z?)?"
)


def sniff_separator(text: str) -> str:
    """The separator that makes the first lines equally wide and most cells numbers or dates.

    Raises
    ------
    ValueError
        If all lines are blank.
    """
    start = "\n".join(text.split("\n", 10 * N_LINES)[: 10 * N_LINES])
    lines = [line for line in QUOTED.sub(_masked, start).split("\n") if line.strip()][:N_LINES]
    if not lines:
        raise ValueError("the file is empty")
    scores = {separator: _score(lines, separator) for separator in SEPARATORS}
    best = max(scores, key=lambda separator: scores[separator])
    return best if scores[best] > 0.0 else ","


def split_line(line: str, separator: str) -> list[str]:
    """The cells of a line without quotes."""
    return line.split() if separator == BLANK else line.split(separator)


def _masked(quoted: re.Match[str]) -> str:
    """A quoted cell as a number or a text without separators."""
    return "0" if NUMBER_OR_DATE.fullmatch(quoted[0][1:-1].strip()) else "x"


def _score(lines: list[str], separator: str) -> float:
    """The share of lines that are equally wide, and half of the share of numbers and dates."""
    cells = [split_line(line, separator) for line in lines]
    width, times = max(Counter(map(len, cells)).items(), key=lambda item: (item[1], item[0]))
    if width < 2:
        return 0.0
    below = [cell.strip() for row in cells[1:] or cells for cell in row]
    numbers = sum(NUMBER_OR_DATE.fullmatch(cell) is not None for cell in below) / len(below)
    if len(cells[0]) == width - 1 and times == len(lines) - 1:
        times += 1  # names of columns, of which R gives none to the names of rows
    # Words have blanks between them, too.
    if separator == BLANK and (numbers < 0.5 or times < len(lines)):
        return 0.0
    return times / len(lines) + 0.5 * numbers
