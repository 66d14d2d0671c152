"""Lines before a table that begin with "#": comments, of which the last may name the columns."""

from __future__ import annotations

import re

from dpmlite.tables.numerals import COMMA, POINT, is_number
from dpmlite.tables.separators import sniff_separator, split_line

COMMENTS = re.compile(r"(?:\s*#[^\n]*\n)+")


def without_comments(text: str, separator: str | None) -> tuple[str, list[str]]:
    """A text without the comments at its beginning, and notes; later rows keep their numbers.

    The last comment names the columns if it has as many cells as the first row, and this has a
    number: so do files of ``numpy.savetxt``.
    """
    block = COMMENTS.match(text)
    rest = text[block.end() :] if block else ""
    if block is None or not rest.strip():
        return text, []
    lines = block[0].split("\n")[:-1]
    kept = [""] * len(lines)
    names = lines[-1].strip().lstrip("#").strip()
    if _are_names(names, rest.lstrip("\n").split("\n", 1)[0], separator or sniff_separator(rest)):
        kept[-1] = names
    n_comments = sum(bool(line.strip()) for line in lines) - bool(kept[-1])
    notes = [f"{n_comments} lines of comments are left out"] if n_comments else []
    return "\n".join([*kept, rest]), notes


def _are_names(comment: str, first: str, separator: str) -> bool:
    """Whether a comment names the columns of the first row."""
    cells = [cell.strip() for cell in split_line(first, separator)]
    has_number = any(is_number(cell, sign) for cell in cells for sign in (POINT, COMMA))
    return has_number and len(split_line(comment, separator)) == len(cells)
