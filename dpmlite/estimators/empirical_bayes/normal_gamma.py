"""Hyperparameters of "normal-gamma" with the least joint of given labels: empirical Bayes.

For a cluster's column with n rows, mean x and scatter S, let c = c0 + n, a = a0 + n / 2 and
b = b0 + S / 2 + c0 n (x - m0)^2 / (2 c), eq. (13) of Raykov, Boukouvalas & Little (2014). The log
marginal is, but for a constant,

    log(c0 / c) / 2 + log Gamma(a) - log Gamma(a0) + a0 log b0 - a log b.

c0, a0 and b0 have weak priors, normal in their logarithms, so that they have a mode whatever the
labels are. The variables are log c0, log a0 and log(b0 / a0), for a0 and b0 are strongly dependent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite import core
from dpmlite.estimators.empirical_bayes.minimise import minimise

if TYPE_CHECKING:
    from dpmlite.estimators.data import Floats
    from dpmlite.estimators.empirical_bayes.cluster_sums import ClusterSums
    from dpmlite.estimators.empirical_bayes.column_scales import ColumnScales
    from dpmlite.estimators.priors.base import Prior

# Mean and standard deviation of log c0, log a0 and log(b0 / (a0 variance of the column)).
LOG_C0 = np.log(0.05), 3.0
LOG_A0 = np.log(2.0), 1.5
LOG_RATIO = -1.0 - np.log(4.0), 3.0

# The least b0 / a0, as a part of the variance of the column: where many rows are equal, the joint
# improves as long as b0 falls.
MIN_VARIANCE_RATIO = 2.0**-26

# The least a0: b0 would fall with it, whatever b0 / a0 is.
MIN_A0 = 2.0**-4

log_gamma = np.frompyfunc(core.log_gamma, 1, 1)
digamma = np.frompyfunc(core.digamma, 1, 1)


def fit_normal_gamma(
    sums: ClusterSums, scales: ColumnScales, start: Prior | None
) -> tuple[Prior, float]:
    """The hyperparameters that fit clusters best, and minus the log of their own prior.

    Parameters
    ----------
    sums : ClusterSums
    scales : ColumnScales
        Constant columns have the variance b0 / a0 = 1 and take no part.
    start : dict, optional
        Where to start from. Default: the means of the hyperparameters' prior.

    Returns
    -------
    prior : dict
        Keys "m0", "c0", "a0", "b0".
    penalty : float
        In nats, without the normalising constants.
    """
    used = ~scales.constant
    variance = scales.variance[used]
    objective = _Objective(sums, scales, used)
    if start is None:
        x = np.concatenate([[LOG_C0[0], LOG_A0[0]], np.log(variance) + LOG_RATIO[0]])
    else:
        log_ratio = np.log(start["b0"][used] / start["a0"])
        x = np.concatenate([np.log([start["c0"], start["a0"]]), log_ratio])
    lower = np.concatenate([[-np.inf, np.log(MIN_A0)], np.log(MIN_VARIANCE_RATIO * variance)])
    x, _ = minimise(objective, x, lower)
    (c0, a0), ratio = np.exp(x[:2]).tolist(), np.ones(len(used))
    ratio[used] = np.exp(x[2:])
    prior = {"m0": scales.centre, "c0": c0, "a0": a0, "b0": a0 * ratio}
    return prior, objective.penalty(x)[0]


class _Objective:
    """Minus the log marginals of all clusters and the log prior of the hyperparameters."""

    def __init__(self, sums: ClusterSums, scales: ColumnScales, used: np.ndarray) -> None:
        self.n = sums.counts[:, used]
        if (self.n == self.n[:, :1]).all():  # no cell is missing: special functions once a cluster
            self.n = self.n[:, :1]
        self.half_scatter = 0.5 * sums.scatters()[:, used]
        self.half_square = 0.5 * (sums.means[:, used] - scales.centre[used]) ** 2
        self.log_variance = np.log(scales.variance[used])

    def __call__(self, x: Floats) -> tuple[float, Floats]:
        n, (c0, a0), b0 = self.n, np.exp(x[:2]), np.exp(x[2:] + x[1])
        c, a = c0 + n, a0 + 0.5 * n
        b = b0 + self.half_scatter + c0 * n / c * self.half_square
        log_b0, log_b = x[2:] + x[1], np.log(b)
        of_counts = log_gamma(a).astype(float) - core.log_gamma(a0)
        value = np.sum(0.5 * np.log(c0 / c) + of_counts + a0 * log_b0 - a * log_b)
        by_c0 = np.sum(0.5 * n / c - a / b * c0 * (n / c) ** 2 * self.half_square)
        by_b0 = np.sum(a0 - a / b * b0, axis=0)
        of_counts = digamma(a).astype(float) - core.digamma(a0)
        by_a0 = a0 * np.sum(of_counts + log_b0 - log_b) + np.sum(by_b0)
        penalty, of_penalty = self.penalty(x)
        return penalty - float(value), of_penalty - np.concatenate([[by_c0, by_a0], by_b0])

    def penalty(self, x: Floats) -> tuple[float, Floats]:
        """Minus the log prior of the hyperparameters, and its gradient."""
        deviations = np.array([LOG_C0[1], LOG_A0[1], *[LOG_RATIO[1]] * (len(x) - 2)])
        means = np.array([LOG_C0[0], LOG_A0[0], *(self.log_variance + LOG_RATIO[0])])
        units = (x - means) / deviations
        return 0.5 * float(units @ units), units / deviations
