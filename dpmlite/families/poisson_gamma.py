"""Poisson-gamma components: independent columns of counts of events, some cells missing.

In column d of a cluster, x | lambda ~ Poisson(lambda) and lambda ~ Gamma(a0[d], rate b0[d]). The
posterior of lambda after n cells that add up to S is Gamma(a, b) with a = a0 + S and b = b0 + n
(Gelman et al. 2013, section 2.6), and the next cell is negative binomial,

    log p(x) = log Gamma(a + x) / Gamma(a) + a log(b / (b + 1)) - x log(b + 1) - log x!.

A missing cell, NaN, is summed over all counts: that is a factor of 1.

With a power zeta of the likelihood, rows count as zeta rows. Counts are kept as whole rows, and
log densities are those of zeta rows divided by zeta.
"""

from math import isnan, log, log1p
from typing import Any

from dpmlite.core.checks import check_positive, check_power, check_same_length
from dpmlite.core.constants import MIN_KEPT_FRACTION
from dpmlite.core.protocols import Values
from dpmlite.core.special import digamma, log_rising
from dpmlite.core.statistics_checks import LOG_FACTORIALS, WEIGHT, WORDS, check_statistics
from dpmlite.families.component import Component, left_of


class PoissonGamma(Component):
    """Sufficient statistics of Poisson-gamma clusters.

    Parameters
    ----------
    a0 : sequence of float, length D
        Shapes of the rates' gamma priors: events that a prior is worth.
    b0 : sequence of float, length D
        Rates of the rates' gamma priors: cells that a prior is worth.
    power : float, default 1.0
        Power zeta of the likelihood, at most 1.

    Attributes
    ----------
    n_columns, n_slots, counts, power
        As `Component`.

    Raises
    ------
    ValueError
        If lengths differ, a value is not positive, or `power` is out of range.

    Notes
    -----
    In a row, NaN is a missing cell, and a number below 0 counts as 0.
    """

    def __init__(self, a0: Values, b0: Values, power: float = 1.0) -> None:
        check_same_length("a0", a0, "b0", b0)
        check_positive("a0", a0)
        check_positive("b0", b0)
        check_power(power)
        super().__init__(len(a0))
        self.power = float(power)
        self.a0 = [float(a) for a in a0]
        self.b0 = [float(b) for b in b0]
        self.sums: list[list[float]] = []  # slot, column: sum of the cells
        self.cells: list[list[float]] = []  # slot, column: weight of the cells
        self.log_factorials: list[float] = []  # slot: sum over all cells of log x!
        self.kept: list[float] = []  # slot: what removals left of them, least fraction

    def with_power(self, power: float) -> "PoissonGamma":
        return PoissonGamma(self.a0, self.b0, power)

    def resize(self, n_slots: int) -> None:
        self._check_n_slots(n_slots)
        for values in (self.counts, self.sums, self.cells, self.log_factorials, self.kept):
            del values[n_slots:]
        for k in range(self.n_slots, n_slots):
            self.counts.append(0.0)
            self.sums.append([])
            self.cells.append([])
            self.log_factorials.append(0.0)
            self.kept.append(1.0)
            self.clear(k)

    def clear(self, k: int) -> None:
        self._check_slot(k)
        self.counts[k], self.log_factorials[k], self.kept[k] = 0.0, 0.0, 1.0
        self.sums[k] = [0.0] * len(self.a0)
        self.cells[k] = [0.0] * len(self.a0)

    def _slot(self, k: int) -> Any:
        return (
            self.counts[k],
            self.sums[k][:],
            self.cells[k][:],
            self.log_factorials[k],
            self.kept[k],
        )

    def _set_slot(self, k: int, slot: Any) -> None:
        self.counts[k], self.sums[k], self.cells[k], self.log_factorials[k], self.kept[k] = slot

    def add(self, row: Values, k: int, weight: float = 1.0) -> None:
        self._check_slot(k)
        for d, x, e in self._observed(row):
            self.sums[k][d] += weight * x
            self.cells[k][d] += weight * e
            self.log_factorials[k] += weight * _log_factorial(x, e)
        self.counts[k] += weight

    def remove(self, row: Values, k: int, weight: float = 1.0) -> bool:
        """Take a row out of slot `k`.

        Returns False, and changes nothing, if less than 2^-10 of the slot's weight would be left,
        or if removals would have left less than that of a column's a, or of 1 + sum of log x!.
        """
        self._check_slot(k)
        observed = self._observed(row)
        left = self.counts[k] - weight
        if left <= 0.0:
            self.clear(k)
            return True
        sums, cells = self.sums[k][:], self.cells[k][:]
        log_factorials = self.log_factorials[k]
        for d, x, e in observed:
            sums[d] = left_of(sums[d], weight * x)
            cells[d] = left_of(cells[d], weight * e)
            log_factorials = self._left_of_log(log_factorials, weight * _log_factorial(x, e))
        kept = self.kept[k] * self._kept_by(k, sums, cells, log_factorials)
        if kept < MIN_KEPT_FRACTION or left < MIN_KEPT_FRACTION * self.counts[k]:
            return False
        self.counts[k], self.sums[k], self.cells[k] = left, sums, cells
        self.log_factorials[k], self.kept[k] = log_factorials, kept
        return True

    def merge(self, j: int, k: int) -> None:
        self._check_pair(j, k)
        self.sums[j], self.cells[j], self.log_factorials[j] = self._merged(j, k)
        self.counts[j] += self.counts[k]
        self.kept[j] = min(self.kept[j], self.kept[k])
        self.clear(k)

    def log_predictive(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Sum over columns of log p(x_d | rows of slot k), which is 0 where x_d is missing.

        It is that of w = `weight` equal rows: a marginal of w cells more, that add up to w x.
        """
        self._check_slot(k)
        w, total = self.power * weight, 0.0
        for d, x, e in self._observed(row):
            a, b = self._parameters(k, d)
            total += log_rising(a, w * x) - a * log1p(w * e / b) - w * x * log(b + w * e)
            total -= w * _log_factorial(x, e)
        return total / self.power

    def expected_log_density(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Mean of x log(lambda) - lambda - log x!: E[log lambda] = psi(a) - log b."""
        self._check_slot(k)
        if self.power != 1.0:
            raise ValueError(f"power must be 1 for expected log densities, got {self.power}")
        total = 0.0
        for d, x, e in self._observed(row):
            a, b = self._parameters(k, d)
            total += x * (digamma(a) - log(b)) - e * a / b - _log_factorial(x, e)
        return weight * total

    def log_marginal(self, k: int) -> float:
        """Logs of the ratios of the gammas' normalising constants, less log x! of all cells."""
        self._check_slot(k)
        return self._log_evidence(self.sums[k], self.cells[k], self.log_factorials[k])

    def log_marginal_merged(self, j: int, k: int) -> float:
        self._check_pair(j, k)
        return self._log_evidence(*self._merged(j, k))

    def posterior(self, k: int) -> dict[str, float | list[float]]:
        """Posterior of cluster `k`: "n" rows, and "a" and "b" of each column's gamma."""
        self._check_slot(k)
        parameters = [self._parameters(k, d) for d in range(len(self.a0))]
        return {
            "n": self.counts[k],
            "a": [a for a, _ in parameters],
            "b": [b for _, b in parameters],
        }

    def statistics(self, k: int) -> list[float]:
        self._check_slot(k)
        return [self.counts[k], *self.sums[k], *self.cells[k], self.log_factorials[k]]

    def load(self, k: int, statistics: Values) -> None:
        self._check_slot(k)
        d = len(self.a0)
        self._check_statistics(statistics, d)
        self.counts[k] = statistics[0]
        self.sums[k] = [statistics[i] for i in range(1, 1 + d)]
        self.cells[k] = [statistics[i] for i in range(1 + d, 1 + 2 * d)]
        self.log_factorials[k], self.kept[k] = statistics[1 + 2 * d], 1.0

    def _check_statistics(self, statistics: Values, d: int) -> None:
        check_statistics(statistics, (WEIGHT, 1), (WORDS, d), (WEIGHT, d), (LOG_FACTORIALS, 1))

    def _observed(self, row: Values) -> list[tuple[int, float, float]]:
        """The columns that the row has a count of, the counts, and their exposures: 1."""
        self._check_row(row)
        return [(d, max(float(x), 0.0), 1.0) for d, x in enumerate(row) if not isnan(x)]

    def _left_of_log(self, log_factorials: float, of_row: float) -> float:
        return left_of(log_factorials, of_row)

    def _kept_by(self, k: int, sums: Values, cells: Values, log_factorials: float) -> float:
        """The least fraction that a removal leaves of slot `k`, of which this is the rest."""
        power = self.power
        kept = (1.0 + power * log_factorials) / (1.0 + power * self.log_factorials[k])
        for a0, after, before in zip(self.a0, sums, self.sums[k], strict=True):
            kept = min(kept, (a0 + power * after) / (a0 + power * before))
        return kept

    def _parameters(self, k: int, d: int) -> tuple[float, float]:
        """The posterior's a and b in column `d`."""
        a = self.a0[d] + self.power * self.sums[k][d]
        return a, self.b0[d] + self.power * self.cells[k][d]

    def _merged(self, j: int, k: int) -> tuple[list[float], list[float], float]:
        """Sums, weights and logs of factorials of two slots' cells together."""
        sums = [sj + sk for sj, sk in zip(self.sums[j], self.sums[k], strict=True)]
        cells = [nj + nk for nj, nk in zip(self.cells[j], self.cells[k], strict=True)]
        return sums, cells, self.log_factorials[j] + self.log_factorials[k]

    def _log_evidence(self, sums: Values, cells: Values, log_factorials: float) -> float:
        """Log p(cells | theta_0), divided by the power, from their sums and weights."""
        total = 0.0
        for a0, b0, s, n in zip(self.a0, self.b0, sums, cells, strict=True):
            s, n = self.power * s, self.power * n
            total += log_rising(a0, s) - a0 * log1p(n / b0) - s * log(b0 + n)
        return total / self.power - log_factorials


def _log_factorial(x: float, exposure: float) -> float:
    """Log of x! / exposure^x."""
    return log_rising(1.0, x) - x * log(exposure)
