"""Joints of hyperparameters of "normal-gamma", and what they are compared with."""

from unittest.mock import patch

import numpy as np

from dpmlite.estimators.empirical_bayes import normal_gamma


def joint_on(twin, sums, scales):
    """The joint of clusters, on one implementation."""
    kind = twin.normal_gamma_joint.NormalGammaJoint
    with patch.object(normal_gamma, "NormalGammaJoint", kind):
        return normal_gamma.joint_of(sums, scales)


def prior_at(x, scales):
    """The hyperparameters that the variables stand for."""
    return {
        "m0": scales.centre,
        "c0": float(np.exp(x[0])),
        "a0": float(np.exp(x[1])),
        "b0": np.exp(x[2:] + x[1]),
    }


def penalty_of(prior, scales):
    units = (
        (np.log(prior["c0"]) - np.log(0.05)) / 3.0,
        (np.log(prior["a0"]) - np.log(2.0)) / 1.5,
        (np.log(prior["b0"] / (prior["a0"] * scales.variance)) + 1.0 + np.log(4.0)) / 3.0,
    )
    return 0.5 * sum(np.sum(unit**2) for unit in units)


def variables(rng, scales):
    x = rng.normal(scale=1.5, size=5)
    x[2:] += np.log(scales.variance)
    return x
