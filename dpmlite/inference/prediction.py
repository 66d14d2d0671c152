"""Prediction for new rows, and the leave-one-out likelihood of old ones.

Equation numbers are those of Raykov, Boukouvalas & Little (2014). A component given here holds
the clusters in slots 0..K-1 and has an empty slot K, the new cluster.
"""

from collections.abc import Iterator
from math import exp, log

from dpmlite._types import Buffer, Values
from dpmlite.inference.map_dpm import check_n_threads
from dpmlite.models.component import Component
from dpmlite.models.crp import log_prob_counts
from dpmlite.models.partition import TIE, UNPLACED, Partition
from dpmlite.models.rows import Rows, as_rows

NEW_CLUSTER = UNPLACED


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
    for i, costs in enumerate(_costs(X, component, log_weights, len(out))):
        least = min(costs)
        out[i] = log(sum(exp(least - q) for q in costs)) - least


def log_weights(component: Component, alpha: float) -> list[float]:
    """Log weights of the clusters, and of a new one, for the next row: eq. (2).

    Parameters
    ----------
    component : Component
        Clusters and one empty slot.
    alpha : float
        Concentration.

    Returns
    -------
    list of float
    """
    total = alpha + sum(component.counts)
    return [log((n if n > 0.0 else alpha) / total) for n in component.counts]


def assign(
    X: Rows | Values,
    component: Component,
    alpha: float,
    out: Buffer,
    n_threads: int = 1,
    rows: Values | None = None,
) -> None:
    """The most probable cluster of each row: eq. (18).

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
    component : Component
        Clusters and one empty slot; without it, every row gets a cluster.
    alpha : float
        Concentration.
    out : mutable sequence of int, one for each row
        OUT: slots; -1 where a new cluster is most probable.
    n_threads : int, default 1
        Threads of the kernel that share the rows.
    rows : sequence of int, optional
        Which rows of X; default: all.

    Raises
    ------
    ValueError
        If `n_threads` is not positive.
    IndexError
        If X has not all of `rows`.
    """
    check_n_threads(n_threads)
    weights = log_weights(component, alpha)
    for i, costs in enumerate(_costs(X, component, weights, len(out), rows)):
        least = min(costs)
        k = next(k for k, q in enumerate(costs) if q <= least + TIE)
        out[i] = k if component.counts[k] > 0.0 else NEW_CLUSTER


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
    for i, costs in enumerate(_costs(X, component, log_weights, len(out))):
        least = min(costs)
        if len(out[i]) != len(costs):
            raise ValueError(f"out must have {len(costs)} columns, got {len(out[i])}")
        total = sum(exp(least - q) for q in costs)
        for k, q in enumerate(costs):
            out[i][k] = exp(least - q) / total


def neg_log_loo(partition: Partition, n_threads: int = 1) -> float:
    """-log of eq. (16): leave-one-out predictives of all rows, times the prior of the labels.

    It is the paper's likelihood. Coordinate moves lower the exact joint, not this.

    Parameters
    ----------
    partition : Partition
        All its rows must have labels.
    n_threads : int, default 1
        The result does not depend on it.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a row has no label, or `n_threads` is not positive.
    """
    check_n_threads(n_threads)
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


def _costs(
    X: Rows | Values,
    component: Component,
    log_weights: Values,
    n_out: int,
    chosen: Values | None = None,
) -> Iterator[list[float]]:
    """For each row, or each of some, -log of the terms of eq. (17)."""
    rows = as_rows(X)
    if chosen is None:
        chosen = range(len(rows))
    if n_out != len(chosen):
        raise ValueError(f"out must be for {len(chosen)} rows, got {n_out}")
    for i in chosen:
        rows._check_row(i)
    component._check_rows(rows)
    if len(log_weights) != component.n_slots:
        raise ValueError(
            f"log_weights must have {component.n_slots} values, got {len(log_weights)}"
        )
    for i in chosen:
        scores = component.log_predictive_all(rows.values(i), rows.weight(i))
        yield [-w - p for w, p in zip(log_weights, scores, strict=True)]
