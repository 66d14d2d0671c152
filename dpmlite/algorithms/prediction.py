"""Predictive densities of new rows, and leave-one-out costs of the rows of a partition.

Equation numbers are those of Raykov, Boukouvalas & Little (2014). A component given here holds
the clusters in slots 0..K-1 and has an empty slot K, the new cluster.
"""

from math import exp, log

from dpmlite.core.constants import UNPLACED
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.rows import Rows
from dpmlite.families.component import Component
from dpmlite.partition.crp import log_prob_counts
from dpmlite.partition.partition import Partition
from dpmlite.sweeps.assignment import _mixture_costs, log_weights


def log_density(
    X: Rows | Values, component: Component, alpha: float, out: Buffer, discount: float = 0.0
) -> None:
    """Compute the log predictive density of each row, summed over its cluster: eq. (17).

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
    component : Component
        Clusters and one empty slot.
    alpha : float
        Concentration.
    out : mutable sequence of float, length N
        OUT: log p(x | training rows).
    discount : float, default 0.0
        Discount of the Pitman-Yor process.
    """
    log_mixture_density(X, component, log_weights(component, alpha, discount), out)


def log_mixture_density(
    X: Rows | Values, component: Component, log_weights: Values, out: Buffer
) -> None:
    """Compute the log density of each row under a mixture of all slots.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
    component : Component
        Its slots are the components of the mixture; an empty slot is the prior predictive.
    log_weights : sequence of float
        One for each slot; minus infinity leaves the slot out.
    out : mutable sequence of float, length N
        OUT: log of the sum over slots of weight times predictive density.

    Raises
    ------
    ValueError
        If `log_weights` or `out` has the wrong length.
    """
    for i, costs in enumerate(_mixture_costs(X, component, log_weights, len(out))):
        least = min(costs)
        out[i] = log(sum(exp(least - q) for q in costs)) - least


def responsibilities(
    X: Rows | Values,
    component: Component,
    alpha: float,
    out: Values,
    discount: float = 0.0,
) -> None:
    """Compute the posterior probability of each cluster for each row: normalised terms of eq. (17).

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
    component : Component
        Clusters and one empty slot.
    alpha : float
        Concentration.
    out : sequence of mutable sequences of float, (N, K + 1)
        OUT: probabilities; a new cluster's are in the last column.
    discount : float, default 0.0
        Discount of the Pitman-Yor process.
    """
    mixture_responsibilities(X, component, log_weights(component, alpha, discount), out)


def mixture_responsibilities(
    X: Rows | Values, component: Component, log_weights: Values, out: Values
) -> None:
    """Compute the posterior probability of each slot for each row, under a mixture of all slots.

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
    component : Component
        Its slots are the components of the mixture; an empty slot is the prior predictive.
    log_weights : sequence of float
        One for each slot; minus infinity leaves the slot out.
    out : sequence of mutable sequences of float, (N, K)
        OUT: probabilities; those of a row sum to 1.

    Raises
    ------
    ValueError
        If `log_weights` or `out` has the wrong shape.
    """
    for i, costs in enumerate(_mixture_costs(X, component, log_weights, len(out))):
        least = min(costs)
        if len(out[i]) != len(costs):
            raise ValueError(f"out must have {len(costs)} columns, got {len(out[i])}")
        total = sum(exp(least - q) for q in costs)
        for k, q in enumerate(costs):
            out[i][k] = exp(least - q) / total


def neg_log_loo(partition: Partition) -> float:
    """Compute -log of eq. (16): leave-one-out predictives of all rows times the labels' prior.

    This is the paper's likelihood. Coordinate moves lower the exact joint, not this.

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
    counts, power = [n for n in component.counts if n > 0.0], component.power
    total = -log_prob_counts(counts, partition.alpha, power, partition.discount) / power
    for i in range(partition.n_rows):
        own = partition.labels[i]
        total += partition.costs(i)[own] + partition.member_log_weight(i)
    return total


def own_costs(partition: Partition, out: Buffer, weights: Buffer) -> None:
    """Compute the leave-one-out cost of each row in its own cluster: q of eq. (15) and (22).

    Parameters
    ----------
    partition : Partition
        All its rows must have labels.
    out : mutable sequence of float, length n_rows
        OUT: costs in nats, the cluster's weight included. They are per equal row that a row stands
        for, and in units of the prior, so that costs of different rows can be compared.
    weights : mutable sequence of float, length n_rows
        OUT: number of equal rows that each row stands for.

    Raises
    ------
    ValueError
        If a row has no label, or `out` or `weights` has the wrong length.
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
