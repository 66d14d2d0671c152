"""Hyperparameters of "poisson-gamma" with the least joint of given labels.

For a cluster's column with n cells of sum S, or the exposure n, the log marginal is, but for a
constant,

    log Gamma(a0 + S) - log Gamma(a0) + a0 log b0 - (a0 + S) log(b0 + n).

a0 and the prior's mean a0 / b0 have weak priors, normal in their logarithms, which are the
variables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.algorithms import minimise
from dpmlite.estimators.empirical_bayes.cluster_sums import Groups
from dpmlite.estimators.empirical_bayes.special import digamma, log_gamma, rise

if TYPE_CHECKING:
    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices

# Mean and standard deviation of log a0 and of log(a0 / b0 / mean of the column).
LOG_A0 = 0.0, 2.0
LOG_MEAN = 0.0, 2.0


@dataclass(frozen=True, eq=False, repr=False)
class CountSums:
    """Weight or exposure of the cells of each cluster and column, and their sum, shape (K, D)."""

    n: Floats
    events: Floats

    @classmethod
    def of(cls, table: Data, labels: Indices, power: float) -> CountSums:
        """Sums of a dense table; the weight of each row is multiplied by `power`."""
        assert table.values is not None
        return cls._of(table.values, np.ones(1), table.weights, labels, power)

    @classmethod
    def with_exposures(cls, table: Data, labels: Indices, power: float) -> CountSums:
        """Sums of a table whose last column is the exposures of the others."""
        assert table.values is not None
        counts, exposures = table.values[:, :-1], np.nan_to_num(table.values[:, -1:])
        return cls._of(counts, exposures, table.weights, labels, power)

    @classmethod
    def _of(
        cls,
        counts: Floats,
        exposures: Floats,
        weights: Floats | None,
        labels: Indices,
        power: float,
    ) -> CountSums:
        """Sums of counts and of exposures, shape (N, D) or what broadcasts to it."""
        of_rows = np.full(len(counts), power) if weights is None else power * weights
        groups = Groups.of(labels)
        cell_weights = np.where(np.isnan(counts), 0.0, of_rows[:, None])
        events = cell_weights * np.nan_to_num(counts)
        return cls(groups.sums(cell_weights * exposures), groups.sums(events))


def fit_poisson_gamma(sums: CountSums, means: Floats, start: Prior | None) -> tuple[Prior, float]:
    """The hyperparameters that fit clusters best, and minus the log of their own prior.

    Parameters
    ----------
    sums : CountSums
    means : ndarray, shape (D,)
        Mean, or rate, of each column, positive.
    start : dict, optional
        Where to start from. Default: the means of the hyperparameters' prior.

    Returns
    -------
    prior : dict
        Keys "a0", "b0".
    penalty : float
        In nats, without the normalising constants.
    """
    n_columns = len(means)
    x = np.concatenate([np.full(n_columns, LOG_A0[0]), np.log(means) + LOG_MEAN[0]])
    if start is not None:
        x = np.log(np.concatenate([start["a0"], start["a0"] / start["b0"]]))
    centre = np.concatenate([np.full(n_columns, LOG_A0[0]), np.log(means) + LOG_MEAN[0]])
    deviation = np.repeat([LOG_A0[1], LOG_MEAN[1]], n_columns)

    def objective(x: Floats, gradient: Floats) -> float:
        log_a, log_mean = np.split(np.asarray(x), 2)
        log_b, units = log_a - log_mean, (np.asarray(x) - centre) / deviation
        a0, b0 = np.exp(log_a), np.exp(log_b)
        a, b = a0 + sums.events, b0 + sums.n
        of_events = rise(log_gamma, a0, sums.events)
        value = np.sum(of_events + a0 * log_b - a * np.log(b))
        slopes = rise(digamma, a0, sums.events) + log_b - np.log(b)
        by_log_b = np.sum(a0 - a / b * b0, axis=0)
        by_log_a = a0 * slopes.sum(axis=0) + by_log_b
        gradient[:] = units / deviation - np.concatenate([by_log_a, -by_log_b])
        return 0.5 * float(units @ units) - float(value)

    minimise(objective, x, np.full(2 * n_columns, -np.inf))
    units = (x - centre) / deviation
    a0 = np.exp(x[:n_columns])
    return {"a0": a0, "b0": a0 / np.exp(x[n_columns:])}, 0.5 * float(units @ units)
