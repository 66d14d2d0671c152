"""What families of real numbers share whose prior the joint can choose."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite.estimators.empirical_bayes.cluster_sums import ClusterSums
from dpmlite.estimators.empirical_bayes.column_scales import ColumnScales
from dpmlite.estimators.empirical_bayes.spread_ties import spread_ties
from dpmlite.estimators.inputs.number_tables import read_real
from dpmlite.estimators.priors.base import Family

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices


# The most rows that the mean of the first prior is worth.
MAX_WORTH_OF_MEAN = 0.05


class RealFamily(Family):
    """A family of normal clusters."""

    can_fit_prior = True
    has_covariance = True
    knows_power = True

    def read_table(self, X: Any, allow_missing: bool) -> Data:
        return read_real(X, allow_missing if self.takes_missing else None)

    def prepared(self, table: Data) -> Data:
        """The table with equal values spread, for a normal could be infinitely dense at them."""
        assert table.values is not None
        return replace(table, values=spread_ties(table.values))

    def column_scales(self, sample: Data, table: Data) -> ColumnScales:
        return ColumnScales.of(sample).reaching(table)

    def sums(self, table: Data, labels: Indices, power: float) -> ClusterSums:
        return ClusterSums.of(table, labels, power)

    @abstractmethod
    def first_prior(self, scales: ColumnScales, weight: float, width: float) -> Prior:
        """That of `prior="paper"`, with widths that outliers do not move, at few rows looser."""


def worth_of_mean(weight: float) -> float:
    """The rows that the mean of the first prior is worth: 10 / N, as in the paper, at most 0.05.

    Of six rows it would be worth nearly two, and draw two groups together.
    """
    return min(10.0 / weight, MAX_WORTH_OF_MEAN)


def normal_log_density(X: Floats, mean: Floats, deviation: Floats) -> Floats:
    """Log densities of the cells of N rows under K normals a column, shape (N, K, D)."""
    z = (X[:, None] - mean) / deviation
    density = -0.5 * z**2 - np.log(deviation) - 0.5 * np.log(2.0 * np.pi)
    return np.where(np.isnan(X)[:, None], 0.0, density)


def mean_of_rows(m: Any, c: Any, m0: Floats, n: float | Floats) -> Floats:
    """The mean of n rows that moved a mean m0 to m, which is worth c rows; NaN for n = 0."""
    known = np.where(np.asarray(n) > 0.0, n, np.nan)
    return np.asarray(m0 + np.asarray(c) / known * (np.asarray(m) - m0))
