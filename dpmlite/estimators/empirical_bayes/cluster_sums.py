"""Counts, means and scatters of the rows of each cluster, from which hyperparameters are fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Data, Floats, Indices


@dataclass(frozen=True, eq=False, repr=False)
class ClusterSums:
    """Weighted counts, means and residuals of the cells of each cluster.

    Attributes
    ----------
    counts : ndarray, shape (K, D)
        Weight of the cells of each cluster and column that are not missing.
    means : ndarray, shape (K, D)
    residuals : ndarray, shape (N, D)
        Each cell less its cluster's mean, times the root of its weight; 0 if it is missing.
    labels : ndarray of int, shape (N,)
        The cluster of each row, 0..K-1.
    """

    counts: Floats
    means: Floats
    residuals: Floats
    labels: Indices

    @classmethod
    def of(cls, table: Data, labels: Indices, power: float) -> ClusterSums:
        """Sums of a dense table; the weight of each row is multiplied by `power`."""
        assert table.values is not None
        weights = np.full(table.shape[0], power)
        if table.weights is not None:
            weights *= table.weights
        _, labels = np.unique(labels, return_inverse=True)
        missing = np.isnan(table.values)
        values = np.where(missing, 0.0, table.values)
        cell_weights = np.where(missing, 0.0, weights[:, None])
        counts = summed(cell_weights, labels)
        known = np.maximum(counts, np.finfo(float).tiny)
        origin = summed(cell_weights * values, labels).sum(axis=0) / known.sum(axis=0)
        means = origin + summed(cell_weights * (values - origin), labels) / known
        residuals = np.sqrt(cell_weights) * (values - means[labels])
        return cls(counts, means, residuals, labels)

    def scatters(self) -> Floats:
        """Sum of the squared residuals of each cluster and column, shape (K, D)."""
        return summed(self.residuals**2, self.labels)

    def scatter_matrices(self) -> Floats:
        """Scatter matrix of each cluster, shape (K, D, D)."""
        order = np.argsort(self.labels, kind="stable")
        ends = np.cumsum(np.bincount(self.labels))[:-1]
        return np.array([rows.T @ rows for rows in np.split(self.residuals[order], ends)])


def summed(values: Floats, labels: Indices) -> Floats:
    """Sums of the rows of each label 0..K-1, shape (K, D)."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(labels.max() + 1))
    return np.asarray(np.add.reduceat(values[order], starts, axis=0))
