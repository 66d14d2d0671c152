"""Checked tables, dense or sparse, with weights of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import core
from dpmlite.estimators.inputs.sample_weights import check_sample_weight

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from dpmlite.estimators.inputs.columns import Columns

    Floats = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.intp]

# Names of the arrays of scipy.sparse's compressed sparse rows.
NONZEROS = ("data", "indices", "indptr")

# Rows of less than this part of the mean weight tell nothing that others do not.
NEGLIGIBLE = 0.01

# Rows of more than this times the mean weight would leave hardly any evidence to the others.
HEAVIEST = 5.0


@dataclass(frozen=True, eq=False, repr=False)
class Data:
    """Checked rows of a table.

    Attributes
    ----------
    shape : tuple of int
        (N, D).
    values : ndarray, shape (N, D), or None
        Cells of a dense table; NaN is a missing value.
    nonzeros : tuple of ndarray, or None
        Cells of a sparse table, their columns and the starts of rows: the arrays ``data``,
        ``indices`` and ``indptr`` of compressed sparse rows.
    weights : ndarray, shape (N,), or None
        Number of equal rows that each row stands for; None is 1 for all.
    columns : Columns or None
        What the columns of a coded table are; None if all are of one family.
    names : sequence or None
        What messages call the columns, if not by their numbers.
    log_drawn : ndarray, shape (N,), or None
        Log of the density, on the scale of the user's cells, with which the cells that were missing
        in a row were drawn; None if none was drawn.
    """

    shape: tuple[int, int]
    values: Floats | None = None
    nonzeros: tuple[Floats, Indices, Indices] | None = None
    weights: Floats | None = None
    columns: Columns | None = None
    names: Sequence[Any] | None = None
    log_drawn: Floats | None = None

    def rows(self) -> core.Rows:
        """The rows for the kernels."""
        if self.values is not None:
            return core.Rows(self.values, self.weights)
        assert self.nonzeros is not None
        return core.Rows.sparse(*self.nonzeros, self.shape[1], self.weights)

    def to_dict(self) -> dict[str, Any]:
        """Copies of all arrays, for files."""
        weights = None if self.weights is None else self.weights.copy()
        if self.values is not None:
            cells: dict[str, Any] = {"values": self.values.copy()}
        else:
            assert self.nonzeros is not None
            cells = {k: part.copy() for k, part in zip(NONZEROS, self.nonzeros, strict=True)}
        return {"shape": np.array(self.shape), "weights": weights, **cells}

    @classmethod
    def without_rows(cls, n_columns: int) -> Data:
        """A dense table of 0 rows."""
        return cls((0, n_columns), values=np.empty((0, n_columns)))

    @classmethod
    def from_dict(cls, parts: Mapping[str, Any]) -> Data:
        """The table of which `to_dict` returned `parts`."""
        n_rows, n_columns = parts["shape"]
        nonzeros = tuple(parts[name] for name in NONZEROS) if "indptr" in parts else None
        return cls((int(n_rows), int(n_columns)), parts.get("values"), nonzeros, parts["weights"])

    @property
    def n_features(self) -> int:
        """Number of columns of the user's table: several one-hot columns are coded as one."""
        return self.shape[1] if self.columns is None else len(self.columns.levels)

    @property
    def total_weight(self) -> float:
        """Sum of the weights; N without weights."""
        return float(self.shape[0] if self.weights is None else self.weights.sum())

    def row_weights(self) -> Floats:
        """The weight of each row, shape (N,)."""
        return np.ones(self.shape[0]) if self.weights is None else self.weights

    def weighted(self, sample_weight: Any) -> Data:
        """The table with weights, which are checked; None changes nothing.

        Raises
        ------
        ValueError
            If the weights are not N finite, non-negative numbers, or are all 0.
        """
        if sample_weight is None:
            return self
        return replace(self, weights=check_sample_weight(sample_weight, self.shape[0]))

    def require_weight(self) -> None:
        """Raise ValueError if the weight of a row is 0."""
        if not self.has_weight().all():
            i = int(np.argmin(self.has_weight()))
            raise ValueError(f"sample_weight must be positive, got 0.0 in row {i}")

    def has_weight(self) -> npt.NDArray[np.bool_]:
        """Mask of the rows of positive weight, shape (N,)."""
        if self.weights is None:
            return np.ones(self.shape[0], dtype=bool)
        return np.asarray(self.weights > 0.0)

    def has_missing(self) -> bool:
        """Whether a cell is missing."""
        cells = self.nonzeros[0] if self.values is None else self.values  # type: ignore[index]
        return bool(np.isnan(np.min(cells, initial=0.0)))

    def missing(self) -> npt.NDArray[np.bool_]:
        """Mask of the missing cells, shape (N, D); 0 of a zero-inflated column is not missing."""
        if not self.has_missing():
            return np.zeros(self.shape, dtype=bool)
        missing = np.isnan(self.dense())
        if self.columns is not None:
            for number, zero in self.columns.zeros.items():
                missing[:, number] = missing[:, zero]
        return missing

    def with_bounded_weights(self) -> Data:
        """The table with weights of at most `HEAVIEST` times the mean of what they become."""
        if self.weights is None:
            return self
        positive, bound = self.weights[self.weights > 0.0], np.inf
        while (lower := HEAVIEST * np.minimum(positive, bound).mean()) < 0.999 * bound:
            bound = lower
        return replace(self, weights=np.minimum(self.weights, bound))

    def without_negligible_weights(self) -> Data:
        """The table with weights of 0 for rows of less than `NEGLIGIBLE` of the mean weight."""
        if self.weights is None:
            return self
        least = NEGLIGIBLE * self.total_weight / self.has_weight().sum()
        return replace(self, weights=np.where(self.weights < least, 0.0, self.weights))

    def unweighted(self) -> Data:
        """The table without weights."""
        return replace(self, weights=None)

    def take(self, chosen: npt.NDArray[np.bool_]) -> Data:
        """The rows where the mask `chosen` is true."""
        if chosen.all():
            return self
        weights = None if self.weights is None else self.weights[chosen]
        shape = (int(chosen.sum()), self.shape[1])
        if self.values is not None:
            log_drawn = None if self.log_drawn is None else self.log_drawn[chosen]
            values = self.values[chosen]
            return replace(self, shape=shape, values=values, weights=weights, log_drawn=log_drawn)
        assert self.nonzeros is not None
        cells, columns, starts = self.nonzeros
        sizes = np.diff(starts)
        kept = np.repeat(chosen, sizes)
        starts = np.concatenate([[0], np.cumsum(sizes[chosen])]).astype(np.intp)
        return Data(shape, nonzeros=(cells[kept], columns[kept], starts), weights=weights)

    def part(self, columns: slice | npt.NDArray[np.bool_]) -> Data:
        """Some columns of a dense table."""
        assert self.values is not None
        return replace(self.with_values(self.values[:, columns]), columns=None, names=None)

    def numbers(self) -> Data:
        """The columns of real numbers of a dense table; the table itself if it has no others."""
        if self.columns is None or self.columns.is_real.all():
            return self
        return self.part(self.columns.is_real)

    def with_values(self, values: Floats) -> Data:
        """The table with other values of its rows."""
        shape = (values.shape[0], values.shape[1])
        return replace(self, shape=shape, values=np.ascontiguousarray(values))

    def followed_by(self, other: Data) -> Data:
        """The table with the rows of another below it; both are dense, or both sparse."""
        weights = None
        if self.weights is not None or other.weights is not None:
            weights = np.concatenate([self.row_weights(), other.row_weights()])
        shape = (self.shape[0] + other.shape[0], self.shape[1])
        if self.values is not None and other.values is not None:
            values = np.vstack([self.values, other.values])
            return replace(other, shape=shape, values=values, weights=weights)
        assert self.nonzeros is not None
        assert other.nonzeros is not None
        cells, columns, starts = zip(self.nonzeros, other.nonzeros, strict=True)
        ends = np.concatenate([starts[0], starts[0][-1] + starts[1][1:]])
        return Data(
            shape,
            nonzeros=(np.concatenate(cells), np.concatenate(columns), ends),
            weights=weights,
        )

    def dense(self) -> Floats:
        """All cells, shape (N, D)."""
        if self.values is not None:
            return self.values
        assert self.nonzeros is not None
        cells, columns, starts = self.nonzeros
        values = np.zeros(self.shape)
        values[np.repeat(np.arange(self.shape[0]), np.diff(starts)), columns] = cells
        return values

    def log_volumes(self) -> Floats:
        """What the log density of each coded and completed row is above that of the row, (N,)."""
        found = np.zeros(self.shape[0]) if self.log_drawn is None else self.log_drawn
        if self.columns is None:
            return found
        assert self.values is not None
        return found + self.columns.log_volumes(self.values)

    def total_log_volume(self) -> float:
        """Weighted sum of `log_volumes`."""
        if self.columns is None and self.log_drawn is None:
            return 0.0
        weights = self.row_weights()
        return float(weights @ self.log_volumes())

    def column_sums(self) -> Floats:
        """Weighted sum of each column without missing cells, shape (D,)."""
        weights = self.row_weights()
        if self.values is not None:
            return np.asarray(weights @ np.nan_to_num(self.values), dtype=np.float64)
        assert self.nonzeros is not None
        cells, columns, starts = self.nonzeros
        terms = np.nan_to_num(cells) * np.repeat(weights, np.diff(starts))
        return np.bincount(columns, terms, minlength=self.shape[1]).astype(np.float64)

    def column_weights(self) -> Floats:
        """Total weight of the rows that have a value in each column, shape (D,)."""
        weights = self.row_weights()
        if self.values is not None:
            return np.asarray(weights @ ~np.isnan(self.values), dtype=np.float64)
        assert self.nonzeros is not None
        cells, columns, starts = self.nonzeros
        missing = np.isnan(cells) * np.repeat(weights, np.diff(starts))
        absent = np.bincount(columns, missing, minlength=self.shape[1])
        return np.asarray(weights.sum() - absent, dtype=np.float64)
