"""The family "normal-known-variance": independent normal columns with unknown means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import families
from dpmlite.estimators.inputs.number_tables import read_real
from dpmlite.estimators.priors.base import Family
from dpmlite.estimators.priors.checks import (
    check_distance,
    check_means,
    check_ratio,
    per_column,
    scale_per_column,
)
from dpmlite.estimators.priors.real import mean_of_rows, normal_log_density

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices
    from dpmlite.estimators.priors.base import Parameters, Rng, Totals
    from dpmlite.estimators.priors.moments import Moments

#: The greatest distance of a value from m0, in standard deviations sqrt(sigma2).
MAX_DISTANCE = 2.0**12
REACH = "standard deviations sqrt(sigma2) of m0 (raise sigma2)"


class NormalKnownVarianceFamily(Family):
    """x ~ N(theta, sigma2), theta ~ N(m0, tau2) in every column.

    Default: a cluster's variance sigma2 is a tenth of the column's, tau2 is the column's.
    """

    name = "normal-known-variance"
    prior_keys = ("m0", "sigma2", "tau2")
    scales = (("sigma2",), ("tau2",))
    width = ("sigma2",)
    fixed_keys = ("sigma2",)

    def read_table(self, X: Any, allow_missing: bool) -> Data:
        return read_real(X, None)

    def default(self, key: str, moments: Moments, prior: Prior) -> Any:
        if key == "m0":
            return moments.means()
        if key == "sigma2":
            return moments.variances() / 10.0
        return moments.variances(warn_constant=False)

    def check_prior(self, prior: Prior, n_columns: int) -> Prior:
        checked = {
            "m0": per_column("m0", prior["m0"], n_columns),
            "sigma2": scale_per_column("sigma2", prior["sigma2"], n_columns),
            "tau2": scale_per_column("tau2", prior["tau2"], n_columns),
        }
        check_ratio(checked, "tau2", "sigma2")
        return checked

    def check_reach(self, data: Data, prior: Prior, moments: Moments) -> None:
        check_distance(data, moments, prior["m0"], np.sqrt(prior["sigma2"]), MAX_DISTANCE, REACH)

    def convert_statistics(self, statistics: Floats, old: Prior, new: Prior) -> Floats:
        """Move the origin of the means, in units of sqrt(sigma2); the scatter does not change."""
        found = statistics.copy()
        found[:, 1:-1] += (old["m0"] - new["m0"]) / np.sqrt(new["sigma2"])
        check_means(found[:, 1:-1], MAX_DISTANCE, REACH)
        return found

    def scale_statistics(self, statistics: Floats, prior: Prior, parts: Floats) -> Floats:
        """Means stay; the scatter, last, is a sum over rows."""
        means = statistics[:, 1:-1]
        return np.hstack([statistics[:, :1] * parts, means, statistics[:, -1:] * parts])

    def component(
        self, prior: Prior, allow_missing: bool, power: float = 1.0
    ) -> families.Component:
        return families.NormalKnownVariance(**prior)

    def as_prior(self, posterior: Mapping[str, Any], prior: Prior) -> Prior:
        return {
            "m0": np.asarray(posterior["m"]),
            "sigma2": prior["sigma2"],
            "tau2": np.asarray(posterior["tau2"]),
        }

    def means(self, prior: Prior) -> Floats:
        return np.asarray(prior["m0"])

    def variances(self, prior: Prior) -> Floats:
        return np.asarray(prior["sigma2"])

    def draw_parameters(self, prior: Prior, size: int, rng: Rng) -> Parameters:
        shape = (size, len(prior["m0"]))
        mean = rng.normal(prior["m0"], np.sqrt(prior["tau2"]), size=shape)
        return {"mean": mean, "variance": np.broadcast_to(prior["sigma2"], shape)}

    def draw_rows(self, theta: Parameters, labels: Indices, totals: Totals, rng: Rng) -> Floats:
        return rng.normal(theta["mean"][labels], np.sqrt(theta["variance"][labels]))

    def expected_parameters(self, priors: list[Prior]) -> Parameters:
        mean = np.array([prior["m0"] for prior in priors])
        return {"mean": mean, "variance": np.array([prior["sigma2"] for prior in priors])}

    def row_means(self, posterior: Mapping[str, Any], prior: Prior) -> Floats:
        c = prior["sigma2"] / np.asarray(posterior["tau2"])
        return mean_of_rows(posterior["m"], c, prior["m0"], posterior["n"])

    def column_log_density(self, X: Floats, theta: Parameters) -> Floats:
        return normal_log_density(X, theta["mean"], np.sqrt(theta["variance"]))
