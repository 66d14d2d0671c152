"""Densities of new rows, and the leave-one-out likelihood of old ones.

Equation numbers are those of Raykov, Boukouvalas & Little (2014). A component given here holds
the clusters in slots 0..K-1 and has an empty slot K, the new cluster.
"""

from math import exp, log

from dpmlite.core.constants import UNPLACED
from dpmlite.core.rows import Rows
from dpmlite.core.types import Buffer, Values
from dpmlite.families.component import Component
from dpmlite.partition.crp import log_prob_counts
from dpmlite.partition.partition import Partition
from dpmlite.sweeps.assignment import _mixture_costs, log_weights


def log_density(X: Rows | Values, component: Component, alpha: float, out: Buffer) -> None:
    """Log predictive density of each row, its cluster summed out: eq. (17).

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
    component : Component
        Clusters and one empty slot.
    alpha : float
        Concentration.
    out : mutable sequence of float, length N
        OUT: log p(x | training rows).
    """
    log_mixture_density(X, component, log_weights(component, alpha), out)


def log_mixture_density(
    X: Rows | Values, component: Component, log_weights: Values, out: Buffer
) -> None:
    """Log density of each row under a mixture of all slots.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
    component : Component
        Slots; an empty one holds the prior.
    log_weights : sequence of float
        One for each slot, from minus infinity up.
    out : mutable sequence of float, length N
        OUT: log of the sum over slots of weight times predictive density.

    Raises
    ------
    ValueError
        If there are not as many weights as slots, or places as rows.
    """
    for i, costs in enumerate(_mixture_costs(X, component, log_weights, len(out))):
        least = min(costs)
        out[i] = log(sum(exp(least - q) for q in costs)) - least


def responsibilities(
    X: Rows | Values,
    component: Component,
    alpha: float,
    out: Values,
) -> None:
    """Posterior probability of each cluster for each row: the terms of eq. (17), normalised.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
    component : Component
        Clusters and one empty slot.
    alpha : float
        Concentration.
    out : sequence of mutable sequences of float, (N, K + 1)
        OUT: probabilities; the new cluster's are in the last column.
    """
    mixture_responsibilities(X, component, log_weights(component, alpha), out)


def mixture_responsibilities(
    X: Rows | Values, component: Component, log_weights: Values, out: Values
) -> None:
    """Posterior probability of each slot for each row, under a mixture of all slots.

    Parameters
    ----------
    X, component, log_weights
        As of `log_mixture_density`.
    out : sequence of mutable sequences of float, (N, K)
        OUT: probabilities; those of a row sum to 1.

    Raises
    ------
    ValueError
        If there are not as many weights as slots, or places as rows and slots.
    """
    for i, costs in enumerate(_mixture_costs(X, component, log_weights, len(out))):
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
    _check_placed(partition)
    component = partition.component
    total = -log_prob_counts([n for n in component.counts if n > 0.0], partition.alpha)
    for i in range(partition.n_rows):
        own = partition.labels[i]
        total += partition.costs(i)[own] + partition.member_log_weight(i)
    return total


def own_costs(partition: Partition, out: Buffer, weights: Buffer) -> None:
    """How badly each row fits where it is: q of eq. (15) and (22) for its own cluster.

    Parameters
    ----------
    partition : Partition
        All its rows must have labels.
    out : mutable sequence of float, length n_rows
        OUT: costs in nats, the cluster's weight included, of one of the equal rows that a row
        stands for, in units of the prior: those of any rows compare.
    weights : mutable sequence of float, length n_rows
        OUT: how many equal rows each stands for.

    Raises
    ------
    ValueError
        If a row has no label, or there are not as many places as rows.
    """
    _check_placed(partition)
    for name, places in (("out", out), ("weights", weights)):
        if len(places) != partition.n_rows:
            raise ValueError(f"{name} must be for {partition.n_rows} rows, got {len(places)}")
    for i in range(partition.n_rows):
        weights[i] = partition.weight(i)
        out[i] = -partition.per_copy(i, -partition.costs(i)[partition.labels[i]])


def _check_placed(partition: Partition) -> None:
    if UNPLACED in list(partition.labels):
        raise ValueError("every row must have a label")
