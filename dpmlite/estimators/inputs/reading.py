"""The columns of users' tables: numbers, or categories where a data frame says so."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.arrays import as_floats, check_table, numbers_of_texts
from dpmlite.estimators.inputs.columns import is_missing
from dpmlite.estimators.inputs.user_tables import DATE_TYPES, check_is_table, names_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from dpmlite.estimators.inputs.columns import Column

# Cells of these types are no single values.
NESTED = (list, tuple, set, dict, np.ndarray)
# No cell of one of these types equals one of another.
UNEQUAL_TYPES = {str, float, NoneType}


@dataclass(frozen=True, eq=False, repr=False)
class CellsOf:
    """The cells of one column.

    Attributes
    ----------
    cells : ndarray, shape (N,)
        float64 with NaN, or objects with None, where a cell is missing.
    kind : {"number", "category", "date"}
        What the column's type says.
    """

    cells: npt.NDArray[Any]
    kind: str


def is_frame(X: Any) -> bool:
    """Whether `X` has named or numbered columns, as the data frames of pandas and polars."""
    # A LazyFrame has no shape, and warns when asked for its columns.
    return hasattr(X, "shape") and hasattr(X, "__getitem__") and hasattr(X, "columns")


def has_categories(columns: Mapping[Column, CellsOf]) -> bool:
    """Whether any of the columns is not of numbers."""
    return any(found.kind != "number" for found in columns.values())


def read_columns(X: Any) -> dict[Column, CellsOf]:
    """The columns of a table by name, or by place if it has no names.

    Raises
    ------
    ValueError, TypeError
        If `X` is not a table.
    """
    if not is_frame(X):
        check_is_table(X)
        array = np.asarray(X)
        if array.dtype.kind not in "OUS":
            array = check_table(X)
        elif array.ndim != 2 or 0 in array.shape:
            raise ValueError(f"X must be 2-D with rows and columns, got shape {array.shape}")
        return {j: read_column(j, array[:, j]) for j in range(array.shape[1])}
    names = names_of(X) or []
    if 0 in (len(X), len(names)):
        raise ValueError(f"X must have at least one row and one column, got shape {X.shape}")
    if all(isinstance(name, str) for name in names):
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"X must have each column once, got {twice!r} twice")
        return {name: read_column(name, X[name]) for name in names}
    return {j: read_column(j, X.iloc[:, j]) for j in range(len(names))}


def read_column(column: Column, series: Any) -> CellsOf:
    """The cells of a column: a numpy array, or a series of pandas, polars or pyarrow.

    Raises
    ------
    ValueError, TypeError
        If a cell is no number, text, truth value or date; the message names the column.
    """
    dtype = _dtype_name(series).lower()
    is_category = dtype in ("category", "categorical", "enum")
    cells = np.asarray(series)
    if cells.dtype.kind in "mM" or dtype.startswith(DATE_TYPES):
        return CellsOf(cells, "date")
    if cells.dtype.kind in "iuf":
        return CellsOf(
            cells.astype(np.float64, copy=False), "category" if is_category else "number"
        )
    if cells.dtype.kind == "b":
        return CellsOf(cells, "category")
    return _of_objects(column, cells.astype(object), is_category)


def _of_objects(column: Column, cells: npt.NDArray[np.object_], is_category: bool) -> CellsOf:
    """Objects: numbers, dates, or text and truth values, which are categories.

    Most columns of text have few different cells: only these are looked at.
    """
    different, which = _different(cells.ravel())
    if cells.ndim > 1 or any(isinstance(cell, NESTED) for cell in different):
        raise TypeError(f"column {column!r} must have a single value in each cell, got lists")
    missing = np.array([is_missing(cell) for cell in different.tolist()], dtype=bool)
    known = different[~missing].tolist()
    if known and all(hasattr(cell, "isoformat") for cell in known):
        return CellsOf(cells, "date")
    if not is_category and not any(isinstance(cell, str | bool | np.bool_) for cell in known):
        numbers = np.where(missing[which], np.nan, cells)
        return CellsOf(as_floats(f"column {column!r}", numbers, ("row",)), "number")
    of_texts = None if is_category else numbers_of_texts(different)
    if of_texts is not None:
        return CellsOf(of_texts[which], "number")
    if not all(isinstance(cell, str) for cell in known) and not all(map(_is_truth, known)):
        different[~missing] = [str(cell) for cell in known]
    different[missing] = None
    return CellsOf(different[which], "category")


def _different(
    cells: npt.NDArray[np.object_],
) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.intp]]:
    """The different cells, and which of them each cell is; a cell without a hash equals no other.

    Cells of two types differ: True is not 1.
    """
    listed = keys = cells.tolist()
    if not set(map(type, listed)) <= UNEQUAL_TYPES:
        keys = list(zip(map(type, listed), listed, strict=True))
    try:
        index = dict(zip(dict.fromkeys(keys), itertools.count(), strict=False))
    except TypeError:
        return cells.copy(), np.arange(len(cells))
    which = np.fromiter(map(index.__getitem__, keys), dtype=np.intp, count=len(keys))
    first = np.zeros(len(index), dtype=np.intp)
    first[which[::-1]] = np.arange(len(keys))[::-1]
    return cells[first], which


def _is_truth(cell: Any) -> bool:
    return isinstance(cell, bool | np.bool_)


def _dtype_name(series: Any) -> str:
    """The name of a series' type; empty without one."""
    dtype = getattr(series, "dtype", None)
    return str(getattr(dtype, "name", dtype)).split("(")[0]


def as_frame_of(X: Any, cells: npt.NDArray[Any]) -> Any:
    """Cells as a data frame of the kind of `X`; as they are if `X` is not one."""
    if not is_frame(X):
        return cells
    frame = type(X)(dict(zip(X.columns, cells.T.tolist(), strict=True)))
    if hasattr(X, "index"):
        frame.index = X.index
    return frame
