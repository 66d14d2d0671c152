"""Assignment of rows to their most probable clusters, which stay as they are.

Equation numbers are those of Raykov, Boukouvalas & Little (2014). A component given here holds
the clusters in slots 0..K-1 and has an empty slot K, the new cluster.
"""

from collections.abc import Iterator
from math import log

from dpmlite.core.checks import check_discount
from dpmlite.core.constants import TIE, UNPLACED
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.rows import Rows, as_rows
from dpmlite.core.special import log_gamma, log_rising
from dpmlite.families.component import Component


def assign(
    X: Rows | Values,
    component: Component,
    alpha: float,
    out: Buffer,
    rows: Values | None = None,
    discount: float = 0.0,
) -> None:
    """Find the most probable cluster of each row: eq. (18).

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
    component : Component
        Clusters and one empty slot; without the latter, every row gets a cluster.
    alpha : float
        Concentration.
    out : mutable sequence of int, one for each row
        OUT: the slot of the cluster; -1 where a new cluster is most probable.
    rows : sequence of int, optional
        Which rows of X; default: all.
    discount : float, default 0.0
        Discount of the Pitman-Yor process.

    Raises
    ------
    IndexError
        If X has not all of `rows`.
    ValueError
        If `discount` is out of range.
    """
    weights = log_weights(component, alpha, discount)
    for i, costs in enumerate(_mixture_costs(X, component, weights, len(out), rows)):
        least = min(costs)
        k = next(k for k, q in enumerate(costs) if q <= least + TIE)
        out[i] = k if component.counts[k] > 0.0 else UNPLACED


def log_weights(component: Component, alpha: float, discount: float = 0.0) -> list[float]:
    """Log weights of the clusters, and of a new one, for the next row: eq. (2).

    Parameters
    ----------
    component : Component
        Clusters and one empty slot.
    alpha : float
        Concentration.
    discount : float, default 0.0
        Discount of the Pitman-Yor process.

    Returns
    -------
    list of float

    Raises
    ------
    ValueError
        If `discount` is out of range.
    """
    power, total = component.power, alpha + sum(component.counts)
    check_discount(discount, power)
    if power == 1.0:
        new = alpha + discount * sum(n > 0.0 for n in component.counts)
        return [log((n - discount if n > 0.0 else new) / total) for n in component.counts]
    log_total = log_rising(alpha + power * sum(component.counts), power)
    log_new = log(alpha * power) + log_gamma(power)
    return [
        ((log_rising(power * n, power) if n > 0.0 else log_new) - log_total) / power
        for n in component.counts
    ]


def _mixture_costs(
    X: Rows | Values,
    component: Component,
    log_weights: Values,
    n_out: int,
    chosen: Values | None = None,
) -> Iterator[list[float]]:
    """Yield the costs of each row in all slots, -log of the terms of eq. (17).

    Parameters
    ----------
    X : Rows, or sequence of rows (N, D)
    component : Component
        Clusters and one empty slot.
    log_weights : sequence of float
        One for each slot.
    n_out : int
        Length of the caller's output, which must be the number of rows.
    chosen : sequence of int, optional
        Which rows of X; default: all.

    Yields
    ------
    list of float
    """
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
