"""The family "poisson-gamma": columns of counts of events, each with an unknown rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import families
from dpmlite.estimators.empirical_bayes.poisson_gamma import CountSums, fit_poisson_gamma
from dpmlite.estimators.empirical_bayes.special import log_gamma
from dpmlite.estimators.inputs.domain import MAX_COUNT
from dpmlite.estimators.inputs.number_tables import read_real
from dpmlite.estimators.priors.base import Family
from dpmlite.estimators.priors.checks import (
    are_whole,
    check_cells_of,
    check_counts_of,
    counts_per_column,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices
    from dpmlite.estimators.priors.base import Parameters, Rng, Totals
    from dpmlite.estimators.priors.moments import Moments

# The part of an event that columns without any count as mean.
LEAST_EVENTS = 0.5


class PoissonGammaFamily(Family):
    """x ~ Poisson(rate), rate ~ Gamma(a0, b0) in every column.

    Default: a0 = 1, and b0 such that the mean of the prior is that of the column.
    """

    name = "poisson-gamma"
    prior_keys = ("a0", "b0")
    scales = (("a0", "b0"),)
    width = ("a0", "b0")
    takes_missing = True
    can_fit_prior = True
    knows_power = True

    def read_table(self, X: Any, allow_missing: bool) -> Data:
        return read_real(X, allow_missing)

    def default(self, key: str, moments: Moments, prior: Prior) -> Any:
        if key == "a0":
            return 1.0
        least = LEAST_EVENTS / np.maximum(moments.cells, 1.0)
        return prior["a0"] / np.maximum(moments.mean, least)

    def check_prior(self, prior: Prior, n_columns: int) -> Prior:
        return {key: counts_per_column(key, prior[key], n_columns) for key in self.prior_keys}

    def column_scales(self, sample: Data, table: Data) -> Floats:
        """Mean of each column of a sample, above 0, shape (D,)."""
        cells = np.maximum(sample.column_weights(), 1.0)
        return np.maximum(sample.column_sums(), LEAST_EVENTS) / cells

    def first_prior(self, scales: Floats, weight: float, width: float) -> Prior:
        return {"a0": np.ones(len(scales)), "b0": 1.0 / scales}

    def sums(self, table: Data, labels: Indices, power: float) -> CountSums:
        return CountSums.of(table, labels, power)

    def fit_prior(
        self, sums: CountSums, scales: Floats, start: Prior | None
    ) -> tuple[Prior, float]:
        return fit_poisson_gamma(sums, scales, start)

    def takes_cells(self, cells: Floats) -> npt.NDArray[np.bool_]:
        return are_whole(cells, MAX_COUNT)

    def check_statistics(self, statistics: Floats, prior: Prior, allow_missing: bool) -> None:
        super().check_statistics(statistics, prior, allow_missing)
        events, cells = np.split(statistics[:, 1:-1], 2, axis=1)
        check_cells_of(statistics[:, 0], cells, allow_missing)
        check_counts_of(cells, events, MAX_COUNT)

    def component(
        self, prior: Prior, allow_missing: bool, power: float = 1.0
    ) -> families.Component:
        return families.PoissonGamma(**prior, power=power)

    def as_prior(self, posterior: Mapping[str, Any], prior: Prior) -> Prior:
        return {f"{key}0": np.asarray(posterior[key]) for key in "ab"}

    def means(self, prior: Prior) -> Floats:
        return np.asarray(prior["a0"] / prior["b0"])

    def variances(self, prior: Prior) -> Floats:
        """A Poisson's variance is its mean."""
        return self.means(prior)

    def draw_parameters(self, prior: Prior, size: int, rng: Rng) -> Parameters:
        shape = (size, len(prior["a0"]))
        return {"rate": rng.standard_gamma(prior["a0"], size=shape) / prior["b0"]}

    def draw_rows(self, theta: Parameters, labels: Indices, totals: Totals, rng: Rng) -> Floats:
        return rng.poisson(theta["rate"][labels]).astype(np.float64)

    def expected_parameters(self, priors: list[Prior]) -> Parameters:
        return {"rate": np.array([self.means(prior) for prior in priors])}

    def row_means(self, posterior: Mapping[str, Any], prior: Prior) -> Floats:
        events, cells = (np.asarray(posterior[key]) - prior[f"{key}0"] for key in "ab")
        return np.where(cells > 0.0, events / np.maximum(cells, 1e-300), np.nan)

    def column_log_density(self, X: Floats, theta: Parameters) -> Floats:
        return log_poisson(X, theta["rate"])


def log_poisson(X: Floats, means: Floats) -> Floats:
    """Log probabilities of counts, shape (N, D), under K means or N x K; 0 where one is missing."""
    x = np.nan_to_num(X)[:, None]
    terms = x * np.log(means) - means - log_gamma(x + 1.0)
    return np.asarray(np.where(np.isnan(X)[:, None], 0.0, terms))
