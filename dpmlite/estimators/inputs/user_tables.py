"""What users give for tables: things that are none, data frames, masked arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

#: What to do with a column of dates, after a colon.
DATES_ADVICE = "leave it out, or make a number of it, such as days since the first"

# Beginnings of the names of types of dates and durations, in pandas, polars and pyarrow.
DATE_TYPES = ("date", "time", "duration", "period")


def check_is_table(X: Any) -> None:
    """Raise TypeError, saying what to pass, for well-known things that are no table of numbers."""
    kind, advice = type(X).__name__, ""
    if X is None:
        raise TypeError("X must be a table, with rows and columns, got None")
    if isinstance(X, str | bytes):
        advice = "dpmlite.read_table reads a table from a file"
    elif isinstance(X, Mapping):
        advice = "pandas.DataFrame(X) makes a table of its columns, dpmlite.Table(X) does, too"
    elif isinstance(X, Iterator):
        advice = "pass list(X)"
    elif isinstance(X, AbstractSet):
        advice = "its rows have no order, pass a list"
    elif kind == "LazyFrame":  # whose attributes warn
        advice = "pass X.collect()"
    elif isinstance(X, np.ndarray) and X.dtype.names:
        kind, advice = "structured array", "pandas.DataFrame(X) makes a table of its fields"
    elif isinstance(X, Sequence) and len(X) and isinstance(X[0], Mapping):
        kind, advice = f"{kind} of dicts", "pandas.DataFrame(X) makes a table of them"
    elif _are_texts(X):
        kind, advice = f"{kind} of texts", "make numbers of each, such as counts of its words"
    if advice:
        raise TypeError(f"X must be a table, with rows and columns, got a {kind}: {advice}")
    for name, dtype in _dtypes(X):
        if str(dtype).lower().startswith(DATE_TYPES):
            raise TypeError(
                f"X must be numbers, got dates or times in column {name!r}: {DATES_ADVICE}"
            )


def _are_texts(X: Any) -> bool:
    """Whether `X` is a sequence of texts, and not of rows."""
    if isinstance(X, list | tuple):
        return bool(X) and all(isinstance(row, str) for row in X)
    return isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind in "US"


def _dtypes(X: Any) -> list[tuple[Any, Any]]:
    """Name and type of each column of a data frame."""
    names = names_of(X)
    dtypes = X.schema.types if hasattr(X, "column_names") else getattr(X, "dtypes", ())
    if names is None or len(names) != len(dtypes):
        return []
    return list(zip(names, dtypes, strict=True))


def names_of(X: Any) -> list[Any] | None:
    """Names of the columns of a table of pandas, polars or pyarrow; None of others."""
    if type(X).__name__ == "LazyFrame":  # it warns when asked for them, and is refused
        return None
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return list(names) if np.iterable(names) else None


def filled(X: np.ma.MaskedArray[Any, Any]) -> npt.NDArray[Any]:
    """A masked array with NaN in its masked cells."""
    kind = np.float64 if X.dtype.kind in "biuf" else object
    masked: Any = X.astype(kind)
    return np.asarray(masked.filled(np.nan))


def column_names(X: Any, axis: str = "columns") -> npt.NDArray[np.object_] | None:
    """Names along an axis of a data frame or series; None if it has none, or not all are text."""
    columns = names_of(X) if axis == "columns" else getattr(X, axis, None)
    if not np.iterable(columns) or not all(isinstance(name, str) for name in columns):
        return None
    return np.asarray(list(columns), dtype=object)
