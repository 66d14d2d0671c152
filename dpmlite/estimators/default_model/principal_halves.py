"""The two halves of a table along its first principal axis: a start among very many columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Floats, Indices

# Power iterations: the axis need not be exact, for a search goes on from the halves.
N_ITERATIONS = 20


def principal_halves(X: Floats, variances: Floats) -> Indices:
    """Labels 0 and 1 of the rows on either side of the mean along the first principal axis.

    Parameters
    ----------
    X : ndarray, shape (N, D)
        Rows; a missing value, NaN, counts as the mean of its column.
    variances : ndarray, shape (D,)
        What columns are divided by, as squares: the halves depend on no unit.

    Returns
    -------
    ndarray of int, shape (N,)
    """
    centred = np.nan_to_num((X - np.nanmean(X, axis=0)) / np.sqrt(variances))
    scores = np.random.default_rng(0).standard_normal(len(X))
    for _ in range(N_ITERATIONS):
        scores = centred @ (scores @ centred)
        scores /= np.linalg.norm(scores) or 1.0
    return (scores > 0.0).astype(np.intp)
