"""Checks of users' arguments; errors are one line with the rule and the value that breaks it."""

from __future__ import annotations

import sys
import warnings
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from dpmlite.estimators.inputs.domain import (
    ALPHA,
    MAX_STARTS,
    MAX_TOTAL_WEIGHT,
    MAX_WEIGHT_RATIO,
    MAX_WHOLE,
    MIN_WEIGHT,
    Range,
)
from dpmlite.estimators.inputs.shown import shown
from dpmlite.estimators.inputs.user_tables import DATES_ADVICE, check_is_table, filled, names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

# Positive numbers without a range of their own: their reciprocals and squares are normal doubles.
POSITIVE = Range(1e-100, 1e100)

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
    array = filled(X) if is_masked(X) else _asarray("X", X)
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
    array = _asarray(name, values)
    if np.iscomplexobj(array):
        raise ValueError(f"{name} must be real, got dtype {array.dtype}")
    try:
        with np.errstate(over="ignore"):  # long doubles become infinity, which is refused later
            return aligned(array, np.float64)
    except (TypeError, ValueError, OverflowError):
        missing = _is_na(array)
        if missing.any():
            filled = np.where(missing, np.nan, array.astype(object))
            return as_floats(name, filled, axes, names)
        for index, cell in np.ndenumerate(array):
            _check_number(name, cell, _place(axes, index, names))
        raise


