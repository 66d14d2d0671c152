"""The family "normal-inverse-wishart": normal clusters with a full covariance matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpmlite import families
from dpmlite.estimators.empirical_bayes.normal_inverse_wishart import fit_normal_inverse_wishart
from dpmlite.estimators.inputs.arrays import as_floats
from dpmlite.estimators.inputs.domain import SCALE, SHAPE, WORTH
from dpmlite.estimators.inputs.parameters import POSITIVE
from dpmlite.estimators.priors.checks import (
    STATISTICS_RTOL,
    check_drawn,
    check_means,
    check_range,
    per_column,
    positive,
    require_scatter,
)
from dpmlite.estimators.priors.conditional_t import missing_cells
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

#: The greatest distance of a value from m0, in prior scales: Cholesky factors of psi0. Beyond it,
#: rounding of the scatter of two clusters could exceed the tolerance of ties, 1e-8 nats.
MAX_DISTANCE = 2.0**13
REACH = "prior scales, Cholesky factors of psi0, of m0 (raise psi0)"


class NormalInverseWishartFamily(RealFamily):
    """Sigma ~ IW(psi0, nu0), mu ~ N(m0, Sigma / kappa0), x ~ N(mu, Sigma).

    Default: the prior mean of Sigma is diagonal, with the variances of the columns.
    """

    name = "normal-inverse-wishart"
    prior_keys = ("m0", "kappa0", "nu0", "psi0")
    scales = (("kappa0",), ("psi0",))
    width = ("psi0",)
    is_full = True
    takes_missing = True

    def default(self, key: str, moments: Moments, prior: Prior) -> Any:
        n_columns = len(moments.cells)
        if key == "m0":
            return moments.means()
        if key == "kappa0":
            return 10.0 / moments.weight
        if key == "nu0":
            return n_columns + 2.0
        # The mean of IW(psi0, nu0) is psi0 / (nu0 - D - 1), where that is positive.
        spare = _degrees(prior["nu0"], n_columns) - n_columns - 1.0
        return np.diag(moments.variances() * (spare if spare > 0.0 else 1.0))

    def check_prior(self, prior: Prior, n_columns: int) -> Prior:
        return {
            "m0": per_column("m0", prior["m0"], n_columns),
            "kappa0": positive("kappa0", prior["kappa0"], WORTH),
            "nu0": _degrees(prior["nu0"], n_columns),
            "psi0": _positive_definite("psi0", prior["psi0"], n_columns),
        }

    def check_reach(self, data: Data, prior: Prior, moments: Moments) -> None:
        assert data.values is not None
        factor = np.linalg.cholesky(prior["psi0"])
        units = np.linalg.solve(factor, (data.values - prior["m0"]).T).T
        check_range(units, np.zeros(1), np.ones(1), MAX_DISTANCE, REACH, moments.name)

    def convert_statistics(self, statistics: Floats, old: Prior, new: Prior) -> Floats:
        """Change the units of means and scatters, and factorise Psi: W Psi W^T = diag(d)."""
        n, mean, _, scatter, _ = _split(statistics, len(old["m0"]))
        root, new_root = np.linalg.cholesky(old["psi0"]), np.linalg.cholesky(new["psi0"])
        units = np.linalg.solve(new_root, root)
        mean = mean @ units.T + np.linalg.solve(new_root, old["m0"] - new["m0"])
        check_means(mean, MAX_DISTANCE, REACH)
        return _statistics(n, mean, units @ scatter @ units.T, new)

    def scale_statistics(self, statistics: Floats, prior: Prior, parts: Floats) -> Floats:
        n, mean, _, scatter, _ = _split(statistics, len(prior["m0"]))
        return _statistics(n * parts, mean, scatter * parts[:, :, None], prior)

    def first_prior(self, scales: ColumnScales, weight: float, width: float) -> Prior:
        n_columns = len(scales.variance)
        return {
            "m0": scales.centre,
            "kappa0": worth_of_mean(weight),
            "nu0": n_columns + 2.0,
            "psi0": np.diag(width * scales.variance),
        }

    def fit_prior(
        self, sums: ClusterSums, scales: ColumnScales, start: Prior | None
    ) -> tuple[Prior, float]:
        return fit_normal_inverse_wishart(sums, scales, start, MAX_DISTANCE)

    def check_statistics(self, statistics: Floats, prior: Prior, allow_missing: bool) -> None:
        """As of every family; and pivots and factors must be those of Psi: W Psi W^T = diag(d)."""
        super().check_statistics(statistics, prior, allow_missing)
        n_columns = len(prior["m0"])
        n, mean, pivots, scatter, W = _split(statistics, n_columns)
        check_means(mean, 2.0 * MAX_DISTANCE, REACH)
        psi = _scale(n, mean, scatter, prior)
        try:
            np.linalg.cholesky(psi)
        except np.linalg.LinAlgError:
            require_scatter(False)
        off = np.abs(W @ psi @ np.swapaxes(W, 1, 2) - pivots[:, :, None] * np.eye(n_columns))
        size = np.abs(W) @ np.abs(psi) @ np.abs(np.swapaxes(W, 1, 2))
        if not (off <= STATISTICS_RTOL * size).all():
            raise ValueError("statistics_ must have the pivots of their squares in every cluster")

    def component(
        self, prior: Prior, allow_missing: bool, power: float = 1.0
    ) -> families.Component:
        return families.NormalInverseWishart(**prior, power=power)

    def covariance(self, posterior: Mapping[str, Any]) -> Floats:
        """The mean of Sigma's posterior but for D + 1 degrees, which keeps it finite."""
        return np.asarray(np.asarray(posterior["psi"]) / posterior["nu"])

    def variances(self, prior: Prior) -> Floats:
        return np.asarray(np.diag(prior["psi0"]) / prior["nu0"])

    def as_prior(self, posterior: Mapping[str, Any], prior: Prior) -> Prior:
        return {f"{key}0": np.asarray(posterior[key]) for key in ("m", "kappa", "nu", "psi")}

    def means(self, prior: Prior) -> Floats:
        return np.asarray(prior["m0"])

    def draw_parameters(self, prior: Prior, size: int, rng: Rng) -> Parameters:
        """Sigma = F F^T with F = L A^-T, where L L^T = psi0 and A is Bartlett's factor."""
        d = len(prior["m0"])
        bartlett = np.tril(rng.normal(size=(size, d, d)), -1)
        freedom = np.broadcast_to(prior["nu0"] - np.arange(d), (size, d))
        bartlett[:, range(d), range(d)] = roots = np.sqrt(rng.chisquare(freedom))
        with np.errstate(divide="ignore"):
            check_drawn("nu0", prior, 1.0 / roots)
        upper = np.linalg.cholesky(prior["psi0"]).T
        solved = np.linalg.solve(bartlett, np.broadcast_to(upper, (size, d, d)))
        factor = np.swapaxes(solved, 1, 2)
        z = rng.normal(size=(size, d, 1)) / np.sqrt(prior["kappa0"])
        return {"mean": prior["m0"] + (factor @ z)[:, :, 0], "factor": factor}

    def draw_rows(self, theta: Parameters, labels: Indices, totals: Totals, rng: Rng) -> Floats:
        mean, factor = theta["mean"][labels], theta["factor"][labels]
        return np.asarray(mean + (factor @ rng.normal(size=(*mean.shape, 1)))[:, :, 0])

    def expected_rows(self, X: Floats, prior: Prior) -> Floats:
        rows = X.copy()
        for cells in missing_cells(X, prior):
            rows[cells.rows, cells.columns] = cells.means
        return rows

    def draw_missing(self, X: Floats, prior: Prior, rng: Rng) -> tuple[Floats, Floats]:
        rows, log_density = X.copy(), np.zeros(len(X))
        for cells in missing_cells(X, prior):
            rows[cells.rows, cells.columns], log_density[cells.rows[:, 0]] = cells.draw(rng)
        return rows, log_density

    def expected_parameters(self, priors: list[Prior]) -> Parameters:
        covariances = np.array([prior["psi0"] / prior["nu0"] for prior in priors])
        mean = np.array([prior["m0"] for prior in priors])
        return {"mean": mean, "factor": np.linalg.cholesky(covariances)}

    def row_means(self, posterior: Mapping[str, Any], prior: Prior) -> Floats:
        c = posterior["kappa"]
        return mean_of_rows(posterior["m"], c, prior["m0"], posterior["n"])

    def column_log_density(self, X: Floats, theta: Parameters) -> Floats:
        """Densities of each column alone, which is normal."""
        deviation = np.sqrt(np.square(theta["factor"]).sum(axis=2))
        return normal_log_density(X, theta["mean"], deviation)

    def log_density(self, X: Floats, theta: Parameters) -> Floats:
        mean, factor = theta["mean"], theta["factor"]
        centred = np.swapaxes(X[None] - mean[:, None], 1, 2)  # (K, D, N)
        distances = np.square(np.linalg.solve(factor, centred)).sum(axis=1)
        constants = np.linalg.slogdet(factor)[1] + 0.5 * mean.shape[1] * np.log(2.0 * np.pi)
        return np.asarray((-0.5 * distances - constants[:, None]).T)


