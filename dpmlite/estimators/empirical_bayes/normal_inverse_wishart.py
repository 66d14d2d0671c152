"""Hyperparameters of "normal-inverse-wishart" with the least joint of given labels.

For a cluster with n rows, mean x and scatter matrix S, let kappa = kappa0 + n, nu = nu0 + n and
psi = psi0 + S + kappa0 n / kappa (x - m0)(x - m0)^T. The log marginal is, but for a constant,

    D log(kappa0 / kappa) / 2 + log Gamma_D(nu / 2) - log Gamma_D(nu0 / 2)
        + nu0 log|psi0| / 2 - nu log|psi| / 2.

psi0 is diagonal. kappa0, r = nu0 - D + 1 and psi0 have weak priors, normal in their logarithms. The
variables are log kappa0, log r and log(psi0 / r).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.estimators.empirical_bayes.minimise import minimise
from dpmlite.estimators.empirical_bayes.normal_gamma import digamma, log_gamma

if TYPE_CHECKING:
    from dpmlite.estimators.data import Floats
    from dpmlite.estimators.empirical_bayes.cluster_sums import ClusterSums
    from dpmlite.estimators.empirical_bayes.column_scales import ColumnScales
    from dpmlite.estimators.priors.base import Prior

# Mean and standard deviation of log kappa0, log r and log(psi0 / (r variance)).
LOG_KAPPA0 = np.log(0.05), 3.0
LOG_R = np.log(4.0), 1.5
LOG_PSI0 = -1.0 - np.log(4.0), 3.0

# The least psi0 / r, as a part of the variance of the column.
MIN_VARIANCE_RATIO = 2.0**-26

# Part of the greatest distance that is left for rounding errors.
ROUNDING = 2.0**-40


def fit_normal_inverse_wishart(
    sums: ClusterSums, scales: ColumnScales, start: Prior | None, max_distance: float
) -> tuple[Prior, float]:
    """The hyperparameters that fit clusters best, and minus the log of their own prior.

    Parameters
    ----------
    sums : ClusterSums
    scales : ColumnScales
        Constant columns have the variance psi0 / r = 1 and take no part: the other columns of a
        normal-inverse-Wishart cluster are one again, of nu0 less by 1 for each column that is out.
    start : dict, optional
        Where to start from. Default: the means of the hyperparameters' prior.
    max_distance : float
        The greatest distance of a value from m0 that is allowed, in roots of psi0.

    Returns
    -------
    prior : dict
        Keys "m0", "kappa0", "nu0", "psi0".
    penalty : float
        In nats, without the normalising constants.
    """
    n_columns, used = len(scales.variance), ~scales.constant
    variance = scales.variance[used]
    objective = _Objective(sums, scales, used)
    if start is None:
        x = np.concatenate([[LOG_KAPPA0[0], LOG_R[0]], np.log(variance) + LOG_PSI0[0]])
    else:
        r = start["nu0"] - n_columns + 1.0
        log_ratio = np.log(np.diag(start["psi0"])[used] / r)
        x = np.concatenate([np.log([start["kappa0"], r]), log_ratio])
    # r is 1 at least, so that psi0 is not below the bound of psi0 / r.
    of_reach = scales.reach[used] / (max_distance * (1.0 - ROUNDING))
    least = np.maximum(MIN_VARIANCE_RATIO * variance, of_reach**2)
    lower = np.concatenate([[-np.inf, 0.0], np.log(least)])
    x, _ = minimise(objective, x, lower)
    ratio = np.ones(n_columns)
    ratio[used] = np.exp(x[2:])
    prior = {
        "m0": scales.centre,
        "kappa0": float(np.exp(x[0])),
        "nu0": float(np.exp(x[1]) + n_columns - 1.0),
        "psi0": np.diag(np.exp(x[1]) * ratio),
    }
    return prior, objective.penalty(x)[0]


class _Objective:
    """Minus the log marginals of all clusters and the log prior of the hyperparameters.

    D is the number of columns that are not constant.
    """

    def __init__(self, sums: ClusterSums, scales: ColumnScales, used: np.ndarray) -> None:
        self.n = sums.counts[:, 0]
        self.scatter = sums.scatter_matrices()[:, used][:, :, used]
        self.gap = (sums.means - scales.centre)[:, used]
        self.squares = self.gap[:, :, None] * self.gap[:, None]
        self.log_variance = np.log(scales.variance[used])

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        n, (kappa0, r), n_columns = self.n, np.exp(x[:2]), self.gap.shape[1]
        log_psi0 = x[2:] + x[1]
        psi0 = np.exp(log_psi0)
        kappa, nu0 = kappa0 + n, r + n_columns - 1.0
        nu, log_det0 = nu0 + n, float(log_psi0.sum())
        psi = np.diag(psi0) + self.scatter + (kappa0 * n / kappa)[:, None, None] * self.squares
        inverse, log_det = np.linalg.inv(psi), np.linalg.slogdet(psi)[1]
        of_counts = _of_counts(log_gamma, nu, nu0, n_columns)
        value = 0.5 * n_columns * np.log(kappa0 / kappa) + of_counts
        value += 0.5 * nu0 * log_det0 - 0.5 * nu * log_det
        distance = np.einsum("ki,kij,kj->k", self.gap, inverse, self.gap)
        by_kappa0 = 0.5 * np.sum(n_columns * n / kappa - nu * distance * kappa0 * (n / kappa) ** 2)
        diagonal = np.diagonal(inverse, axis1=1, axis2=2)
        by_psi0 = 0.5 * np.sum(nu0 - nu[:, None] * psi0 * diagonal, axis=0)
        of_counts = _of_counts(digamma, nu, nu0, n_columns)
        by_r = 0.5 * r * np.sum(of_counts + log_det0 - log_det) + by_psi0.sum()
        penalty, of_penalty = self.penalty(x)
        gradient = np.concatenate([[by_kappa0, by_r], by_psi0])
        return penalty - float(value.sum()), of_penalty - gradient

    def penalty(self, x: Floats) -> tuple[float, Floats]:
        """Minus the log prior of the hyperparameters, and its gradient."""
        deviations = np.array([LOG_KAPPA0[1], LOG_R[1], *[LOG_PSI0[1]] * (len(x) - 2)])
        means = np.array([LOG_KAPPA0[0], LOG_R[0], *(self.log_variance + LOG_PSI0[0])])
        units = (x - means) / deviations
        return 0.5 * float(units @ units), units / deviations


def _of_counts(function: np.ufunc, nu: Floats, nu0: float, n_columns: int) -> Floats:
    """Sum over j < D of a function at (nu - j) / 2 less that at (nu0 - j) / 2.

    Of log-gamma, this is log Gamma_D(nu / 2) - log Gamma_D(nu0 / 2).
    """
    at = 0.5 * (np.append(nu, nu0)[:, None] - np.arange(n_columns))
    sums = function(at).astype(float).sum(axis=1)
    return np.asarray(sums[:-1] - sums[-1])
