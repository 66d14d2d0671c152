"""How well rows fit their clusters, and a weighted choice among those that fit worst."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dpmlite import algorithms

if TYPE_CHECKING:
    import numpy.typing as npt

    from dpmlite.partition import Partition
    from dpmlite.search.context import Labels

    Floats = npt.NDArray[np.float64]


@dataclass(eq=False, repr=False)
class RowCosts:
    """Leave-one-out costs of rows in their own clusters.

    Attributes
    ----------
    costs, weights : ndarray, shape (N,)
        The cost of each row where it is, in nats, and its weight.
    falling : ndarray of int, shape (N,)
        Rows in the order of their costs, the greatest first.
    """

    costs: Floats
    weights: Floats
    falling: Labels = field(init=False)

    def __post_init__(self) -> None:
        self.falling = np.argsort(self.costs)[::-1]

    @classmethod
    def of(cls, partition: Partition) -> RowCosts:
        """Costs of the rows of a partition."""
        costs, weights = np.empty(partition.n_rows), np.empty(partition.n_rows)
        algorithms.own_costs(partition, costs, weights)
        return cls(costs, weights)

    def worst(self, fraction: float, slack: float) -> Labels:
        """Rows of the greatest costs that have at most a fraction of all weight, ascending.

        At least one. Among rows within `slack` of the first that is left out, those with the
        smallest numbers: neither rounding nor the order of a sort, which differs between
        processors, chooses.
        """
        weight = fraction * self.weights.sum()
        n_fitting = np.searchsorted(np.cumsum(self.weights[self.falling]), weight, "right")
        cut = self.costs[self.falling[min(n_fitting, len(self.costs) - 1)]]
        above = np.flatnonzero(self.costs > cut + slack)
        tied = np.flatnonzero(np.abs(self.costs - cut) <= slack)
        left = weight - self.weights[above].sum()
        n_tied = np.searchsorted(np.cumsum(self.weights[tied]), left, "right")
        least = 0 if len(above) else 1
        return np.sort(np.concatenate([above, tied[: max(least, n_tied)]]))


def drawn(rows: Labels, n: int, weights: Floats, rng: np.random.Generator) -> Labels:
    """`n` different rows, or all if there are fewer, with chances in proportion to weights."""
    if weights.min() == weights.max():
        return rng.choice(rows, min(n, len(rows)), replace=False)
    # As if rows came one by one at these rates (Efraimidis & Spirakis 2006).
    return rows[np.argsort(rng.exponential(size=len(rows)) / weights)[:n]]
