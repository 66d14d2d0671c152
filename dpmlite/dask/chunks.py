"""Chunks of Dask's collections, and results of their chunks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import dask
import dask.array as da
import numpy as np

if TYPE_CHECKING:
    from dask.array import Array
    from dask.delayed import Delayed
    from numpy import dtype

    from dpmlite.estimators.mapdpm import MAPDPM


def is_frame(X: Any) -> bool:
    """Whether a table is a Dask data frame."""
    return dask.is_dask_collection(X) and hasattr(X, "partitions") and hasattr(X, "columns")


def chunks_of(X: Any) -> list[Delayed]:
    """The chunks of a Dask array or data frame, each of whole rows.

    Raises
    ------
    TypeError
        If it is neither.
    ValueError
        If an array is not two-dimensional.
    """
    if is_frame(X):
        return list(X.to_delayed())
    if not isinstance(X, da.Array):
        raise TypeError(f"X must be a Dask array or data frame, got {type(X).__name__}")
    if X.ndim != 2:
        raise ValueError(f"X must be 2-D, got {X.ndim} dimension(s)")
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return list(X.to_delayed().ravel())


def chunks_of_weights(sample_weight: Any, n_chunks: int) -> list[Delayed]:
    """The chunks of weights of rows, which lie in this number of chunks.

    Raises
    ------
    TypeError
        If the weights are not of Dask.
    ValueError
        If they are not one-dimensional, or their chunks are more or fewer.
    """
    if not dask.is_dask_collection(sample_weight) or not hasattr(sample_weight, "to_delayed"):
        kind = type(sample_weight).__name__
        raise TypeError(f"sample_weight must be a Dask array or series, got {kind}")
    if sample_weight.ndim != 1:
        raise ValueError(f"sample_weight must be 1-D, got {sample_weight.ndim} dimension(s)")
    chunks = list(np.ravel(sample_weight.to_delayed()))
    if len(chunks) != n_chunks:
        raise ValueError(f"sample_weight must have {n_chunks} chunks, as X has, got {len(chunks)}")
    return chunks


def of_chunks(
    model: MAPDPM, method: str, X: Any, kind: dtype[Any], width: int | None = None
) -> Any:
    """The result of a method of a model for each chunk, one below the other.

    Rows have `width` numbers; None is one number, and no second axis. Nothing is computed yet, but
    for a table that is not of Dask.
    """
    if not dask.is_dask_collection(X):
        return getattr(model, method)(X)
    chunks = chunks_of(X)
    lengths = [math.nan] * len(chunks) if is_frame(X) else X.chunks[0]
    row = () if width is None else (width,)
    shared = dask.delayed(model)
    pieces: list[Array] = [
        da.from_delayed(
            dask.delayed(of_chunk)(shared, method, chunk, np.empty((0, *row), kind)),
            (n, *row),
            kind,
        )
        for chunk, n in zip(chunks, lengths, strict=True)
    ]
    return da.concatenate(pieces, allow_unknown_chunksizes=True)


def of_chunk(model: MAPDPM, method: str, chunk: Any, nothing: Any) -> Any:
    """The result of a method for a chunk; `nothing` if it has no rows."""
    return getattr(model, method)(chunk) if len(chunk) else nothing
