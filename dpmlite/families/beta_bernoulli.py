"""Beta-Bernoulli components: independent binary columns, some cells of which may be missing.

In column d of a cluster, x | p ~ Bernoulli(p) and p ~ Beta(a0[d], b0[d]). The posterior of p after
n1 ones and n0 zeros is Beta(a0 + n1, b0 + n0) (Gelman et al. 2013, section 2.4), and the next value
is 1 with probability (a0 + n1) / (a0 + b0 + n1 + n0): Laplace's rule of succession if a0 = b0 = 1.

A missing cell, NaN, is summed over both its values: that is a factor of 1, so it adds nothing to
its column's counts and nothing to a score.
"""

from math import isnan
from typing import Any

from dpmlite.core.checks import check_positive, check_same_length
from dpmlite.core.constants import MIN_KEPT_FRACTION
from dpmlite.core.protocols import Values
from dpmlite.core.rows import Rows
from dpmlite.core.special import digamma, log_rising
from dpmlite.core.statistics_checks import WEIGHT, check_statistics
from dpmlite.families.component import Component, left_of


class BetaBernoulli(Component):
    """Sufficient statistics of beta-Bernoulli clusters.

    Parameters
    ----------
    a0 : sequence of float, length D
        Ones that the prior is worth, in each column.
    b0 : sequence of float, length D
        Zeros that the prior is worth.

    Attributes
    ----------
    n_columns, n_slots, counts
        As `Component`.

    Raises
    ------
    ValueError
        If lengths differ, or a value is not positive.

    Notes
    -----
    In a row, NaN is a missing cell, 0 is a zero, and any other value is a one.
    """

    reads_sparse = True

    def __init__(self, a0: Values, b0: Values) -> None:
        check_same_length("a0", a0, "b0", b0)
        check_positive("a0", a0)
        check_positive("b0", b0)
        super().__init__(len(a0))
        self.a0 = [float(a) for a in a0]
        self.b0 = [float(b) for b in b0]
        self.ones: list[list[float]] = []  # slot, column: weight of the rows with a 1 there
        self.zeros: list[list[float]] = []

    def like(self) -> "BetaBernoulli":
        return BetaBernoulli(self.a0, self.b0)

    def resize(self, n_slots: int) -> None:
        self._check_n_slots(n_slots)
        del self.counts[n_slots:], self.ones[n_slots:], self.zeros[n_slots:]
        for _ in range(n_slots - self.n_slots):
            self.counts.append(0.0)
            self.ones.append([0.0] * self.n_columns)
            self.zeros.append([0.0] * self.n_columns)

    def clear(self, k: int) -> None:
        self._check_slot(k)
        self.counts[k] = 0.0
        self.ones[k] = [0.0] * self.n_columns
        self.zeros[k] = [0.0] * self.n_columns

    def _slot(self, k: int) -> Any:
        return self.counts[k], self.ones[k][:], self.zeros[k][:]

    def _set_slot(self, k: int, slot: Any) -> None:
        self.counts[k], self.ones[k], self.zeros[k] = slot

    def add(self, row: Values, k: int, weight: float = 1.0) -> None:
        self._check_slot(k)
        self._check_row(row)
        for d, x in enumerate(row):
            if not isnan(x):
                self._cells(x, k)[d] += weight
        self.counts[k] += weight

    def remove(self, row: Values, k: int, weight: float = 1.0) -> bool:
        """Take a row out of slot `k`.

        Returns False, and changes nothing, if less than 2^-10 of the slot's weight would be left.
        A count of which but rounding is left becomes 0 (`left_of`).
        """
        self._check_slot(k)
        self._check_row(row)
        left = self.counts[k] - weight
        if left <= 0.0:
            self.clear(k)
            return True
        if left < MIN_KEPT_FRACTION * self.counts[k]:
            return False
        for d, x in enumerate(row):
            if not isnan(x):
                cells = self._cells(x, k)
                cells[d] = left_of(cells[d], weight)
        self.counts[k] = left
        return True

    def merge(self, j: int, k: int) -> None:
        self._check_pair(j, k)
        self.ones[j], self.zeros[j] = self._merged(j, k)
        self.counts[j] += self.counts[k]
        self.clear(k)

    def log_predictive(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Sum over columns of log p(x_d | rows of slot k), which is 0 where x_d is missing.

        Of w = `weight` equal rows: p (p + 1) ... (p + w - 1) / (q (q + 1) ... (q + w - 1)) with p
        the posterior's parameter for the value, and q the sum of both parameters.
        """
        self._check_slot(k)
        self._check_row(row)
        total = 0.0
        for d, x in enumerate(row):
            if not isnan(x):
                a, b = self.a0[d] + self.ones[k][d], self.b0[d] + self.zeros[k][d]
                p = b if x == 0.0 else a
                total += log_rising(p, weight) - log_rising(a + b, weight)
        return total

    def expected_log_density(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Mean of log p(row | p): E[log p] = psi(a) - psi(a + b), E[log(1 - p)] = psi(b) - ..."""
        self._check_slot(k)
        self._check_row(row)
        total = 0.0
        for d, x in enumerate(row):
            if not isnan(x):
                a, b = self.a0[d] + self.ones[k][d], self.b0[d] + self.zeros[k][d]
                total += digamma(b if x == 0.0 else a) - digamma(a + b)
        return weight * total

    def log_marginal(self, k: int) -> float:
        """Sum over columns of log B(a0 + n1, b0 + n0) - log B(a0, b0), B the beta function."""
        self._check_slot(k)
        return self._log_evidence(self.ones[k], self.zeros[k])

    def log_marginal_merged(self, j: int, k: int) -> float:
        self._check_pair(j, k)
        return self._log_evidence(*self._merged(j, k))

    def bound_over(self, X: Rows) -> None:
        """Nothing to prepare: the bound holds for any rows."""

    def log_bound(self, row: Values, k: int, more: float, weight: float = 1.0) -> float:
        """The predictive after `more` replicas of the row: each makes its values more probable.

        In a column, others with the other value, or without one, only make it less so.
        """
        self._check_slot(k)
        self._check_row(row)
        total = 0.0
        for d, x in enumerate(row):
            if not isnan(x):
                a, b = self.a0[d] + self.ones[k][d], self.b0[d] + self.zeros[k][d]
                p = b if x == 0.0 else a
                total += log_rising(p + more, weight) - log_rising(a + b + more, weight)
        return total

    def posterior(self, k: int) -> dict[str, float | list[float]]:
        """Posterior of cluster `k`: "n" rows, and "a" and "b" of each column's beta."""
        self._check_slot(k)
        return {
            "n": self.counts[k],
            "a": [a0 + n1 for a0, n1 in zip(self.a0, self.ones[k], strict=True)],
            "b": [b0 + n0 for b0, n0 in zip(self.b0, self.zeros[k], strict=True)],
        }

    def statistics(self, k: int) -> list[float]:
        self._check_slot(k)
        return [self.counts[k], *self.ones[k], *self.zeros[k]]

    def load(self, k: int, statistics: Values) -> None:
        self._check_slot(k)
        d = self.n_columns
        check_statistics(statistics, (WEIGHT, 1 + 2 * d))
        self.counts[k] = statistics[0]
        self.ones[k] = [statistics[i] for i in range(1, 1 + d)]
        self.zeros[k] = [statistics[i] for i in range(1 + d, 1 + 2 * d)]

    def _cells(self, x: float, k: int) -> list[float]:
        """The counts of slot `k` to which a value belongs."""
        return self.zeros[k] if x == 0.0 else self.ones[k]

    def _merged(self, j: int, k: int) -> tuple[list[float], list[float]]:
        """Ones and zeros of two slots' rows together."""
        ones = [nj + nk for nj, nk in zip(self.ones[j], self.ones[k], strict=True)]
        zeros = [nj + nk for nj, nk in zip(self.zeros[j], self.zeros[k], strict=True)]
        return ones, zeros

    def _log_evidence(self, ones: Values, zeros: Values) -> float:
        """Log p(cells | theta_0) from their counts."""
        total = 0.0
        for a0, b0, n1, n0 in zip(self.a0, self.b0, ones, zeros, strict=True):
            total += log_rising(a0, n1) + log_rising(b0, n0) - log_rising(a0 + b0, n1 + n0)
        return total