def _split(statistics: Floats, n_columns: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Weight, mean, pivots d, scatter and factor W of each cluster, in units of the prior."""
    lower, strictly = np.tril_indices(n_columns), np.tril_indices(n_columns, -1)
    ends = np.cumsum([1, n_columns, n_columns, len(lower[0])])
    n, mean, pivots, packed, below = np.split(statistics, ends, axis=1)
    scatter = np.zeros((len(n), n_columns, n_columns))
    scatter[:, lower[0], lower[1]] = scatter[:, lower[1], lower[0]] = packed
    W = np.tile(np.eye(n_columns), (len(n), 1, 1))
    W[:, strictly[0], strictly[1]] = below
    return n, mean, pivots, scatter, W


def _statistics(n: Floats, mean: Floats, scatter: Floats, prior: Prior) -> Floats:
    """Statistics of rows of these means and scatters, with W and d of W Psi W^T = diag(d)."""
    lower, strictly = np.tril_indices(mean.shape[1]), np.tril_indices(mean.shape[1], -1)
    factor = np.linalg.cholesky(_scale(n, mean, scatter, prior))
    pivots = np.diagonal(factor, axis1=1, axis2=2)
    W = np.linalg.inv(factor / pivots[:, None])
    packed = scatter[:, lower[0], lower[1]]
    return np.hstack([n, mean, pivots**2, packed, W[:, strictly[0], strictly[1]]])


def _scale(n: Floats, mean: Floats, scatter: Floats, prior: Prior) -> Floats:
    """Psi of the posterior of each cluster, in units of the prior, shape (K, D, D)."""
    lever = prior["kappa0"] * n / (prior["kappa0"] + n)
    between = lever[:, :, None] * mean[:, :, None] * mean[:, None]
    return np.asarray(np.eye(scatter.shape[1]) + scatter + between)


def _degrees(nu0: Any, n_columns: int) -> float:
    number = positive("nu0", nu0, POSITIVE)
    if not number > n_columns - 1:
        raise ValueError(f"prior nu0 must be above D - 1 = {n_columns - 1}, got {nu0!r}")
    if number - (n_columns - 1) > SHAPE.most:
        raise ValueError(
            f"prior nu0 must be at most {SHAPE.most:g} above D - 1 = {n_columns - 1}, got {nu0!r}"
        )
    return number


def _positive_definite(name: str, value: Any, n_columns: int) -> Floats:
    matrix = as_floats(f"prior {name}", value)
    shape = (n_columns, n_columns)
    if matrix.shape != shape:
        raise ValueError(f"prior {name} must have shape {shape}, got {np.shape(value)}")
    if not np.isfinite(matrix).all():
        raise ValueError(f"prior {name} must be finite, got {matrix[~np.isfinite(matrix)][0]}")
    variances = np.diag(matrix)
    if ((variances > 0.0) & ((variances < SCALE.least) | (variances > SCALE.most))).any():
        raise ValueError(
            f"prior {name} must have variances from {SCALE.least:.3g} to {SCALE.most:.3g}, "
            f"got {variances.min():g} to {variances.max():g}"
        )
    scale = np.sqrt(np.abs(variances))
    asymmetric = np.argwhere(~(np.abs(matrix - matrix.T) <= 1e-10 * np.outer(scale, scale)))
    if len(asymmetric):
        i, j = asymmetric[0]
        raise ValueError(
            f"prior {name} must be symmetric, "
            f"got {matrix[i, j]} at ({i}, {j}) and {matrix[j, i]} at ({j}, {i})"
        )
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        least = np.linalg.eigvalsh(matrix)[0]
        raise ValueError(
            f"prior {name} must be positive definite, got an eigenvalue of {least}"
        ) from None
    return np.asarray(0.5 * (matrix + matrix.T))
