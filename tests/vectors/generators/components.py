"""Component families: what each is asked, and the checks that all share.

A row of weight w has the likelihood p(row | theta)^w: it stands for w equal rows, and w need be no
whole number.
"""

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple

from mpmath import fsum, loggamma, mpf

from generators.format import agree, case, decimal

CHAIN_ROWS = 10  # the chain rule is walked over so many rows, the last ones of a cluster
REPEATED_ROWS = 60  # rows of whole weights are written out if they are no more than this
ROUGHLY = mpf(10) ** -10  # quadratures agree to this part of a value; they use doubles

Row = Sequence[float | None]  # None is a missing cell


class Weighted(NamedTuple):
    """A row, and how many equal rows it stands for."""

    row: Row
    weight: float = 1.0


Cluster = Sequence[Weighted]


class Family(NamedTuple):
    """The equations of a family. The prior of its cases is a named tuple of its own.

    `log_predictive(row, cluster, prior)` is log p(row | cluster) and `log_marginal(cluster,
    prior)` is log p(cluster | theta_0), from different equations. `log_quadrature(cluster, prior)`
    is the same integral over theta, by brute force.
    """

    log_predictive: Callable[[Weighted, Cluster, Any], mpf]
    log_marginal: Callable[[Cluster, Any], mpf]
    log_quadrature: Callable[[Cluster, Any], float] | None = None


def component_case(
    family: Family,
    what: str,
    prior: Any,
    rows: Sequence[Row],
    other: Sequence[Row],
    query: Row,
    weights: Sequence[float] = (),
    tolerance: dict | None = None,
    integrate: bool = False,
) -> dict:
    """Scores of a cluster; with weights, the query has the last row's and the others have 1.5."""
    cluster, others, asked = weighted(rows, weights), weighted(other), Weighted(query)
    left_out = sorted({0, len(rows) - 1}) if rows else []
    given = {"prior": prior._asdict(), "rows": rows, "other": other}
    given |= {"query": query, "left_out": left_out}
    if weights:
        others, asked = weighted(other, [1.5] * len(other)), Weighted(query, weights[-1])
        given |= {"weights": weights, "other_weights": [w for _, w in others]}
        given |= {"query_weight": asked.weight}
    marginal = log_marginal(family, cluster, prior)
    if integrate:
        agree(marginal, mpf(family.log_quadrature(cluster, prior)), ROUGHLY)
    rests = [[*cluster[:i], *cluster[i + 1 :]] for i in left_out]
    members = [cluster[i] for i in left_out]
    expected = {
        "log_predictive_empty": decimal(log_predictive(family, asked, [], prior)),
        "log_predictive": decimal(log_predictive(family, asked, cluster, prior)),
        "log_predictive_member": [
            decimal(log_predictive(family, member, rest, prior))
            for member, rest in zip(members, rests, strict=True)
        ],
        "log_marginal": decimal(marginal),
        "log_marginal_merged": decimal(log_marginal(family, [*cluster, *others], prior)),
    }
    return case(what, given, expected, tolerance)


def weighted(rows: Sequence[Row], weights: Sequence[float] = ()) -> list[Weighted]:
    """Rows with their weights, or of weight 1."""
    return [Weighted(r, w) for r, w in zip(rows, weights or [1.0] * len(rows), strict=True)]


def log_predictive(family: Family, row: Weighted, cluster: Cluster, prior: Any) -> mpf:
    """Log p(row | cluster); it must be a ratio of marginals."""
    ratio = family.log_marginal([*cluster, row], prior) - family.log_marginal(cluster, prior)
    return agree(family.log_predictive(row, cluster, prior), ratio)


def log_marginal(family: Family, cluster: Cluster, prior: Any) -> mpf:
    """Log p(cluster | theta_0); it must be the product of the predictives in turn.

    And a row of weight 3 must be worth three rows.
    """
    value = family.log_marginal(cluster, prior)
    first = max(0, len(cluster) - CHAIN_ROWS)
    steps = (
        family.log_predictive(cluster[i], cluster[:i], prior) for i in range(first, len(cluster))
    )
    agree(value, family.log_marginal(cluster[:first], prior) + fsum(steps))
    weights = [weight for _, weight in cluster]
    whole = all(weight == int(weight) for weight in weights)
    if whole and len(cluster) < sum(weights) <= REPEATED_ROWS:
        repeated = [Weighted(row) for row, weight in cluster for _ in range(int(weight))]
        agree(value, family.log_marginal(repeated, prior))
    return value


def total_weight(cluster: Cluster) -> mpf:
    return fsum(weight for _, weight in cluster)


@cache
def log_gamma(x: mpf) -> mpf:
    """`loggamma`, remembered: few different arguments occur, but very often."""
    return loggamma(x)


def log_rising(x: mpf, n: mpf) -> mpf:
    """Log of x (x + 1) ... (x + n - 1) = Gamma(x + n) / Gamma(x)."""
    return log_gamma(x + n) - log_gamma(x)


def draw(rng: Random, n: int, step: float = 0.25, spread: float = 3.0) -> list[float]:
    """Bell-shaped multiples of `step`; `random()` is the same in every version of Python."""
    return [
        round((sum(rng.random() for _ in range(4)) - 2) * spread / step) * step for _ in range(n)
    ]


def with_gaps(rng: Random, rows: Sequence[Row]) -> list[Row]:
    """The rows without about a quarter of their cells."""
    return [[None if rng.random() < 0.25 else x for x in row] for row in rows]
