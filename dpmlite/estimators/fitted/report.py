"""Small tables for people."""

from __future__ import annotations

from dataclasses import dataclass

# Rows that are printed, at most: a table of genes has thousands of columns.
MAX_SHOWN = 60


@dataclass(frozen=True)
class Report:
    """A small table for people: printed as text, and as HTML in notebooks.

    At most 60 rows are printed; `rows` has all.

    Attributes
    ----------
    title : str
    header : list of str
    rows : list of list of str
    """

    title: str
    header: list[str]
    rows: list[list[str]]

    def __str__(self) -> str:
        lines = [self.header, *self._shown()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        aligned = (
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
        return "\n".join([self.title, "", *aligned])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape  # only notebooks need it

        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.header)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._shown()
        )
        caption = f"<caption>{escape(self.title)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _shown(self) -> list[list[str]]:
        """The rows that are printed, and how many more there are."""
        n_more = len(self.rows) - MAX_SHOWN
        if n_more <= 0:
            return self.rows
        return [*self.rows[:MAX_SHOWN], [f"+{n_more} more", *[""] * (len(self.header) - 1)]]
