"""Numbering of clusters: 0, 1, ... from the largest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Labels = npt.NDArray[np.intp]

# Rows that are handled at a time, to save memory.
BLOCK_ROWS = 2**16


def largest_first(
    labels: Labels,
    weights: npt.NDArray[np.float64] | None = None,
    out: Labels | None = None,
    counts: Labels | None = None,
) -> Labels:
    """Labels renumbered by decreasing size of the clusters; ties go to the first to appear.

    Parameters
    ----------
    labels : ndarray of int, shape (N,)
        Labels, 0 or more.
    weights : ndarray, shape (N,), optional
        Weights of the rows. Default: 1.
    out : ndarray of int, shape (N,), optional
        Where to write the new labels; `labels` itself will do. Default: a new array.
    counts : ndarray of int, optional
        ``np.bincount(labels)``, if it is known.

    Returns
    -------
    ndarray of int, shape (N,)
        `out`.
    """
    n_rows = len(labels)
    counts = np.bincount(labels) if counts is None else counts
    used = np.flatnonzero(counts)
    sizes = counts if weights is None else np.bincount(labels, weights, len(counts))
    first = first_rows(labels, counts)
    rank = np.zeros(len(counts), dtype=np.intp)
    rank[used[np.lexsort((first[used], -sizes[used]))]] = np.arange(len(used))
    numbers = np.empty(n_rows, dtype=np.intp) if out is None else out
    for start in range(0, n_rows, BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        rank.take(labels[block], out=numbers[block], mode="clip")  # the default mode would copy
    return numbers


def first_rows(labels: Labels, counts: Labels) -> Labels:
    """The first row of each label; N for a label that has none, of which `counts` tells."""
    n_rows = len(labels)
    first = np.full(len(counts), n_rows)
    for start in range(0, n_rows, BLOCK_ROWS):
        block = labels[start : start + BLOCK_ROWS][::-1]
        here = np.full(len(counts), n_rows)
        here[block] = np.arange(start, start + len(block))[::-1]  # the last to be written stays
        np.minimum(first, here, out=first)
        if ((first < n_rows) | (counts == 0)).all():
            break
    return first
