"""Categorical components: independent columns of levels, some cells of which may be missing.

In column d of a cluster, x | p ~ Categorical(p) over L_d levels, and p ~ Dirichlet(beta0[d]). The
posterior of p adds to each level's beta the number n_l of its cells (Gelman et al. 2013, section
3.4). With B the sum of the betas, a cell after n others is of level l with probability
(beta_l + n_l) / (B + n).

A missing cell, NaN, is summed over all levels: that is a factor of 1, so it adds nothing to its
column's counts and nothing to a score.

With a power zeta of the likelihood, rows count as zeta rows. Counts are kept as whole rows, and
log densities are those of zeta rows divided by zeta.
"""

from math import isnan
from typing import Any

from dpmlite.core.checks import check_levels, check_power
from dpmlite.core.constants import MIN_KEPT_FRACTION
from dpmlite.core.protocols import Values
from dpmlite.core.rows import Rows
from dpmlite.core.special import digamma, log_rising
from dpmlite.core.statistics_checks import WEIGHT, check_statistics
from dpmlite.families.component import Component, left_of


class Categorical(Component):
    """Sufficient statistics of Dirichlet-categorical clusters.

    Parameters
    ----------
    beta0 : sequence of sequences of float, length D
        Cells that the prior is worth, of each level of each column.
    power : float, default 1.0
        Power zeta of the likelihood, at most 1.

    Attributes
    ----------
    n_columns, n_slots, counts, power
        As `Component`.

    Raises
    ------
    ValueError
        If a column has no level, a value is not positive, or `power` is out of range.

    Notes
    -----
    In a row, NaN is a missing cell, and any other value is the index of a level: its whole part,
    clipped to 0 .. L_d - 1.
    """

    def __init__(self, beta0: Values, power: float = 1.0) -> None:
        check_levels("beta0", beta0)
        check_power(power)
        super().__init__(len(beta0))
        self.power = float(power)
        self.beta0 = [[float(b) for b in column] for column in beta0]
        self.cells: list[list[list[float]]] = []  # slot, column, level: weight of the cells

    def with_power(self, power: float) -> "Categorical":
        return Categorical(self.beta0, power)

    def resize(self, n_slots: int) -> None:
        self._check_n_slots(n_slots)
        del self.counts[n_slots:], self.cells[n_slots:]
        for _ in range(n_slots - self.n_slots):
            self.counts.append(0.0)
            self.cells.append(self._no_cells())

    def clear(self, k: int) -> None:
        self._check_slot(k)
        self.counts[k] = 0.0
        self.cells[k] = self._no_cells()

    def _slot(self, k: int) -> Any:
        return self.counts[k], [column[:] for column in self.cells[k]]

    def _set_slot(self, k: int, slot: Any) -> None:
        self.counts[k], self.cells[k] = slot

    def add(self, row: Values, k: int, weight: float = 1.0) -> None:
        self._check_slot(k)
        for d, level in self._observed(row):
            self.cells[k][d][level] += weight
        self.counts[k] += weight

    def remove(self, row: Values, k: int, weight: float = 1.0) -> bool:
        """Take a row out of slot `k`.

        Returns False, and changes nothing, if less than 2^-10 of the slot's weight would be left.
        A count of which but rounding is left becomes 0 (`left_of`).
        """
        self._check_slot(k)
        observed = self._observed(row)
        left = self.counts[k] - weight
        if left <= 0.0:
            self.clear(k)
            return True
        if left < MIN_KEPT_FRACTION * self.counts[k]:
            return False
        for d, level in observed:
            self.cells[k][d][level] = left_of(self.cells[k][d][level], weight)
        self.counts[k] = left
        return True

    def merge(self, j: int, k: int) -> None:
        self._check_pair(j, k)
        self.cells[j] = self._merged(j, k)
        self.counts[j] += self.counts[k]
        self.clear(k)

    def log_predictive(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Sum over columns of log p(x_d | rows of slot k), which is 0 where x_d is missing.

        Of w = `weight` equal rows: b (b + 1) ... (b + w - 1) / (B (B + 1) ... (B + w - 1)) with b
        the posterior's parameter of the level, and B the sum of those of all levels.
        """
        return self.log_bound(row, k, 0.0, weight)

    def expected_log_density(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Mean of log p(row | p): in each column E[log p_l] = psi(b_l) - psi(B)."""
        self._check_slot(k)
        if self.power != 1.0:
            raise ValueError(f"power must be 1 for expected log densities, got {self.power}")
        total = 0.0
        for d, level in self._observed(row):
            own, both = self._parameters(k, d, level)
            total += digamma(own) - digamma(both)
        return weight * total

    def log_marginal(self, k: int) -> float:
        """Sum over columns of log of the ratio of the Dirichlets' normalising constants."""
        self._check_slot(k)
        return self._log_evidence(self.cells[k])

    def log_marginal_merged(self, j: int, k: int) -> float:
        self._check_pair(j, k)
        return self._log_evidence(self._merged(j, k))

    def bound_over(self, X: Rows) -> None:
        """Nothing to prepare: the bound holds for any rows."""

    def log_bound(self, row: Values, k: int, more: float, weight: float = 1.0) -> float:
        """The predictive after `more` replicas of the row: each makes its levels more probable.

        In a column, others of another level, or without one, only make them less so.
        """
        self._check_slot(k)
        extra, w, total = self.power * more, self.power * weight, 0.0
        for d, level in self._observed(row):
            own, both = self._parameters(k, d, level)
            total += log_rising(own + extra, w) - log_rising(both + extra, w)
        return total / self.power

    def posterior(self, k: int) -> dict[str, float | list[list[float]]]:
        """Posterior of cluster `k`: "n" rows, and "beta" of each level of each column."""
        self._check_slot(k)
        columns = zip(self.beta0, self.cells[k], strict=True)
        return {
            "n": self.counts[k],
            "beta": [
                [b + self.power * n for b, n in zip(beta0, cells, strict=True)]
                for beta0, cells in columns
            ],
        }

    def statistics(self, k: int) -> list[float]:
        self._check_slot(k)
        return [self.counts[k]] + [n for column in self.cells[k] for n in column]

    def load(self, k: int, statistics: Values) -> None:
        self._check_slot(k)
        check_statistics(statistics, (WEIGHT, 1 + sum(len(beta0) for beta0 in self.beta0)))
        self.counts[k] = statistics[0]
        at = 1
        for d, beta0 in enumerate(self.beta0):
            self.cells[k][d] = [statistics[i] for i in range(at, at + len(beta0))]
            at += len(beta0)

    def _no_cells(self) -> list[list[float]]:
        return [[0.0] * len(beta0) for beta0 in self.beta0]

    def _observed(self, row: Values) -> list[tuple[int, int]]:
        """The columns that the row has a value of, and the levels there."""
        self._check_row(row)
        return [
            (d, int(min(max(x, 0.0), len(self.beta0[d]) - 1.0)))
            for d, x in enumerate(row)
            if not isnan(x)
        ]

    def _parameters(self, k: int, d: int, level: int) -> tuple[float, float]:
        """The posterior's parameter of a level, and the sum of those of its column."""
        beta0, cells = self.beta0[d], self.cells[k][d]
        return beta0[level] + self.power * cells[level], sum(beta0) + self.power * sum(cells)

    def _merged(self, j: int, k: int) -> list[list[float]]:
        """Cells of two slots' rows together."""
        columns = zip(self.cells[j], self.cells[k], strict=True)
        return [[nj + nk for nj, nk in zip(cj, ck, strict=True)] for cj, ck in columns]

    def _log_evidence(self, cells: list[list[float]]) -> float:
        """Log p(cells | theta_0), divided by the power, from their counts."""
        total = 0.0
        for beta0, column in zip(self.beta0, cells, strict=True):
            total -= log_rising(sum(beta0), self.power * sum(column))
            for b, n in zip(beta0, column, strict=True):
                total += log_rising(b, self.power * n)
        return total / self.power
