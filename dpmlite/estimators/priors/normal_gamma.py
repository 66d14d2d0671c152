"""The family "normal-gamma": independent columns, each normal with unknown mean and precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import families
from dpmlite.estimators.empirical_bayes.normal_gamma import fit_normal_gamma
from dpmlite.estimators.inputs.domain import SHAPE, WORTH
from dpmlite.estimators.priors.checks import (
    STATISTICS_RTOL,
    check_cells_of,
    check_distance,
    check_drawn,
    check_means,
    per_column,
    positive,
    require_scatter,
    scale_per_column,
)
from dpmlite.estimators.priors.real import (
    RealFamily,
    mean_of_rows,
    normal_log_density,
    worth_of_mean,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpmlite.estimators.empirical_bayes.cluster_sums import ClusterSums
    from dpmlite.estimators.empirical_bayes.column_scales import ColumnScales
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices
    from dpmlite.estimators.priors.base import Parameters, Rng, Totals
    from dpmlite.estimators.priors.moments import Moments

#: The greatest distance of a value from m0, in prior scales sqrt(b0).
MAX_DISTANCE = 2.0**29
REACH = "prior scales sqrt(b0) of m0 (raise b0)"


class NormalGammaFamily(RealFamily):
    """Eq. (8) of Raykov, Boukouvalas & Little (2014); the default prior is their section 4.2."""

    name = "normal-gamma"
    prior_keys = ("m0", "c0", "a0", "b0")
    scales = (("c0",), ("b0",))
    width = ("b0",)
    takes_missing = True

    def default(self, key: str, moments: Moments, prior: Prior) -> Any:
        if key == "m0":
            return moments.means()
        if key == "c0":
            return 10.0 / moments.weight
        return 1.0 if key == "a0" else moments.variances()

    def check_prior(self, prior: Prior, n_columns: int) -> Prior:
        return {
            "m0": per_column("m0", prior["m0"], n_columns),
            "c0": positive("c0", prior["c0"], WORTH),
            "a0": positive("a0", prior["a0"], SHAPE),
            "b0": scale_per_column("b0", prior["b0"], n_columns),
        }

    def check_reach(self, data: Data, prior: Prior, moments: Moments) -> None:
        check_distance(data, moments, prior["m0"], np.sqrt(prior["b0"]), MAX_DISTANCE, REACH)

    def convert_statistics(self, statistics: Floats, old: Prior, new: Prior) -> Floats:
        """Solve eq. (13) for mean and scatter under `old`, and apply it with `new`.

        In units of a prior, m = n x / c and b = 1 + (S + c0 n x^2 / c) / 2, with x and S the mean
        and scatter of the n values, and c = c0 + n.
        """
        n, x, scatter = _rows(statistics, old)
        unit = np.sqrt(old["b0"] / new["b0"])
        x = x * unit + (old["m0"] - new["m0"]) / np.sqrt(new["b0"])
        check_means(np.where(n > 0.0, x, 0.0), MAX_DISTANCE, REACH)
        return _statistics(statistics, n, x, scatter * unit**2, new)

    def scale_statistics(self, statistics: Floats, prior: Prior, parts: Floats) -> Floats:
        n, x, scatter = _rows(statistics, prior)
        return _statistics(statistics * parts, n * parts, x, scatter * parts, prior)

    def first_prior(self, scales: ColumnScales, weight: float, width: float) -> Prior:
        """The prior of section 4.2, with widths that outliers do not move, at few rows looser."""
        b0 = width * scales.variance
        return {"m0": scales.centre, "c0": worth_of_mean(weight), "a0": 1.0, "b0": b0}

    def fit_prior(
        self, sums: ClusterSums, scales: ColumnScales, start: Prior | None
    ) -> tuple[Prior, float]:
        return fit_normal_gamma(sums, scales, start)

    def check_statistics(self, statistics: Floats, prior: Prior, allow_missing: bool) -> None:
        super().check_statistics(statistics, prior, allow_missing)
        n, m, b = _split(statistics, len(prior["m0"]))
        if allow_missing:
            check_cells_of(statistics[:, 0], n, allow_missing)
        scatter = 2.0 * (b - 1.0) - _lever(n, prior) * _mean(n, m, prior) ** 2
        require_scatter(scatter >= -STATISTICS_RTOL * b)

    def component(
        self, prior: Prior, allow_missing: bool, power: float = 1.0
    ) -> families.Component:
        if allow_missing:
            return families.IncompleteNormalGamma(**prior, power=power)
        return families.NormalGamma(**prior, power=power)

    def covariance(self, posterior: Mapping[str, Any]) -> Floats:
        return np.asarray(np.asarray(posterior["b"]) / posterior["a"])

    def variances(self, prior: Prior) -> Floats:
        return np.asarray(prior["b0"] / prior["a0"])

    def as_prior(self, posterior: Mapping[str, Any], prior: Prior) -> Prior:
        return {f"{key}0": np.asarray(posterior[key]) for key in "mcab"}

    def means(self, prior: Prior) -> Floats:
        return np.asarray(prior["m0"])

    def draw_parameters(self, prior: Prior, size: int, rng: Rng) -> Parameters:
        shape = (size, len(prior["m0"]))
        precision = rng.standard_gamma(prior["a0"], size=shape)  # in units of the prior
        with np.errstate(divide="ignore"):
            of_mean = 1.0 / np.sqrt(prior["c0"] * precision)
        check_drawn("a0", prior, of_mean)
        unit = np.sqrt(prior["b0"])
        return {
            "mean": rng.normal(prior["m0"], unit * of_mean),
            "deviation": unit / np.sqrt(precision),
        }

    def draw_rows(self, theta: Parameters, labels: Indices, totals: Totals, rng: Rng) -> Floats:
        return rng.normal(theta["mean"][labels], theta["deviation"][labels])

    def expected_parameters(self, priors: list[Prior]) -> Parameters:
        mean = np.array([prior["m0"] for prior in priors])
        return {"mean": mean, "deviation": np.sqrt([self.variances(prior) for prior in priors])}

    def row_means(self, posterior: Mapping[str, Any], prior: Prior) -> Floats:
        n = np.asarray(posterior["c"]) - prior["c0"]
        return mean_of_rows(posterior["m"], posterior["c"], prior["m0"], n)

    def column_log_density(self, X: Floats, theta: Parameters) -> Floats:
        return normal_log_density(X, theta["mean"], theta["deviation"])


def _split(statistics: Floats, n_columns: int) -> tuple[Floats, Floats, Floats]:
    """Weight, m and b of each column; one weight for all if no cell may be missing."""
    split = statistics.shape[1] - 2 * n_columns
    m, b = np.split(statistics[:, split:], 2, axis=1)
    return statistics[:, 1:split] if split > 1 else statistics[:, :1], m, b


def _rows(statistics: Floats, prior: Prior) -> tuple[Floats, Floats, Floats]:
    """Weight, mean and scatter of the values of each column: eq. (13) solved for them."""
    n, m, b = _split(statistics, len(prior["m0"]))
    x = _mean(n, m, prior)
    return n, x, np.maximum(2.0 * (b - 1.0) - _lever(n, prior) * x**2, 0.0)


def _statistics(weights: Floats, n: Floats, x: Floats, scatter: Floats, prior: Prior) -> Floats:
    """Statistics of values of these means and scatters; their weights come first, and stay."""
    m = n * x / (prior["c0"] + n)
    b = 1.0 + 0.5 * (scatter + _lever(n, prior) * x**2)
    return np.hstack([weights[:, : -2 * m.shape[1]], m, b])


def _mean(n: Floats, m: Floats, prior: Prior) -> Floats:
    """The mean of n values whose posterior mean is m = n x / (c0 + n), in units of the prior."""
    return np.asarray(m * (prior["c0"] + n) / np.maximum(n, np.finfo(float).tiny))


def _lever(n: Floats, prior: Prior) -> Floats:
    """c0 n / (c0 + n), the weight of the squared mean in 2 b: eq. (13)."""
    return np.asarray(prior["c0"] * n / (prior["c0"] + n))
