"""The family "beta-bernoulli": independent columns of zeros and ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import families
from dpmlite.estimators.inputs.number_tables import read_counts
from dpmlite.estimators.priors.base import Family
from dpmlite.estimators.priors.checks import are_whole, check_cells_of, counts_per_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices
    from dpmlite.estimators.priors.base import Parameters, Rng, Totals
    from dpmlite.estimators.priors.moments import Moments

#: Default of a0 + b0, in rows.
DEFAULT_MASS = 2.0


class BetaBernoulliFamily(Family):
    """x ~ Bernoulli(p), p ~ Beta(a0, b0) in every column.

    Default: the prior mean of p is the frequency of ones, and a0 + b0 = 2. In a column of zeros or
    of ones only, half a row counts as different.
    """

    name = "beta-bernoulli"
    prior_keys = ("a0", "b0")
    scales = (("a0", "b0"),)
    width = ("a0", "b0")
    takes_missing = True
    takes_sparse = True
    has_shares = True

    def read_table(self, X: Any, allow_missing: bool) -> Data:
        return read_counts(X, 1.0, allow_missing)

    def default(self, key: str, moments: Moments, prior: Prior) -> Any:
        half_a_row = 0.5 / np.maximum(moments.cells, 1.0)
        frequency = np.clip(moments.mean, half_a_row, 1.0 - half_a_row)
        return DEFAULT_MASS * (frequency if key == "a0" else 1.0 - frequency)

    def check_prior(self, prior: Prior, n_columns: int) -> Prior:
        return {key: counts_per_column(key, prior[key], n_columns) for key in self.prior_keys}

    def takes_cells(self, cells: Floats) -> npt.NDArray[np.bool_]:
        return are_whole(cells, 1.0)

    def check_statistics(self, statistics: Floats, prior: Prior, allow_missing: bool) -> None:
        super().check_statistics(statistics, prior, allow_missing)
        ones, zeros = np.split(statistics[:, 1:], 2, axis=1)
        check_cells_of(statistics[:, 0], ones + zeros, allow_missing)

    def component(
        self, prior: Prior, allow_missing: bool, power: float = 1.0
    ) -> families.Component:
        return families.BetaBernoulli(**prior)

    def as_prior(self, posterior: Mapping[str, Any], prior: Prior) -> Prior:
        return {f"{key}0": np.asarray(posterior[key]) for key in "ab"}

    def means(self, prior: Prior) -> Floats:
        return np.asarray(prior["a0"] / (prior["a0"] + prior["b0"]))

    def variances(self, prior: Prior) -> Floats:
        return self.means(prior) * (1.0 - self.means(prior))

    def draw_parameters(self, prior: Prior, size: int, rng: Rng) -> Parameters:
        return {"probability": rng.beta(prior["a0"], prior["b0"], size=(size, len(prior["a0"])))}

    def draw_rows(self, theta: Parameters, labels: Indices, totals: Totals, rng: Rng) -> Floats:
        p = theta["probability"][labels]
        return (rng.random(p.shape) < p).astype(np.float64)

    def expected_parameters(self, priors: list[Prior]) -> Parameters:
        return {"probability": np.array([self.means(prior) for prior in priors])}

    def row_means(self, posterior: Mapping[str, Any], prior: Prior) -> Floats:
        ones, zeros = (np.asarray(posterior[key]) - prior[f"{key}0"] for key in "ab")
        return np.where(ones + zeros > 0.0, ones / np.maximum(ones + zeros, 1e-300), np.nan)

    def column_log_density(self, X: Floats, theta: Parameters) -> Floats:
        p = theta["probability"]
        with np.errstate(divide="ignore"):
            terms = np.where(X[:, None] > 0.0, np.log(p), np.log1p(-p))
        return np.asarray(np.where(np.isnan(X)[:, None], 0.0, terms))
