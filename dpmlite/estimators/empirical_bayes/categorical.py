"""Hyperparameters of "categorical" with the least joint of given labels.

In each column beta0 is s g: g are the frequencies of the levels in the table, and the concentration
s is fitted, with a weak prior, normal in log s. If a column is alike in all clusters, s is large:
then it tells nothing of labels. For a cluster with counts n_l of n cells the log marginal is

    sum_l [log Gamma(s g_l + n_l) - log Gamma(s g_l)] - log Gamma(s + n) + log Gamma(s).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpmlite.algorithms import minimise
from dpmlite.estimators.empirical_bayes.special import digamma, log_gamma, rise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Floats, Indices

# Mean and standard deviation of log s.
LOG_MASS = np.log(2.0), 2.0


@dataclass(frozen=True, eq=False, repr=False)
class LevelCounts:
    """Weighted counts of the levels of each cluster.

    Attributes
    ----------
    counts : ndarray, shape (K, L)
        Of the L levels of all columns, side by side.
    column : ndarray of int, shape (L,)
        The column of each level.
    """

    counts: Floats
    column: Indices

    @classmethod
    def of(cls, table: Data, labels: Indices, power: float, n_levels: Sequence[int]) -> LevelCounts:
        """Counts of a table of indices of levels; the weight of a row is multiplied by `power`."""
        assert table.values is not None
        weights = np.full(table.shape[0], power)
        if table.weights is not None:
            weights *= table.weights
        known, labels = np.unique(labels, return_inverse=True)
        parts = []
        for codes, size in zip(table.values.T, n_levels, strict=True):
            seen = ~np.isnan(codes)
            at = labels[seen] * size + codes[seen].astype(np.intp)
            counts = np.bincount(at, weights[seen], minlength=len(known) * size)
            parts.append(counts.reshape(len(known), size))
        column = np.repeat(np.arange(len(n_levels)), n_levels)
        return cls(np.hstack(parts), column)

    def totals(self, of_levels: Floats) -> Floats:
        """Sums of numbers of levels, on the last axis, over each column's levels."""
        starts = np.searchsorted(self.column, np.arange(self.column[-1] + 1))
        return np.asarray(np.add.reduceat(of_levels, starts, axis=-1))


def fit_categorical(
    sums: LevelCounts, frequencies: Floats, start: Prior | None
) -> tuple[Prior, float]:
    """The hyperparameters that fit clusters best, and minus the log of their own prior.

    Parameters
    ----------
    sums : LevelCounts
    frequencies : ndarray, shape (L,)
        Of each column's levels; all positive.
    start : dict, optional
        Where to start from. Default: the mean of the prior of log s.

    Returns
    -------
    prior : dict
        Key "beta0".
    penalty : float
        In nats, without the normalising constants.
    """
    n_columns = int(sums.column[-1]) + 1
    x = np.full(n_columns, LOG_MASS[0])
    if start is not None:
        x = np.log(sums.totals(start["beta0"]))
    n = sums.totals(sums.counts)

    def objective(x: Floats, gradient: Floats) -> float:
        s, units = np.exp(x), (np.asarray(x) - LOG_MASS[0]) / LOG_MASS[1]
        beta = s[sums.column] * frequencies
        of_levels = rise(log_gamma, beta, sums.counts)
        value = of_levels.sum() - rise(log_gamma, s, n).sum()
        slopes = sums.totals((frequencies * rise(digamma, beta, sums.counts)).sum(axis=0))
        slopes -= rise(digamma, s, n).sum(axis=0)
        gradient[:] = units / LOG_MASS[1] - s * slopes
        return 0.5 * float(units @ units) - float(value)

    minimise(objective, x, np.full(n_columns, -np.inf))
    units = (x - LOG_MASS[0]) / LOG_MASS[1]
    return {"beta0": np.exp(x)[sums.column] * frequencies}, 0.5 * float(units @ units)
