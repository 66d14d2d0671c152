"""Products of components: columns of different kinds, which are independent within a cluster.

Each part has some columns next to one another, in order. Since parts are independent given the
labels, log densities of the product are sums of those of its parts.
"""

from collections.abc import Sequence
from math import isnan
from typing import Any

from dpmlite.core.protocols import Values
from dpmlite.core.rows import Rows
from dpmlite.core.statistics_checks import check_number
from dpmlite.families.component import Component


class Product(Component):
    """Sufficient statistics of clusters whose columns belong to several families.

    Parameters
    ----------
    parts : sequence of Component
        Families and priors, in the order of their columns; slots are not taken over. Rows are
        dense.

    Attributes
    ----------
    n_columns, n_slots, counts, log_scale, power
        As `Component`; the power is that of all parts.
    parts : list of Component
        Components that hold the statistics.

    Raises
    ------
    ValueError
        If there is no part, or parts differ in their power.
    """

    def __init__(self, parts: Sequence[Component]) -> None:
        if len(parts) == 0:
            raise ValueError("parts must not be empty")
        for part in parts:
            if part.power != parts[0].power:
                raise ValueError(
                    f"parts must have the same power, got {parts[0].power} and {part.power}"
                )
        self.parts = [part.like() for part in parts]
        super().__init__(sum(part.n_columns for part in self.parts))
        self.log_scale = sum(part.log_scale for part in self.parts)
        self.power = self.parts[0].power

    def like(self) -> "Product":
        return Product(self.parts)

    def with_power(self, power: float) -> "Product":
        return Product([part.with_power(power) for part in self.parts])

    def resize(self, n_slots: int) -> None:
        self._check_n_slots(n_slots)
        for part in self.parts:
            part.resize(n_slots)
        self._count()

    def clear(self, k: int) -> None:
        self._check_slot(k)
        for part in self.parts:
            part.clear(k)
        self._count()

    def copy(self, k: int, other: "Component", j: int) -> None:
        self._check_slot(k)
        self._check_same(other)
        other._check_slot(j)
        theirs = other.parts  # type: ignore[attr-defined]
        for part, its_twin in zip(self.parts, theirs, strict=True):
            part.copy(k, its_twin, j)
        self._count()

    def add(self, row: Values, k: int, weight: float = 1.0) -> None:
        self._check_slot(k)
        for part, cells in self._cells(row):
            part.add(cells, k, weight)
        self._count()

    def remove(self, row: Values, k: int, weight: float = 1.0) -> bool:
        """Take a row out of slot `k`; returns False, and changes nothing, if a part returns it."""
        self._check_slot(k)
        cells = self._cells(row)
        if any(isnan(part.log_predictive_member(x, k, weight)) for part, x in cells):
            return False
        for part, x in cells:
            part.remove(x, k, weight)
        self._count()
        return True

    def merge(self, j: int, k: int) -> None:
        self._check_pair(j, k)
        for part in self.parts:
            part.merge(j, k)
        self._count()

    def log_predictive(self, row: Values, k: int, weight: float = 1.0) -> float:
        self._check_slot(k)
        return sum(part.log_predictive(x, k, weight) for part, x in self._cells(row))

    def _log_scale_of(self, row: Values) -> float:
        return sum(part._log_scale_of(x) for part, x in self._cells(row))

    def log_predictive_member(self, row: Values, k: int, weight: float = 1.0) -> float:
        self._check_slot(k)
        return sum(part.log_predictive_member(x, k, weight) for part, x in self._cells(row))

    def expected_log_density(self, row: Values, k: int, weight: float = 1.0) -> float:
        self._check_slot(k)
        return sum(part.expected_log_density(x, k, weight) for part, x in self._cells(row))

    def _check_expectations(self) -> None:
        for part in self.parts:
            part._check_expectations()

    def log_marginal(self, k: int) -> float:
        self._check_slot(k)
        return sum(part.log_marginal(k) for part in self.parts)

    def log_marginal_merged(self, j: int, k: int) -> float:
        self._check_pair(j, k)
        return sum(part.log_marginal_merged(j, k) for part in self.parts)

    def bound_over(self, X: Rows) -> None:
        first = 0
        for part in self.parts:
            last = first + part.n_columns
            part.bound_over(Rows([X.values(i)[first:last] for i in range(len(X))]))
            first = last

    def log_bound(self, row: Values, k: int, more: float, weight: float = 1.0) -> float:
        """The sum of the parts' bounds: each holds whatever the others are."""
        self._check_slot(k)
        return sum(part.log_bound(x, k, more, weight) for part, x in self._cells(row))

    def posterior(self, k: int) -> dict[str, Any]:
        """Posterior of cluster `k`: "n" rows, and in "parts" the posterior of each part."""
        self._check_slot(k)
        return {"n": self.counts[k], "parts": [part.posterior(k) for part in self.parts]}

    def statistics(self, k: int) -> list[float]:
        self._check_slot(k)
        return [self.counts[k]] + [x for part in self.parts for x in part.statistics(k)]

    def load(self, k: int, statistics: Values) -> None:
        self._check_slot(k)
        sizes = [len(part.statistics(k)) for part in self.parts]
        check_number(statistics, 1 + sum(sizes))
        first = 1
        for part, size in zip(self.parts, sizes, strict=True):
            part.load(k, [statistics[i] for i in range(first, first + size)])
            first += size
        self._count()

    def _cells(self, row: Values) -> list[tuple[Component, Values]]:
        """The parts, and the cells of a row that each has."""
        self._check_row(row)
        pairs: list[tuple[Component, Values]] = []
        first = 0
        for part in self.parts:
            last = first + part.n_columns
            pairs.append((part, [row[d] for d in range(first, last)]))
            first = last
        return pairs

    def _count(self) -> None:
        """Every part holds all rows, whatever their cells are."""
        self.counts = list(self.parts[0].counts)
