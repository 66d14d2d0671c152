"""Special functions of arrays, for the joint of hyperparameters and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpmlite import core

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpmlite.estimators.inputs.data import Floats


def log_gamma(x: Floats) -> Floats:
    """Log Gamma of each number of an array."""
    out = np.empty(x.shape)
    core.log_gammas(x.ravel(), out.reshape(-1))
    return out


def digamma(x: Floats) -> Floats:
    """The derivative of log Gamma at each number of an array."""
    out = np.empty(x.shape)
    core.digammas(x.ravel(), out.reshape(-1))
    return out


def rise(function: Callable[[Floats], Floats], start: Floats, by: Floats) -> Floats:
    """function(start + by) - function(start)."""
    return np.asarray(function(start + by) - function(start))
