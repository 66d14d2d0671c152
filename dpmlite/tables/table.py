"""A table with named columns of numbers, text and dates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Cells = npt.NDArray[Any]

KIND_OF_DTYPE = {"f": "number", "M": "date", "O": "text"}


@dataclass(frozen=True, eq=False)
class Source:
    r"""The file that a table was read from.

    Attributes
    ----------
    texts : dict
        The cells of each column as the file has them, columns that were left out included.
    row_numbers : sequence of int
        Number of each row, as a spreadsheet shows it.
    has_header : bool
        Whether the first row names the columns.
    separator, decimal, encoding : str
        How cells are separated, the decimal sign, and the encoding of the file.
    notes : list of str
        How the file was read, and what was left out.

    See Also
    --------
    Table : Its `source` is one.
    read_table : The function that makes it.

    Examples
    --------
    >>> from dpmlite.tables import parse_table
    >>> source = parse_table("day;load\n1;3,5\n2;4,25\n").source
    >>> source.separator, source.decimal
    (';', ',')
    >>> source.notes
    ["cells are separated by ';' with decimal commas; the first row names the columns"]
    """

    texts: Mapping[str, Sequence[str]]
    row_numbers: Sequence[int]
    has_header: bool = True
    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    notes: list[str] = field(default_factory=list)


class Table:
    """Columns of equal length by name, which estimators take as a data frame.

    Parameters
    ----------
    cells : mapping of str to array-like
        Cells of each column: numbers, text, or dates of type datetime64.
    source : Source, optional
        The file that they are from.

    Attributes
    ----------
    columns : list of str
        Names of the columns.
    kinds : dict
        "number", "text" or "date" for each column. Numbers are float64 with NaN, text is objects
        with None, and dates are datetime64 with NaT, where a cell is missing.
    shape : tuple of int
        Rows and columns.
    source : Source or None

    Raises
    ------
    ValueError
        If columns differ in length.

    See Also
    --------
    read_table : A table from a file.

    Examples
    --------
    >>> from dpmlite import Table
    >>> table = Table({"age": [20, 31], "city": ["Rome", None]})
    >>> table.kinds
    {'age': 'number', 'city': 'text'}
    >>> table["age"]
    array([20., 31.])
    >>> table.drop("city").columns
    ['age']
    """

    def __init__(self, cells: Mapping[str, npt.ArrayLike], source: Source | None = None) -> None:
        self._cells = {str(name): _as_column(values) for name, values in cells.items()}
        self.source = source
        lengths = {name: len(values) for name, values in self._cells.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns must have the same length, got {lengths}")

    @property
    def columns(self) -> list[str]:
        return list(self._cells)

    @property
    def kinds(self) -> dict[str, str]:
        return {name: KIND_OF_DTYPE[cells.dtype.kind] for name, cells in self._cells.items()}

    @property
    def shape(self) -> tuple[int, int]:
        return len(self), len(self._cells)

    def __len__(self) -> int:
        return len(next(iter(self._cells.values()), ()))

    @overload
    def __getitem__(self, key: str) -> Cells: ...
    @overload
    def __getitem__(self, key: list[str]) -> Table: ...
    def __getitem__(self, key: str | list[str]) -> Cells | Table:
        """The cells of a column, or a table of some columns."""
        if isinstance(key, list):
            return Table({name: self._cells[name] for name in key}, self.source)
        return self._cells[key]

    def drop(self, columns: str | Sequence[str]) -> Table:
        """A table without some columns.

        Parameters
        ----------
        columns : str or sequence of str
            One name, or several.

        Returns
        -------
        Table

        Raises
        ------
        KeyError
            If there is no such column.
        """
        dropped = [columns] if isinstance(columns, str) else list(columns)
        for name in dropped:
            if name not in self._cells:
                raise KeyError(f"there is no column {name!r}: columns are {self.columns}")
        return self[[name for name in self._cells if name not in dropped]]

    def missing(self, name: str) -> npt.NDArray[np.bool_]:
        """Mask of the missing cells of a column.

        Parameters
        ----------
        name : str
            A column.

        Returns
        -------
        ndarray of bool, shape (N,)

        Raises
        ------
        KeyError
            If there is no such column.
        """
        cells = self._cells[name]
        if cells.dtype.kind == "O":
            return np.array([cell is None for cell in cells.tolist()], dtype=bool)
        return np.isnat(cells) if cells.dtype.kind == "M" else np.isnan(cells)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Cells:
        """All cells, shape (N, D): float64 if all are numbers, else objects."""
        if set(self.kinds.values()) <= {"number"}:
            cells = np.column_stack(list(self._cells.values()) or [np.empty((0, 0))])
        else:
            columns = [cells.astype(object) for cells in self._cells.values()]
            cells = np.column_stack(columns)
        return cells if dtype is None else cells.astype(dtype)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name!r}: {kind}" for name, kind in self.kinds.items())
        return f"Table({len(self)} rows; {kinds})"


def _as_column(values: npt.ArrayLike) -> Cells:
    """Cells as float64, datetime64 or objects."""
    cells = np.asarray(values)
    if cells.ndim != 1:
        raise ValueError(f"a column must be 1-D, got shape {cells.shape}")
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64, copy=False)
    if cells.dtype.kind == "M":
        return cells
    column = np.empty(len(cells), dtype=object)
    column[:] = values if isinstance(values, list | tuple) else cells.tolist()
    known = [value for value in column.tolist() if value is not None]
    if known and all(type(value) in (int, float) for value in known):
        return np.array([np.nan if value is None else value for value in column.tolist()])
    return column
