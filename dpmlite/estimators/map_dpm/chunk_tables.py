"""Tables of chunks, read alike: by the family, and on the grids, that a sample has shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpmlite.estimators.default_model.model import times
from dpmlite.estimators.empirical_bayes.spread_ties import spread_on_grid
from dpmlite.estimators.inputs.data import Data
from dpmlite.estimators.inputs.sample_weights import check_sample_weight
from dpmlite.estimators.priors.lacking import check_complete
from dpmlite.estimators.priors.moments import Moments

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Floats
    from dpmlite.estimators.priors.base import Family


# Rows of a large array that are read at once.
CHUNK_ROWS = 100_000


def as_chunks(chunks: Any) -> list[Any]:
    """A user's chunks; those of a two-dimensional array are views of `CHUNK_ROWS` rows."""
    if hasattr(chunks, "shape") and len(chunks.shape) == 2:
        return [chunks[i : i + CHUNK_ROWS] for i in range(0, chunks.shape[0], CHUNK_ROWS)]
    found = list(chunks)
    if not found:
        raise ValueError("chunks must be at least one, got none")
    return found


@dataclass(frozen=True, eq=False, repr=False)
class WeightedChunk:
    """A chunk whose rows have weights.

    Attributes
    ----------
    rows : table, or callable
        As a chunk without weights.
    weights : array-like, shape (N,)
    """

    rows: Any
    weights: Any

    def __len__(self) -> int:
        return length_of(self.rows)


def weighted_chunks(chunks: Any, sample_weight: Any) -> list[Any]:
    """A user's chunks with the weights of their rows; None is no weights.

    Raises
    ------
    ValueError
        If there are not as many arrays of weights as chunks, or not as many weights as rows.
    """
    found = as_chunks(chunks)
    if sample_weight is None:
        return found
    if hasattr(chunks, "shape") and len(chunks.shape) == 2:
        weights = check_sample_weight(sample_weight, chunks.shape[0])
        parts = [weights[i : i + CHUNK_ROWS] for i in range(0, len(weights), CHUNK_ROWS)]
    else:
        parts = list(sample_weight)
    if len(parts) != len(found):
        raise ValueError(
            f"sample_weight must have an array for each of {len(found)} chunks, got {len(parts)}"
        )
    return [WeightedChunk(rows, part) for rows, part in zip(found, parts, strict=True)]


def load_chunk(chunk: Any) -> Any:
    """The table of a chunk that may be a function that returns it."""
    if isinstance(chunk, WeightedChunk):
        return WeightedChunk(load_chunk(chunk.rows), chunk.weights)
    return chunk() if callable(chunk) else chunk


@dataclass(frozen=True, eq=False, repr=False)
class ChunkReader:
    """What makes a checked table of a chunk.

    Attributes
    ----------
    family : Family
    allow_missing : bool
    n_columns : int
        Columns that every chunk must have.
    grids : dict
        The distinct values of each column, by place, whose equal values are spread over their
        cells: see `spread_ties`.
    unit : float
        Weights are in units of it.
    """

    family: Family
    allow_missing: bool
    n_columns: int
    grids: dict[int, Floats]
    unit: float = 1.0

    def __call__(self, chunk: Any) -> Data:
        return times(read_weighted(self._table, chunk), 1.0 / self.unit)

    def _table(self, chunk: Any) -> Data:
        """The checked table of a chunk, with equal values spread on the grids."""
        table = self.family.read(chunk, self.allow_missing)
        check_complete(self.family, table)
        if table.n_features != self.n_columns:
            raise ValueError(
                f"X has {table.n_features} features, but {self.n_columns} features are expected"
            )
        if not self.grids:
            return table
        assert table.values is not None
        values = table.values.astype(np.float64)
        for d, grid in self.grids.items():
            known = ~np.isnan(values[:, d])
            values[known, d] = spread_on_grid(values[known, d], grid)
        return table.with_values(values)


def read_weighted(read: Callable[[Any], Data], chunk: Any) -> Data:
    """The table that a function reads from a chunk, with weights that `Size.of` has checked."""
    if not isinstance(chunk, WeightedChunk):
        return read(chunk)
    return read(chunk.rows).weighted(chunk.weights)


def grids_between(before: Data, after: Data) -> dict[int, Floats]:
    """The distinct values of the columns whose equal values were spread in `after`."""
    if before.values is None or after.values is None:
        return {}
    same = (before.values == after.values) | np.isnan(before.values)
    spread = np.flatnonzero(~same.all(axis=0)).tolist()
    values = {d: before.values[:, d] for d in spread}
    return {d: np.unique(column[~np.isnan(column)]) for d, column in values.items()}


def length_of(rows: Any) -> int:
    """Number of rows of a table as it was given."""
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


class Size(NamedTuple):
    """Number of rows of a chunk, and what their weights sum up to, and range over."""

    n_rows: int
    weight: float
    least_weight: float
    most_weight: float

    @classmethod
    def of(cls, chunk: Any, number: int) -> Size:
        """The size of a chunk.

        Raises
        ------
        ValueError, TypeError
            If it has no rows, or weights break a rule.
        """
        n_rows = length_of(chunk)
        if not n_rows:
            raise ValueError(f"chunk {number}: X must have at least one row, got 0")
        if not isinstance(chunk, WeightedChunk):
            return cls(n_rows, float(n_rows), 1.0, 1.0)
        try:
            weights = Data((n_rows, 0)).weighted(chunk.weights)
            weights.require_weight()
        except (ValueError, TypeError) as error:
            raise type(error)(f"chunk {number}: {error}") from error
        assert weights.weights is not None
        return cls(n_rows, weights.total_weight, weights.weights.min(), weights.weights.max())


def rows_of(chunk: Any, at: Any) -> Any:
    """Some rows of a chunk as it was given: a data frame or array of the same kind."""
    if isinstance(chunk, WeightedChunk):
        return WeightedChunk(rows_of(chunk.rows, at), np.asarray(chunk.weights)[at])
    if hasattr(chunk, "iloc"):
        return chunk.iloc[at]
    if hasattr(chunk, "tocsr"):
        return chunk.tocsr()[at]
    return chunk[at] if hasattr(chunk, "columns") else np.asarray(chunk)[at]


def joined_rows(parts: list[Any]) -> Any:
    """The rows of several tables of one kind, one below the other."""
    if isinstance(parts[0], WeightedChunk):
        weights = np.concatenate([part.weights for part in parts])
        return WeightedChunk(joined_rows([part.rows for part in parts]), weights)
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts)
    if hasattr(parts[0], "vstack"):  # polars
        return reduce(lambda above, below: above.vstack(below), parts)
    if hasattr(parts[0], "tocsr"):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
    return np.concatenate(parts)


def describe(table: Data, labels: None, _: None) -> tuple[None, tuple[Moments, float]]:
    """A step: moments of a chunk, and the sum of `Data.log_volumes`."""
    return None, (Moments.of(table), table.total_log_volume())


def check_reach(
    table: Data, labels: None, message: tuple[Family, Prior, Moments]
) -> tuple[None, str | None]:
    """A step: the error if a row lies too far from a given prior, or None."""
    family, prior, moments = message
    try:
        family.check_reach(table, prior, moments)
    except ValueError as error:
        return None, str(error)
    return None, None
