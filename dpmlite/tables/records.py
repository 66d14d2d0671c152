"""Tables from JSON lines and parquet files."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.tables.table import Source, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt


def read_records(text: str) -> Table:
    """A table of JSON lines: an object in each, of numbers, text, truth values and nulls.

    Raises
    ------
    ValueError
        If a line is not such an object.
    """
    import json

    numbers, records = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                record = json.loads(line)
            except ValueError as error:
                raise ValueError(f"line {number} is not JSON: {error}") from None
            except RecursionError:
                raise ValueError(f"line {number} is nested too deeply") from None
            if not isinstance(record, dict):
                raise ValueError(f"line {number} must be an object, got {line[:40]!r}")
            numbers.append(number)
            records.append(record)
    if not records:
        raise ValueError("the file is empty")
    names = list(dict.fromkeys(name for record in records for name in record))
    cells = {
        name: _column(name, [record.get(name) for record in records], numbers) for name in names
    }
    return _table(cells, numbers, "JSON lines")


def read_parquet(data: bytes) -> Table:
    """The table of a parquet file.

    Raises
    ------
    ImportError
        If there is neither pyarrow nor polars.
    ValueError
        If the file is damaged, or a column has nested cells.
    """
    names, columns = _parquet_columns(data)
    n_rows = len(columns[0]) if columns else 0
    if not n_rows:
        raise ValueError("the file is empty")
    numbers = range(1, n_rows + 1)
    cells = {
        name: _series(name, column, numbers) for name, column in zip(names, columns, strict=True)
    }
    return _table(cells, numbers, "parquet")


def _parquet_columns(data: bytes) -> tuple[list[str], list[Any]]:
    try:
        import pyarrow.parquet

        try:
            table = pyarrow.parquet.read_table(io.BytesIO(data))
        except pyarrow.ArrowException as error:
            raise ValueError(f"is a damaged parquet file: {str(error).splitlines()[0]}") from None
        return list(table.column_names), [table.column(j) for j in range(table.num_columns)]
    except ImportError:
        pass
    try:
        import polars as pl
    except ImportError:
        raise ImportError(
            "parquet files need pyarrow or polars: python3 -m pip install pyarrow"
        ) from None
    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"is a damaged parquet file: {str(error).splitlines()[0]}") from None
    return list(frame.columns), [frame[name] for name in frame.columns]


def _series(name: str, column: Any, numbers: Sequence[int]) -> npt.NDArray[Any]:
    """The cells of a column of pyarrow or polars."""
    cells = column.to_numpy()
    if cells.dtype.kind in "iuf":
        return _checked(name, cells.astype(np.float64), numbers)
    if cells.dtype.kind == "M":
        return np.asarray(cells, dtype="datetime64[s]")
    values = column.to_list() if hasattr(column, "to_list") else column.to_pylist()
    return _column(name, values, numbers)


def _column(name: str, values: list[Any], numbers: Sequence[int]) -> npt.NDArray[Any]:
    """Values that are numbers, or text and truth values, with None where one is missing."""
    known = [value for value in values if value is not None]
    for number, value in zip(numbers, values, strict=True):
        if isinstance(value, list | dict | tuple):
            raise ValueError(
                f"cells must not be nested, got {str(value)[:40]!r} in column {name!r}, "
                f"row {number}"
            )
    if all(hasattr(value, "isoformat") and hasattr(value, "year") for value in known) and known:
        return np.array(
            ["NaT" if value is None else value.isoformat()[:19] for value in values],
            dtype="datetime64[s]",
        )
    if any(isinstance(value, str | bool) for value in known):
        cells = np.empty(len(values), dtype=object)
        cells[:] = [None if value is None else str(value) for value in values]
        return cells
    floats = np.array([np.nan if value is None else float(value) for value in values])
    return _checked(name, floats, numbers)


def _checked(
    name: str, values: npt.NDArray[np.float64], numbers: Sequence[int]
) -> npt.NDArray[np.float64]:
    if np.isinf(values).any():
        i = int(np.argmax(np.isinf(values)))
        raise ValueError(f"values must be finite in column {name!r}, row {numbers[i]}: {values[i]}")
    return values


def _table(cells: Mapping[str, npt.NDArray[Any]], numbers: Sequence[int], form: str) -> Table:
    texts = {name: column_texts(column) for name, column in cells.items()}
    return Table(cells, Source(texts, numbers, notes=[f"the file is {form}"]))


def column_texts(cells: npt.NDArray[Any]) -> list[str]:
    """Cells of a column as texts; dates lack the time only if all are without one."""
    if cells.dtype.kind == "M":
        known = cells[~np.isnat(cells)]
        if (known != known.astype("datetime64[D]")).any():
            return ["" if value is None else value.isoformat() for value in cells.tolist()]
    return list(map(cell_text, cells.tolist()))


def cell_text(value: Any) -> str:
    """A cell as text.

    Parameters
    ----------
    value : object
        A number, a date, a text, or None or NaN for a missing cell.

    Returns
    -------
    str
        Whole numbers without a decimal point, dates by ISO 8601; empty for a missing cell.

    See Also
    --------
    write_table : The text of a whole table.

    Examples
    --------
    >>> from dpmlite.tables import cell_text
    >>> cell_text(3.0), cell_text(3.5), cell_text(None)
    ('3', '3.5', '')
    """
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).removesuffix("T00:00:00")
    return str(value)
