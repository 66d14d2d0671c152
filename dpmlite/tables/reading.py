"""Tables from files of text, parquet or JSON lines."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any

from dpmlite.tables.cells import split_cells
from dpmlite.tables.comments import without_comments
from dpmlite.tables.decoding import PARQUET, STDIN, decode, read_bytes
from dpmlite.tables.header import has_header
from dpmlite.tables.kinds import cells_of
from dpmlite.tables.numerals import COMMA, POINT, sniff_decimal
from dpmlite.tables.records import read_parquet, read_records
from dpmlite.tables.separators import NAMES, SEPARATOR_LINE, sniff_separator
from dpmlite.tables.table import Source, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Kinds = Mapping[str, str] | Callable[[list[str]], Mapping[str, str]]

HEADERS = {"yes": True, "no": False, "auto": None}
KINDS = ("number", "text")


def read_table(
    file: str | os.PathLike[str] | IO[Any],
    *,
    header: str = "auto",
    separator: str | None = None,
    decimal: str | None = None,
    kinds: Kinds | None = None,
) -> Table:
    r"""Read a table from a file.

    Separators (comma, semicolon, tab, bar, blanks), the decimal sign, the encoding (UTF-8, UTF-16,
    Latin-1) and gz are found out. Empty cells and NA, N/A, <NA>, NaN, NaT, null, None, ? and - are
    missing; among text, None is a level. Columns at the end that have no name and no value are left
    out, and lines before the table that begin with "#"; the last of these may name the columns.

    Parameters
    ----------
    file : path-like or file
        "-" is standard input. The names of parquet files end with .parquet, those of JSON lines
        with .jsonl or .ndjson.
    header : {"auto", "yes", "no"}, default "auto"
        Whether the first row names the columns. "auto": if it has text over numbers or dates,
        or begins with an empty cell over the numbers of the rows. A first row of numbers over
        numbers is data. Names are "column 1", ... without a header.
    separator : str, optional
        The sign between cells; " " is any number of blanks. Default: found out.
    decimal : {".", ","}, optional
        The decimal sign. Default: found out.
    kinds : mapping of str to {"number", "text"}, or callable, optional
        What columns are to be, or a function of their names that returns it. Other columns are what
        their cells look like. Dates become numbers as days since 1970.

    Returns
    -------
    Table
        Estimators take it as a data frame. `Table.source` has notes on how the file was read.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is not a table; one line that names the file, the row and the column.
    ImportError
        If it is a parquet file, and there is neither pyarrow nor polars.

    See Also
    --------
    Table : What it returns.
    dpmlite.tables.parse_table : The table of a text that was read.

    Examples
    --------
    >>> import io
    >>> from dpmlite import read_table
    >>> table = read_table(io.StringIO("city;spend\nRome;1,5\nParis;20,25\n"))
    >>> table["spend"]
    array([ 1.5 , 20.25])
    """
    name = name_of(file)
    try:
        data = read_bytes(file)
        if data.startswith(PARQUET):
            return read_parquet(data)
        text, encoding = decode(data)
        if name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson")):
            return read_records(text)
        return parse_table(
            text,
            header=header,
            separator=separator,
            decimal=decimal,
            kinds=kinds,
            encoding=encoding,
        )
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def name_of(file: Any) -> str:
    """The name of a file for messages."""
    if file == STDIN:
        return "standard input"
    if isinstance(file, str | os.PathLike):
        return os.fspath(file)
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "the file"


def parse_table(
    text: str,
    *,
    header: str = "auto",
    separator: str | None = None,
    decimal: str | None = None,
    kinds: Kinds | None = None,
    encoding: str = "utf-8",
) -> Table:
    r"""The table of a text.

    Parameters
    ----------
    text : str
    header, separator, decimal, kinds
        As of `read_table`.
    encoding : str, default "utf-8"
        Encoding of the file, for `Table.source`.

    Returns
    -------
    Table

    Raises
    ------
    ValueError
        As `read_table`. Rows are counted from 1, with the header, as a spreadsheet shows them.

    See Also
    --------
    read_table : The table of a file.

    Examples
    --------
    >>> from dpmlite.tables import parse_table
    >>> table = parse_table("day;load\n1;3,5\n2;4,25\n")
    >>> table["load"]
    array([3.5 , 4.25])
    """
    _check_choice("header", header, tuple(HEADERS))
    _check_choice("decimal", decimal, (POINT, COMMA, None))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    said = SEPARATOR_LINE.match(text)
    if said:
        text = text[said.end() :]
    separator = separator or (said[1] if said else None)
    text, notes = without_comments(text, separator)
    separator = separator or sniff_separator(text)
    found = split_cells(text, separator)
    columns, row_numbers, notes = found.columns, found.row_numbers, notes + found.notes
    decimal = decimal or sniff_decimal(columns, separator)
    is_named = HEADERS[header]
    is_named = has_header(columns, decimal) if is_named is None else is_named
    if is_named and len(row_numbers) == 1:
        raise ValueError("there is no row below the header")
    texts = _named_columns(columns, is_named, notes)
    row_numbers, names = row_numbers[int(is_named) :], list(texts)
    said_kinds = kinds(names) if callable(kinds) else kinds or {}
    _check_kinds(said_kinds, names)
    cells = {}
    for name, column in texts.items():
        cells[name], note = cells_of(name, column, row_numbers, decimal, said_kinds.get(name))
        notes += [note] if note else []
    notes.insert(0, _how_read(separator, decimal, encoding, is_named))
    return Table(cells, Source(texts, row_numbers, is_named, separator, decimal, encoding, notes))


def _named_columns(
    columns: Sequence[list[str]], is_named: bool, notes: list[str]
) -> dict[str, list[str]]:
    """Cells of the columns by their names, without empty columns at the end."""
    names = [column[0] if is_named else "" for column in columns]
    cells = [column[1:] if is_named else column for column in columns]
    n_kept = _number_of_columns(names, cells, notes)
    names = _different([name or f"column {j}" for j, name in enumerate(names[:n_kept], 1)], notes)
    return dict(zip(names, cells, strict=False))


def _how_read(separator: str, decimal: str, encoding: str, named: bool) -> str:
    """How cells and names were found, in one line."""
    parts = [f"separated by {NAMES.get(separator, repr(separator))}"]
    if decimal == COMMA:
        parts.append("with decimal commas")
    if not encoding.startswith("utf-8"):
        parts.append(f"in {encoding}")
    first = "names the columns" if named else "is data (--header yes if it names the columns)"
    return f"cells are {' '.join(parts)}; the first row {first}"


def _number_of_columns(
    names: Sequence[str], columns: Sequence[Sequence[str]], notes: list[str]
) -> int:
    """Number of columns without those at the end that have neither a name nor a value."""
    n = len(names)
    while n > 1 and not names[n - 1] and not any(columns[n - 1]):
        n -= 1
    if n < len(names):
        notes.append(f"column {n + 1} is left out: it is empty")
    return n


def _different(names: list[str], notes: list[str]) -> list[str]:
    """Names; one that comes again gets its number in brackets."""
    found: list[str] = []
    for j, name in enumerate(names, start=1):
        if name in found:
            found.append(f"{name} ({j})")
            notes.append(f"column {j} is called {found[-1]!r}: {name!r} is there twice")
        else:
            found.append(name)
    return found


def _check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def _check_kinds(kinds: Mapping[str, str], names: Sequence[str]) -> None:
    for name, kind in kinds.items():
        _check_choice(f"kind of column {name!r}", kind, KINDS)
        if name not in names:
            raise ValueError(f"there is no column {name!r}; the columns are {', '.join(names)}")
