"""Prediction for new rows, and the leave-one-out likelihood of old ones.

Equation numbers are those of Raykov, Boukouvalas & Little (2014). A component given here holds
the clusters in slots 0..K-1 and has an empty slot K, the new cluster.
"""

from math import exp, log

from dpmlite._types import Buffer, Values
from dpmlite.models.component import Component
from dpmlite.models.crp import log_prob_counts
from dpmlite.models.partition import TIE, UNPLACED, Partition

NEW_CLUSTER = UNPLACED


def log_density(X: Values, component: Component, alpha: float, out: Buffer) -> None:
    """Log predictive density of each row, its cluster summed out: eq. (17).

    Parameters
    ----------
    X : sequence of rows, (N, D)
    component : Component
        Clusters and one empty slot.
    alpha : float
        Concentration.
    out : mutable sequence of float, length N
        OUT: log p(x | training rows).
    """
    _check_out(out, X)
    for i, row in enumerate(X):
        costs = _costs(row, component, alpha)
        least = min(costs)
        out[i] = log(sum(exp(least - q) for q in costs)) - least


def assign(X: Values, component: Component, alpha: float, out: Buffer) -> None:
    """The most probable cluster of each row: eq. (18).

    Parameters
    ----------
    X : sequence of rows, (N, D)
    component : Component
        Clusters and one empty slot.
    alpha : float
        Concentration.
    out : mutable sequence of int, length N
        OUT: slots; -1 where a new cluster is most probable.
    """
    _check_out(out, X)
    for i, row in enumerate(X):
        costs = _costs(row, component, alpha)
        least = min(costs)
        k = next(k for k, q in enumerate(costs) if q <= least + TIE)
        out[i] = k if component.counts[k] > 0.0 else NEW_CLUSTER


def responsibilities(
    X: Values,
    component: Component,
    alpha: float,
    out: Values,
) -> None:
    """Posterior probability of each cluster for each row: the terms of eq. (17), normalised.

    Parameters
    ----------
    X : sequence of rows, (N, D)
    component : Component
        Clusters and one empty slot.
    alpha : float
        Concentration.
    out : sequence of mutable sequences of float, (N, K + 1)
        OUT: probabilities; the new cluster's are in the last column.
    """
    _check_out(out, X)
    for i, row in enumerate(X):
        costs = _costs(row, component, alpha)
        least = min(costs)
        if len(out[i]) != len(costs):
            raise ValueError(f"out must have {len(costs)} columns, got {len(out[i])}")
        total = sum(exp(least - q) for q in costs)
        for k, q in enumerate(costs):
            out[i][k] = exp(least - q) / total


def neg_log_loo(partition: Partition) -> float:
    """-log of eq. (16): leave-one-out predictives of all rows, times the prior of the labels.

    It is the paper's likelihood. Coordinate moves lower the exact joint, not this.

    Parameters
    ----------
    partition : Partition
        All its rows must have labels.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a row has no label.
    """
    if UNPLACED in list(partition.labels):
        raise ValueError("every row must have a label")
    component = partition.component
    total = -log_prob_counts([n for n in component.counts if n > 0.0], partition.alpha)
    for i in range(partition.n_rows):
        own = partition.labels[i]
        n = component.counts[own] - 1.0
        total += partition.costs(i)[own] + log(n if n > 0.0 else partition.alpha)
    return total


def _check_out(out: Values, X: Values) -> None:
    if len(out) != len(X):
        raise ValueError(f"out must be for {len(X)} rows, got {len(out)}")


def _costs(row: Values, component: Component, alpha: float) -> list[float]:
    """-log of the terms of eq. (17)."""
    total = alpha + sum(component.counts)
    weights = [(n if n > 0.0 else alpha) / total for n in component.counts]
    scores = component.log_predictive_all(row)
    return [-log(w) - p for w, p in zip(weights, scores, strict=True)]
