"""Labels and hyperparameters in turn: each is the best for the other, until the joint stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpmlite.estimators.inputs.choices import Prior
    from dpmlite.estimators.inputs.data import Data, Indices
    from dpmlite.estimators.priors.base import Family
    from dpmlite.search.result import SearchResult

# Alternations at most; two to six are usual.
MAX_ROUNDS = 12

# The alternation ends when new hyperparameters gain less, in nats, before rows move.
MIN_GAIN = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class Chosen:
    """A family with the hyperparameters that were found, and what was found with them.

    Attributes
    ----------
    family : Family
    prior : dict
    rows : Data
        N rows, completed if cells were missing that the family needs.
    labels : ndarray of int, shape (N,)
    objective : float
        Minus the log joint of rows, labels and hyperparameters, in nats: lower is better, and
        families compare.
    """

    family: Family
    prior: Prior
    rows: Data
    labels: Indices
    objective: float


def same_partition(one: Indices, other: Indices) -> bool:
    """Whether two arrays of labels, 0 or more, are of the same clusters."""
    pairs = np.unique(one * (int(other.max()) + 1) + other)
    return len(pairs) == len(np.unique(one)) == len(np.unique(other))


def alternate(
    find: Callable[[Prior, Indices], tuple[SearchResult, float]],
    joint_of: Callable[[Prior, Indices], float],
    family: Family,
    table: Data,
    scales: Any,
    labels: Indices,
    power: float,
    start: Prior | None = None,
    max_rounds: int = MAX_ROUNDS,
) -> Chosen:
    """The hyperparameters of a family, and labels, with the least joint near given labels.

    Parameters
    ----------
    find : callable
        What a search finds under a prior from labels, and the unit of its joint in nats.
    joint_of : callable
        Minus the log joint of the rows and their labels under a prior, in nats.
    family : Family
        One that can fit its prior.
    table : Data
        N dense rows.
    scales
        What the family needs to know of its columns.
    labels : ndarray of int, shape (N,)
        Labels to start from.
    power : float
        Power with which the likelihood of a row counts.
    start : dict, optional
        Hyperparameters near those of the labels.
    max_rounds : int
    """
    best = None
    for _ in range(max_rounds):
        prior, penalty = family.fit_prior(family.sums(table, labels, power), scales, start)
        if best is not None and best.objective - joint_of(prior, labels) - penalty < MIN_GAIN:
            break  # the prior has hardly changed: a search would repeat moves that failed
        result, unit = find(prior, labels)
        objective = unit * result.neg_log_joint + penalty
        best = Chosen(family, prior, table, result.labels().copy(), objective)
        if same_partition(best.labels, labels):  # and so the same hyperparameters
            break
        labels, start = best.labels, prior
    assert best is not None
    return best
