"""Users' tables of numbers, dense or sparse, checked and as `Data`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.inputs.arrays import aligned, check_rows, check_table, raise_where
from dpmlite.estimators.inputs.data import NONZEROS, Data
from dpmlite.estimators.inputs.user_tables import names_of

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Floats, Indices


def read_real(X: Any, allow_missing: bool | None) -> Data:
    """A user's dense table of finite numbers, or NaN if missing values are allowed.

    Raises
    ------
    ValueError, TypeError
        As `check_rows`.
    """
    if _is_sparse(X):
        raise TypeError(
            "X must be dense, got a sparse matrix: pass X.toarray(), or take a component that "
            "reads sparse rows, 'dirichlet-multinomial' or 'beta-bernoulli'"
        )
    values = check_rows(X, allow_missing, strided=True)
    return Data((values.shape[0], values.shape[1]), values=values)


def read_counts(X: Any, most: float, allow_missing: bool) -> Data:
    """A user's table of whole numbers from 0 to `most`, dense or in a scipy.sparse format.

    Raises
    ------
    ValueError, TypeError
        If `X` is not 2-D, has no row or column, or a cell breaks the rule.
    """
    if not _is_sparse(X):
        values = check_table(X)
        i, j = np.nonzero(values)
        starts = np.searchsorted(i, np.arange(values.shape[0] + 1)).astype(np.intp)
        cells = values[i, j]
        data = Data((values.shape[0], values.shape[1]), nonzeros=(cells, j.astype(np.intp), starts))
    else:
        data = _read_sparse(X)
    _check_counts(data, most, allow_missing, X)
    return data


def _is_sparse(X: Any) -> bool:
    if names_of(X) is not None:  # a data frame, whose columns may have any name
        return False
    # "data" last: numpy's arrays of dates raise an error when asked for it.
    return all(hasattr(X, name) for name in reversed(NONZEROS)) or hasattr(X, "tocsr")


def _read_sparse(X: Any) -> Data:
    """A user's sparse table in compressed rows, each cell at most once."""
    if len(X.shape) != 2:
        raise ValueError(f"X must be 2-D, got shape {X.shape}")
    if min(X.shape) == 0:
        raise ValueError(f"X must have at least one row and one column, got shape {X.shape}")
    if getattr(X, "format", "csr") != "csr":
        X = X.tocsr()
    if not getattr(X, "has_canonical_format", True):
        X = X.copy()
        X.sum_duplicates()
    if np.iscomplexobj(X.data):
        raise ValueError(f"Complex data not supported: X must be real, got dtype {X.data.dtype}")
    cells = aligned(np.asarray(X.data), np.float64)
    columns, starts = (_as_indices(name, getattr(X, name)) for name in NONZEROS[1:])
    shape = (int(X.shape[0]), int(X.shape[1]))
    check_parts(shape, cells, columns, starts)
    return Data(shape, nonzeros=(cells, columns, starts))


def _as_indices(name: str, part: Any) -> Indices:
    """Columns or starts of a sparse table as ints; ValueError unless they are integers."""
    kind = np.asarray(part).dtype
    if kind.kind not in "iu":
        raise ValueError(f"X.{name} must be whole numbers, got dtype {kind}")
    return aligned(np.asarray(part), np.intp)


def check_parts(shape: tuple[int, int], cells: Floats, columns: Indices, starts: Indices) -> None:
    """Raise ValueError unless the arrays are compressed sparse rows without duplicates."""
    n_rows, n_columns = shape
    sizes = np.diff(starts)
    if starts.shape != (n_rows + 1,) or starts[0] != 0 or (sizes < 0).any():
        raise ValueError(f"X.indptr must have {n_rows + 1} values that rise from 0")
    if not len(cells) == len(columns) == starts[-1]:
        raise ValueError(
            f"X.data and X.indices must have {starts[-1]} values, "
            f"got {len(cells)} and {len(columns)}"
        )
    bad = (columns < 0) | (columns >= n_columns)
    if bad.any():
        raise ValueError(f"X.indices must be in 0..{n_columns - 1}, got {columns[bad][0]}")
    rises = np.diff(columns) > 0
    inside = np.ones(len(rises), dtype=bool)  # whether two successive cells are of one row
    inside[starts[(starts > 0) & (starts < len(columns))] - 1] = False
    if not (rises | ~inside).all():
        cell = np.repeat(np.arange(n_rows), sizes) * n_columns + columns
        if len(np.unique(cell)) < len(cell):
            raise ValueError("X must have each cell once: a column is twice in a row of X.indices")


def _check_counts(data: Data, most: float, allow_missing: bool, X: Any) -> None:
    """Raise ValueError unless all cells are whole numbers from 0 to `most`, or allowed NaN."""
    assert data.nonzeros is not None
    cells, columns, starts = data.nonzeros
    with np.errstate(invalid="ignore"):
        good = (cells >= 0.0) & (cells <= most) & (cells < np.inf) & (cells == np.floor(cells))
    if allow_missing:
        good |= np.isnan(cells)
    if not good.all():
        at = int(np.argmin(good))
        i = int(np.searchsorted(starts, at, side="right")) - 1
        rule = "0 or 1" if most == 1.0 else "whole numbers of at least 0"
        if cells[at] > most > 1.0:
            rule = f"at most {most:.0f}"
        raise_where(f"X must be {rule}", cells[at], i, int(columns[at]), X)
