"""Users' arrays and dense tables as arrays of numbers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.inputs.user_tables import DATES_ADVICE, check_is_table, filled, names_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

#: What to do with missing cells, after a colon.
MISSING_ADVICE = "allow_missing=True leaves missing cells out"


def check_rows(
    X: Any, allow_missing: bool | None = None, strided: bool = False
) -> npt.NDArray[Any]:
    """A dense table of finite numbers as a C-contiguous float64 array, copied only if necessary.

    With `strided`, arrays of float64 and float32 are not copied, whatever their memory order.
    Masked cells are NaN. `allow_missing` is None where missing cells cannot be allowed.

    Raises
    ------
    ValueError
        If `X` is not 2-D, has no row or column, is complex, or holds infinity; or NaN, unless
        `allow_missing`.
    TypeError
        If `X` is sparse or no table, or holds dates or something else that is not a number.
    """
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise TypeError("X must be dense, got a sparse matrix: pass X.toarray()")
    rows = check_table(X, strided)
    _check_finite(rows, allow_missing, X)
    return rows


def is_masked(values: Any) -> bool:
    """Whether an array has masked values."""
    # Without an import of numpy.ma, which takes as long as a small fit.
    return "numpy.ma" in sys.modules and bool(np.ma.is_masked(values))


def check_table(X: Any, strided: bool = False) -> npt.NDArray[Any]:
    """A dense table as `check_rows` returns it; numbers may be infinite or NaN."""
    check_is_table(X)
    array = filled(X) if is_masked(X) else as_array("X", X)
    if array.dtype.kind in "mM":
        raise TypeError(f"X must be numbers, got dtype {array.dtype}: {DATES_ADVICE}")
    if np.iscomplexobj(array):
        raise ValueError(f"Complex data not supported: X must be real, got dtype {array.dtype}")
    if array.ndim != 2:
        advice = (
            ". Reshape your data: X.reshape(-1, 1) makes one column, X.reshape(1, -1) one row"
            if array.ndim == 1
            else ""
        )
        raise ValueError(f"X must be 2-D, got shape {array.shape}{advice}")
    if array.shape[0] == 0:
        raise ValueError(f"X must have at least one row, got shape {array.shape}")
    if array.shape[1] == 0:
        raise ValueError(
            f"X must have at least one column: 0 feature(s) (shape={array.shape}) "
            "while a minimum of 1 is required."
        )
    in_place = array.dtype in (np.float32, np.float64) and array.dtype.isnative
    if strided and in_place and array.flags.aligned:
        return array
    return as_floats("X", array, names=names_of(X))


def as_floats(
    name: str,
    values: Any,
    axes: tuple[str, ...] = ("row", "column"),
    names: Sequence[Any] | None = None,
) -> npt.NDArray[np.float64]:
    """An array of numbers of any type as a C-contiguous and aligned float64 array.

    Numbers may be text. Blank text, "NA" and the like are NaN, as pandas' NA is. `names` are those
    of the columns.

    Raises
    ------
    ValueError, TypeError
        If a cell is complex or not a number; the message names its place along `axes`.
    """
    array = as_array(name, values)
    if np.iscomplexobj(array):
        raise ValueError(f"{name} must be real, got dtype {array.dtype}")
    try:
        with np.errstate(over="ignore"):  # long doubles become infinity, which is refused later
            return aligned(array, np.float64)
    except (TypeError, ValueError, OverflowError):
        missing = is_na(array)
        if missing.any():
            filled = np.where(missing, np.nan, array.astype(object))
            return as_floats(name, filled, axes, names)
        for index, cell in np.ndenumerate(array):
            _check_number(name, cell, _place(axes, index, names))
        raise


def aligned(array: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    """The array itself or a copy, which is C-contiguous and aligned, as kernels need it."""
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def as_array(name: str, values: Any) -> npt.NDArray[Any]:
    """Any values as an array; ValueError if their rows differ in length."""
    try:
        return np.asarray(values)
    except ValueError as error:  # ragged
        raise ValueError(f"{name} must have rows of the same length: {error}") from None


@np.vectorize(otypes=[bool])
def is_na(cell: Any) -> bool:
    """Whether a cell is missing, but no number: pandas' NA, or text that stands for it."""
    if isinstance(cell, str):
        from dpmlite.tables.missing import is_missing  # most tables need it not

        return is_missing(cell.strip())
    return type(cell).__name__ == "NAType"


def numbers_of_texts(cells: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Numbers that are written as text, NaN for blank text and the like; None for other cells."""
    if not any(isinstance(cell, str) for cell in cells.tolist()):
        return None
    try:
        return as_floats("cells", cells, ("row",))
    except (TypeError, ValueError):
        return None


def _place(axes: tuple[str, ...], index: tuple[int, ...], names: Sequence[Any] | None) -> str:
    """Where a cell is: its number along each axis, or the name of its column."""
    numbers: list[Any] = list(index)
    if names is not None and len(index) > 1:
        numbers[1] = names[index[1]]
    return ", ".join(f"{axis} {i!r}" for axis, i in zip(axes, numbers, strict=False))


def _check_number(name: str, cell: Any, where: str) -> None:
    value = cell.item() if isinstance(cell, np.generic) else cell
    try:
        float(value)
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        place = f" in {where}" if where else ""
        advice = _advice_on(value) if name == "X" else ""
        raise kind(f"{name} must be numbers, got {shown(value)}{place}: {error}{advice}") from None


def _advice_on(value: Any) -> str:
    """What to do with a column that has a cell of text or a date."""
    if hasattr(value, "isoformat"):
        return f"; {DATES_ADVICE}"
    if not isinstance(value, str):
        return ""
    return (
        "; drop the column, encode it as numbers, or give a data frame to component='auto', "
        "which takes text for categories"
    )


def _check_finite(rows: npt.NDArray[np.float64], allow_missing: bool | None, X: Any) -> None:
    # A sum is finite only if its terms are, so that good data needs no N x D mask.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(rows.sum(dtype=np.float64)):
            return
    bad = np.argwhere(np.isinf(rows) if allow_missing else ~np.isfinite(rows))
    if len(bad):
        i, j = bad[0].tolist()
        advice = "" if allow_missing is None else MISSING_ADVICE
        raise_where("X must be finite", rows[i, j], i, j, X, advice)


def raise_where(
    rule: str, value: float, i: int, j: int, X: Any = None, if_missing: str = ""
) -> NoReturn:
    """Raise ValueError for the cell of row `i` and column `j` of a user's table `X`.

    `if_missing` is the advice for a missing cell.
    """
    is_missing = bool(np.isnan(value))
    shown = "NaN" if is_missing else str(value)
    advice = f": {if_missing}" if is_missing and if_missing else ""
    place = _place(("row", "column"), (i, j), names_of(X))
    raise ValueError(f"{rule}, got {shown} in {place}{advice}")
