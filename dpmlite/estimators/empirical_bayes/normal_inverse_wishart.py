"""Hyperparameters of "normal-inverse-wishart" with the least joint of given labels.

psi0 is diagonal. kappa0, r = nu0 - D + 1 and psi0 have weak priors, normal in their logarithms.
`algorithms/normal_inverse_wishart_joint.py` has the formulas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.algorithms import NormalInverseWishartJoint, minimise

if TYPE_CHECKING:
    from dpmlite.estimators.empirical_bayes.cluster_sums import ClusterSums
    from dpmlite.estimators.empirical_bayes.column_scales import ColumnScales
    from dpmlite.estimators.inputs.choices import Prior

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
    joint = joint_of(sums, scales)
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
    minimise(joint.evaluate, x, lower)
    ratio = np.ones(n_columns)
    ratio[used] = np.exp(x[2:])
    prior = {
        "m0": scales.centre,
        "kappa0": float(np.exp(x[0])),
        "nu0": float(np.exp(x[1]) + n_columns - 1.0),
        "psi0": np.diag(np.exp(x[1]) * ratio),
    }
    return prior, joint.penalty(x, np.empty(len(x)))


def joint_of(sums: ClusterSums, scales: ColumnScales) -> NormalInverseWishartJoint:
    """Minus the log joint of clusters and hyperparameters, in the columns that are not constant."""
    used = ~scales.constant
    log_psi0 = np.log(scales.variance[used]) + LOG_PSI0[0]
    return NormalInverseWishartJoint(
        sums.counts[:, 0],
        sums.scatter_matrices()[:, used][:, :, used],
        (sums.means - scales.centre)[:, used],
        np.concatenate([[LOG_KAPPA0[0], LOG_R[0]], log_psi0]),
        np.array([LOG_KAPPA0[1], LOG_R[1], *[LOG_PSI0[1]] * len(log_psi0)]),
    )
