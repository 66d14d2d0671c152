"""What families of real numbers share whose prior the joint can choose."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpmlite.estimators.data import read_real
from dpmlite.estimators.empirical_bayes.cluster_sums import ClusterSums
from dpmlite.estimators.empirical_bayes.column_scales import ColumnScales
from dpmlite.estimators.empirical_bayes.spread_ties import spread_ties
from dpmlite.estimators.priors.base import Family

if TYPE_CHECKING:
    from dpmlite.estimators.data import Data, Indices
    from dpmlite.estimators.priors.base import Prior


class RealFamily(Family):
    """A family of normal clusters."""

    can_fit_prior = True
    has_covariance = True
    knows_power = True

    def read_table(self, X: Any, allow_missing: bool) -> Data:
        return read_real(X, allow_missing)

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
        """That of `prior="paper"`, with widths that outliers do not move."""