def aligned(array: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    """The array itself or a copy, which is C-contiguous and aligned, as kernels need it."""
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def _asarray(name: str, values: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:  # ragged
        raise ValueError(f"{name} must have rows of the same length: {error}") from None


@np.vectorize(otypes=[bool])
def _is_na(cell: Any) -> bool:
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
    return "; drop the column, or encode it as numbers" if isinstance(value, str) else ""


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


def warn(message: str, category: type[UserWarning] = UserWarning) -> None:
    """Issue a warning at the innermost caller outside dpmlite."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("dpmlite."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def check_positive(name: str, value: Any, within: Range = POSITIVE) -> float:
    """`value` as float; ValueError unless it is a positive number in a range."""
    number = np.nan if isinstance(value, bool | np.bool_) else _as_float(value)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name} must be positive, got {shown(value)}")
    if not within.least <= number <= within.most:
        raise ValueError(
            f"{name} must be from {within.least:g} to {within.most:g}, got {shown(value)}"
        )
    return number


def _as_float(value: Any) -> float:
    """A number as a float: NaN stands for what is none, the greatest float for a greater int."""
    try:
        return float(value) if isinstance(value, Real) else np.nan
    except OverflowError:
        return float(np.finfo(float).max)


def check_alpha(name: str, value: Any) -> float:
    """A concentration as float; ValueError unless it is a number in its range."""
    return check_positive(name, value, ALPHA)


def check_alphas(values: Any) -> npt.NDArray[np.float64]:
    """Candidates for the concentration, ascending; ValueError unless they are in its range."""
    if np.ndim(values) != 1 or np.size(values) == 0:
        raise ValueError(f"alphas must be a list of numbers, got {shown(values)}")
    return np.unique([check_alpha("alphas", alpha) for alpha in values])


def check_discount(value: Any, alternatives: Iterable[str] = ()) -> float:
    """A discount as float; ValueError unless it is a number of at least 0 and below 1.

    Above 0 it excludes each of the `alternatives`: parameters with their values.
    """
    number = _as_float(value)
    if not 0.0 <= number < 1.0:
        raise ValueError(f"discount must be a number of at least 0 and below 1, got {shown(value)}")
    for other in alternatives if number > 0.0 else ():
        raise ValueError(f"discount must be 0 with {other}, got {number}")
    return number


def check_starts(value: Any) -> int:
    """`n_init` as int; ValueError unless it is a whole number in its range."""
    number = check_count("n_init", value)
    if number > MAX_STARTS:
        raise ValueError(f"n_init must be at most {MAX_STARTS}, got {shown(value)}")
    return number


def check_not_negative(name: str, value: Any) -> float:
    """The value as a float; ValueError unless it is a finite number of at least 0."""
    number = _as_float(value)
    if not 0.0 <= number < np.inf:
        raise ValueError(f"{name} must be a number of at least 0, got {shown(value)}")
    return number


def check_count(name: str, value: Any, least: int = 1) -> int:
    """`value` as int; ValueError unless it is a whole number of at least `least`, and in range."""
    number = _check_whole(name, value, least)
    if number > MAX_WHOLE:
        raise ValueError(f"{name} must be at most {MAX_WHOLE}, got {shown(value)}")
    return number


def _check_whole(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {shown(value)}")
    return int(value)


def check_jobs(value: Any) -> None:
    """Raise ValueError unless `value` is a number of jobs as in joblib, or None."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value == 0:
        raise ValueError(f"n_jobs must be a whole number other than 0, or None, got {shown(value)}")


def check_bool(name: str, value: Any) -> bool:
    """`value` as bool; ValueError unless it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def check_verbose(value: Any) -> None:
    """Raise ValueError unless `value` is True, False or a level, as in scikit-learn."""
    if not isinstance(value, bool | np.bool_ | Integral) or value < 0:
        raise ValueError(f"verbose must be True or False, or a level from 0 up, got {shown(value)}")


def check_choice(name: str, value: Any, choices: tuple[str, ...], others: str = "") -> str:
    """`value`; ValueError unless it is one of `choices`. The message begins with `others`."""
    if not isinstance(value, str) or value not in choices:
        known = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be {others}one of {known}, got {shown(value)}")
    return value


def check_labels(
    labels: Any, n_rows: int | None = None, name: str = "labels"
) -> npt.NDArray[np.intp]:
    """A new array of labels 0, 1, ... in the order of the given values, shape (N,).

    Raises
    ------
    ValueError
        If labels are missing, of mixed kinds, not 1-D, or not `n_rows`.
    """
    if is_masked(labels):
        raise ValueError(f"{name} must have no masked values")
    array = _asarray(name, labels)
    if n_rows is None and array.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got shape {array.shape}")
    if n_rows is not None and array.shape != (n_rows,):
        raise ValueError(f"{name} must have shape ({n_rows},), got {array.shape}")
    if array.dtype.kind in "fc" and not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {array[~np.isfinite(array)][0]}")
    if array.dtype.kind in "OmM":
        _check_none_missing(name, array)
    elif array.dtype.kind == "U" and not isinstance(labels, np.ndarray):
        _check_none_missing(name, labels)  # numpy has converted NaN to text
    try:
        return np.unique(array, return_inverse=True)[1].astype(np.intp)
    except TypeError:
        raise ValueError(f"{name} must be of one kind, got {shown(labels)}") from None


def _check_none_missing(name: str, labels: Any) -> None:
    for i, label in enumerate(labels):
        # NaN and NaT differ from themselves; a comparison of pandas' NA gives NA.
        if label is None or _is_na.pyfunc(label) or label != label:
            raise ValueError(f"{name} must not be missing, got {label} in row {i}")


def check_sample_weight(sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64]:
    """Weights of the rows as float64, shape (N,); ones for None.

    Raises
    ------
    ValueError, TypeError
        If a weight is negative or not finite, all are 0, their sum is above 2**53, or they are of
        unlike orders of magnitude.
    """
    if sample_weight is None:
        return np.ones(n_rows)
    if is_masked(sample_weight):
        raise ValueError("sample_weight must have no masked values")
    array = _asarray("sample_weight", sample_weight)
    if array.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), got {array.shape}")
    weights = as_floats("sample_weight", array)
    _check_each_weight((weights >= 0.0) & (weights < np.inf), "finite and not negative", weights)
    _check_each_weight(
        (weights == 0.0) | (weights >= MIN_WEIGHT), f"0 or at least {MIN_WEIGHT:g}", weights
    )
    if not weights.any():
        raise ValueError("sample_weight must not be zero for every row")
    with np.errstate(over="ignore"):
        check_total_weight(weights.sum())
    check_weight_ratio(weights.min(initial=np.inf, where=weights > 0.0), weights.max())
    return weights


def check_weight_ratio(least: float, most: float) -> None:
    """Raise ValueError if rows weigh so little beside others that they are lost in rounding."""
    if most > MAX_WEIGHT_RATIO * least:
        raise ValueError(
            f"sample_weight must be at most {MAX_WEIGHT_RATIO:g} times the least above 0, "
            f"got {most:g} and {least:g}"
        )


def check_total_weight(total: float, of: str = "") -> None:
    """Raise ValueError if a total weight is above 2**53; `of` says in the message what it is of."""
    if not total <= MAX_TOTAL_WEIGHT:
        raise ValueError(f"sample_weight must sum to 2**53 at most{of}, got {total}")


def _check_each_weight(
    good: npt.NDArray[np.bool_], rule: str, weights: npt.NDArray[np.float64]
) -> None:
    if not good.all():
        i = int(np.argmin(good))
        raise ValueError(f"sample_weight must be {rule}, got {weights[i]} in row {i}")


def check_random_state(random_state: Any) -> np.random.Generator:
    """A Generator from None, a seed, a Generator or a RandomState; ValueError for others."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.Generator(random_state._bit_generator)
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None or isinstance(random_state, np.random.SeedSequence):
        return np.random.default_rng(random_state)
    if not isinstance(random_state, Integral):
        raise ValueError(
            "random_state must be None, a whole number, or a generator of numpy's, "
            f"got {shown(random_state)}"
        )
    return np.random.default_rng(_check_whole("random_state", random_state, least=0))
