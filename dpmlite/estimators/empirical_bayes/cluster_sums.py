"""Counts, means and scatters of the rows of each cluster, from which hyperparameters are fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.data import Data, Floats, Indices


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """Rows in the order of their clusters.

    Attributes
    ----------
    labels : ndarray of int, shape (N,)
        The cluster of each row, 0..K-1.
    order : ndarray of int, shape (N,)
        The rows of cluster 0, then those of cluster 1, and so on.
    starts : ndarray of int, shape (K,)
        Where each cluster begins in `order`.
    """

    labels: Indices
    order: Indices
    starts: Indices

    @classmethod
    def of(cls, labels: Indices) -> Groups:
        """The groups of any labels, in the order of these."""
        found, labels = np.unique(labels, return_inverse=True)
        order = np.argsort(labels, kind="stable")
        return cls(labels, order, np.searchsorted(labels[order], np.arange(len(found))))

    def sums(self, values: Floats) -> Floats:
        """Sum of the rows of values of each cluster, shape (K, D)."""
        return np.asarray(np.add.reduceat(values[self.order], self.starts, axis=0))

    def split(self, values: Floats) -> list[Floats]:
        """The rows of values of each cluster."""
        return np.split(values[self.order], self.starts[1:])


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
    groups : Groups
        The rows of each cluster.
    """

    counts: Floats
    means: Floats
    residuals: Floats
    groups: Groups

    @classmethod
    def of(cls, table: Data, labels: Indices, power: float) -> ClusterSums:
        """Sums of a dense table; the weight of each row is multiplied by `power`."""
        assert table.values is not None
        weights = np.full(table.shape[0], power)
        if table.weights is not None:
            weights *= table.weights
        groups = Groups.of(labels)
        missing = np.isnan(table.values)
        values = np.where(missing, 0.0, table.values)
        cell_weights = np.where(missing, 0.0, weights[:, None])
        counts = groups.sums(cell_weights)
        known = np.maximum(counts, np.finfo(float).tiny)
        origin = groups.sums(cell_weights * values).sum(axis=0) / known.sum(axis=0)
        means = origin + groups.sums(cell_weights * (values - origin)) / known
        residuals = np.sqrt(cell_weights) * (values - means[groups.labels])
        return cls(counts, means, residuals, groups)

    def scatters(self) -> Floats:
        """Sum of the squared residuals of each cluster and column, shape (K, D)."""
        return self.groups.sums(self.residuals**2)

    def scatter_matrices(self) -> Floats:
        """Scatter matrix of each cluster, shape (K, D, D)."""
        return np.array([rows.T @ rows for rows in self.groups.split(self.residuals)])
