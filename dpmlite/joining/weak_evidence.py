"""Small components that only weak evidence holds apart from another one.

A Dirichlet process expects new clusters for ever, and the most probable partition of one normal
cluster often has some rows of its tails apart, for a nat or two. Kass & Raftery (1995) call the
evidence strong from a factor of 20 on: three nats of the joint.
"""

from __future__ import annotations

from math import lgamma
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dpmlite.families import Component

# Evidence below this is weak, in nats.
STRONG_EVIDENCE = 3.0

# Components of a greater part of all rows stay apart: the search has weighed them well.
MAX_SHARE = 0.05


def weak_joins(components: Component, log_alpha: float) -> list[tuple[int, int]]:
    """Small components, and the one that each joins, the smallest first.

    Parameters
    ----------
    components : Component
        A slot for each of K components, and an empty one. Those that join are merged in it.
    log_alpha : float
        Log of the concentration.

    Returns
    -------
    list of tuple of two int
        Pairs (j, k): component j joins component k, and what has joined it.
    """
    marginals = {k: components.log_marginal(k) for k, n in enumerate(components.counts) if n > 0.0}
    most = MAX_SHARE * sum(components.counts)
    joins = []
    for j in sorted(marginals, key=lambda slot: components.counts[slot])[:-1]:
        if components.counts[j] > most:
            break
        evidence, k = min(_evidence(components, marginals, j))
        if evidence + log_alpha < STRONG_EVIDENCE:
            joins.append((j, k))
            components.merge(k, j)
            del marginals[j]
            marginals[k] = components.log_marginal(k)
    return joins


def _evidence(
    components: Component, marginals: Mapping[int, float], j: int
) -> Iterator[tuple[float, int]]:
    """Nats by which slot j and another have a better joint than their union, for an alpha of 1."""
    one, together = components.counts[j], components.log_marginals_merged(j)
    for k in marginals:
        if k != j:
            other = components.counts[k]
            prior = lgamma(one) + lgamma(other) - lgamma(one + other)
            yield prior + marginals[j] + marginals[k] - together[k], k
