"""Joints of hyperparameters of "normal-inverse-wishart", and what they are compared with."""

from unittest.mock import patch

import numpy as np

from dpmlite.estimators.empirical_bayes import normal_inverse_wishart


def joint_on(twin, sums, scales):
    """The joint of clusters, on one implementation."""
    kind = twin.normal_inverse_wishart_joint.NormalInverseWishartJoint
    with patch.object(normal_inverse_wishart, "NormalInverseWishartJoint", kind):
        return normal_inverse_wishart.joint_of(sums, scales)


def prior_at(x, scales):
    """The hyperparameters that the variables stand for."""
    return {
        "m0": scales.centre,
        "kappa0": float(np.exp(x[0])),
        "nu0": float(np.exp(x[1]) + len(scales.centre) - 1.0),
        "psi0": np.diag(np.exp(x[2:] + x[1])),
    }


def penalty_of(prior, scales):
    r = prior["nu0"] - len(scales.centre) + 1.0
    units = (
        (np.log(prior["kappa0"]) - np.log(0.05)) / 3.0,
        (np.log(r) - np.log(4.0)) / 1.5,
        (np.log(4.0 * np.diag(prior["psi0"]) / r / scales.variance) + 1.0) / 3.0,
    )
    return 0.5 * sum(np.sum(unit**2) for unit in units)


def variables(rng, scales):
    x = rng.normal(scale=1.5, size=5)
    x[1] = abs(x[1])
    x[2:] += np.log(scales.variance)
    return x
