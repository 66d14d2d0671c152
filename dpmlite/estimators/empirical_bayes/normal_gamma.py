"""Hyperparameters of "normal-gamma" with the least joint of given labels: empirical Bayes.

c0, a0 and b0 / a0 have weak priors, normal in their logarithms, so that they have a mode whatever
the labels are. `algorithms/normal_gamma_joint.py` has the formulas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite.algorithms import NormalGammaJoint, minimise

if TYPE_CHECKING:
    from dpmlite.estimators.empirical_bayes.cluster_sums import ClusterSums
    from dpmlite.estimators.empirical_bayes.column_scales import ColumnScales
    from dpmlite.estimators.inputs.choices import Prior

# Mean and standard deviation of log c0, log a0 and log(b0 / (a0 variance of the column)).
LOG_C0 = np.log(0.05), 3.0
LOG_A0 = np.log(2.0), 1.5
LOG_RATIO = -1.0 - np.log(4.0), 3.0

# The least b0 / a0, as a part of the variance of the column: where many rows are equal, the joint
# improves as long as b0 falls.
MIN_VARIANCE_RATIO = 2.0**-26

# The least a0: b0 would fall with it, whatever b0 / a0 is.
MIN_A0 = 2.0**-4


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
    joint = joint_of(sums, scales)
    if start is None:
        x = np.concatenate([[LOG_C0[0], LOG_A0[0]], np.log(variance) + LOG_RATIO[0]])
    else:
        log_ratio = np.log(start["b0"][used] / start["a0"])
        x = np.concatenate([np.log([start["c0"], start["a0"]]), log_ratio])
    lower = np.concatenate([[-np.inf, np.log(MIN_A0)], np.log(MIN_VARIANCE_RATIO * variance)])
    minimise(joint.evaluate, x, lower)
    (c0, a0), ratio = np.exp(x[:2]).tolist(), np.ones(len(used))
    ratio[used] = np.exp(x[2:])
    prior = {"m0": scales.centre, "c0": c0, "a0": a0, "b0": a0 * ratio}
    return prior, joint.penalty(x, np.empty(len(x)))


def joint_of(sums: ClusterSums, scales: ColumnScales) -> NormalGammaJoint:
    """Minus the log joint of clusters and hyperparameters, in the columns that are not constant."""
    used = ~scales.constant
    counts = sums.counts[:, used]
    if (counts == counts[:, :1]).all():
        counts = counts[:, :1]
    log_ratio = np.log(scales.variance[used]) + LOG_RATIO[0]
    return NormalGammaJoint(
        counts,
        0.5 * sums.scatters()[:, used],
        0.5 * (sums.means[:, used] - scales.centre[used]) ** 2,
        np.concatenate([[LOG_C0[0], LOG_A0[0]], log_ratio]),
        np.array([LOG_C0[1], LOG_A0[1], *[LOG_RATIO[1]] * len(log_ratio)]),
    )
