"""Normal-gamma components: independent columns, each normal with unknown mean and precision.

The prior of a cluster's column d is NG(m0[d], c0, a0, b0[d]), eq. (8) of Raykov, Boukouvalas &
Little (2014); its posterior is again normal-gamma with the parameters of eq. (13).

Rows are held in units of the prior, u = (x - m0) / sqrt(b0). Then m0 = 0 and b0 = 1 in every
column: labels cannot depend on the units or the origin of the data, no precision is lost on
data far from zero, and b >= 1 always.

With a power zeta of the likelihood, the coarsened posterior of Miller & Dunson (2019) is that of
rows of weight zeta. All of it is kept divided by zeta: from the prior NG(m0, c0 / zeta, a0 / zeta,
b0 / zeta), whole rows lead to c / zeta, a / zeta and b / zeta by eq. (13) as it is. In log
densities divided by zeta, only two functions of counts differ from those of zeta = 1: the log of
Gamma(a + h) / Gamma(a) is taken at zeta a and zeta h and divided by zeta, and so is
log(1 + n / c0).
"""

from math import log, log1p, pi, sqrt
from typing import Any

from dpmlite.core.checks import check_positive, check_power, check_same_length
from dpmlite.core.constants import MAX_PRIOR_UNITS, MIN_KEPT_FRACTION
from dpmlite.core.protocols import Values
from dpmlite.core.special import digamma, log_rising
from dpmlite.core.statistics_checks import RATES, UNITS, WEIGHT, check_statistics
from dpmlite.families.component import Component
from dpmlite.families.student_t import log_student_t


class NormalGamma(Component):
    """Sufficient statistics of normal-gamma clusters.

    Parameters
    ----------
    m0 : sequence of float, length D
        Prior means.
    c0 : float
        Rows that the prior mean is worth.
    a0 : float
        Shape of the precisions' gamma prior.
    b0 : sequence of float, length D
        Rates of the precisions' gamma prior.
    power : float, default 1.0
        Power zeta of the likelihood, at most 1.

    Attributes
    ----------
    n_columns, n_slots, counts, power
        As `Component`.

    Raises
    ------
    ValueError
        If `m0` and `b0` differ in length, another parameter is not positive, or `power` is above 1.

    Notes
    -----
    A value further than 2^29 from m0, in units of sqrt(b0 / power), counts as lying there.
    """

    def __init__(self, m0: Values, c0: float, a0: float, b0: Values, power: float = 1.0) -> None:
        check_same_length("m0", m0, "b0", b0)
        for name, values in (("c0", [c0]), ("a0", [a0]), ("b0", b0)):
            check_positive(name, values)
        check_power(power)
        super().__init__(len(m0))
        self.power = float(power)
        self.m0 = [float(m) for m in m0]
        self._worths = (float(c0), float(a0))
        self.c0 = float(c0) / self.power  # c and a of the posteriors are divided by it, too
        self.a0 = float(a0) / self.power
        self.b0 = [float(b) for b in b0]
        self.scale = [sqrt(b / self.power) for b in self.b0]
        self.log_scale = sum(log(sqrt(b)) for b in self.b0)
        self.m: list[list[float]] = []  # slot, column: posterior mean
        self.b: list[list[float]] = []  # slot, column: posterior rate
        self.kept: list[float] = []  # slot: part of b that removals left, least column

    def with_power(self, power: float) -> "NormalGamma":
        return NormalGamma(self.m0, *self._worths, self.b0, power)

    def resize(self, n_slots: int) -> None:
        self._check_n_slots(n_slots)
        del self.counts[n_slots:], self.m[n_slots:], self.b[n_slots:], self.kept[n_slots:]
        for _ in range(n_slots - self.n_slots):
            self.counts.append(0.0)
            self.m.append([0.0] * self.n_columns)
            self.b.append([1.0] * self.n_columns)
            self.kept.append(1.0)

    def clear(self, k: int) -> None:
        self._check_slot(k)
        self.counts[k] = 0.0
        self.m[k] = [0.0] * self.n_columns
        self.b[k] = [1.0] * self.n_columns
        self.kept[k] = 1.0

    def _slot(self, k: int) -> Any:
        return self.counts[k], self.m[k][:], self.b[k][:], self.kept[k]

    def _set_slot(self, k: int, slot: Any) -> None:
        self.counts[k], self.m[k], self.b[k], self.kept[k] = slot

    def add(self, row: Values, k: int, weight: float = 1.0) -> None:
        """Put a row into slot `k`: eq. (13) for `weight` rows more."""
        self._check_slot(k)
        c = self.c0 + self.counts[k]
        part = weight / (c + weight)
        m, b = self.m[k], self.b[k]
        for d, u in enumerate(self.standardise(row)):
            b[d] += 0.5 * c * part * (u - m[d]) ** 2
            m[d] += part * (u - m[d])
        self.counts[k] += weight

    def remove(self, row: Values, k: int, weight: float = 1.0) -> bool:
        """Take a row out of slot `k`: eq. (13) for `weight` rows less.

        Returns False, and changes nothing, if removals would have left less than 2^-10 of a
        column's b, or this one of the slot's weight.
        """
        self._check_slot(k)
        left = self.counts[k] - weight
        if left <= 0.0:
            self.clear(k)
            return True
        parts = self._parts_left(row, k, weight)
        if (
            self.kept[k] * min(parts) < MIN_KEPT_FRACTION
            or left < MIN_KEPT_FRACTION * self.counts[k]
        ):
            return False
        c = self.c0 + self.counts[k]
        m, b = self.m[k], self.b[k]
        for d, u in enumerate(self.standardise(row)):
            b[d] = max(b[d] * parts[d], 1.0)
            m[d] -= weight / (c - weight) * (u - m[d])
        self.counts[k] = left
        self.kept[k] *= min(parts)
        return True

    def merge(self, j: int, k: int) -> None:
        self._check_pair(j, k)
        self.counts[j], self.m[j], self.b[j] = self._merged(j, k)
        self.kept[j] = min(self.kept[j], self.kept[k])
        self.clear(k)

    def log_predictive(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Sum over columns of log Student-t densities, eq. (11); eq. (12) if `k` is empty."""
        self._check_slot(k)
        c, a = self.c0 + self.counts[k], self.a0 + 0.5 * self.counts[k]
        columns = zip(self.standardise(row), self.m[k], self.b[k], strict=True)
        scores = (log_student_t(u, m, c, b, a, weight, self.power) for u, m, b in columns)
        return sum(scores) - weight * self.log_scale

    def expected_log_density(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Mean of log N(x | mu, 1 / lambda): E[log lambda] = psi(a) - log b, E[lambda] = a / b."""
        self._check_slot(k)
        if self.power != 1.0:
            raise ValueError(f"power must be 1 for expected log densities, got {self.power}")
        c, a = self.c0 + self.counts[k], self.a0 + 0.5 * self.counts[k]
        total = -self.log_scale
        for u, m, b in zip(self.standardise(row), self.m[k], self.b[k], strict=True):
            log_precision = digamma(a) - log(b)
            distance = a / b * (u - m) ** 2 + 1.0 / c  # E[lambda (u - mu)^2]
            total += 0.5 * (log_precision - log(2.0 * pi) - distance)
        return weight * total

    def log_marginal(self, k: int) -> float:
        """Log of eq. (16)'s data part for one cluster: the ratio of normalising constants."""
        self._check_slot(k)
        return self._log_evidence(self.counts[k], self.b[k])

    def log_marginal_merged(self, j: int, k: int) -> float:
        self._check_pair(j, k)
        n, _, b = self._merged(j, k)
        return self._log_evidence(n, b)

    def normal_prior(self) -> tuple[float, float]:
        return self.c0, self.a0

    def normal_columns(self, k: int) -> list[tuple[float, float, float, float]]:
        self._check_slot(k)
        n = self.counts[k]
        return [self._moments(n, m, b) for m, b in zip(self.m[k], self.b[k], strict=True)]

    def standardise(self, row: Values) -> list[float]:
        self._check_row(row)
        units = ((x - m0) / s for x, m0, s in zip(row, self.m0, self.scale, strict=True))
        return [min(max(u, -MAX_PRIOR_UNITS), MAX_PRIOR_UNITS) for u in units]

    def posterior(self, k: int) -> dict[str, float | list[float]]:
        """Posterior of cluster `k`: "n" rows and "m", "c", "a", "b" of eq. (13), coarsened."""
        self._check_slot(k)
        return {
            "n": self.counts[k],
            "m": [m0 + s * m for m0, s, m in zip(self.m0, self.scale, self.m[k], strict=True)],
            "c": self.power * (self.c0 + self.counts[k]),
            "a": self.power * (self.a0 + 0.5 * self.counts[k]),
            "b": [b0 * b for b0, b in zip(self.b0, self.b[k], strict=True)],
        }

    def statistics(self, k: int) -> list[float]:
        self._check_slot(k)
        return [self.counts[k], *self.m[k], *self.b[k]]

    def load(self, k: int, statistics: Values) -> None:
        self._check_slot(k)
        d = self.n_columns
        check_statistics(statistics, (WEIGHT, 1), (UNITS, d), (RATES, d))
        self.counts[k] = statistics[0]
        self.m[k] = [statistics[i] for i in range(1, 1 + d)]
        self.b[k] = [statistics[i] for i in range(1 + d, 1 + 2 * d)]
        self.kept[k] = 1.0

    def _moments(self, n: float, m: float, b: float) -> tuple[float, float, float, float]:
        """Moments of one column's cells: the posterior, eq. (13), without the prior."""
        if n == 0.0:
            return n, 0.0, 1.0, b
        c = self.c0 + n
        mean = m * c / n
        return n, mean, 2.0 * (b - 1.0) / n - self.c0 / c * mean * mean, b

    def _parts_left(self, row: Values, k: int, weight: float) -> list[float]:
        """What part of each column's b is left without a row of slot `k`."""
        c = self.c0 + self.counts[k]
        lost = 0.5 * c * weight / (c - weight)
        terms = zip(self.standardise(row), self.m[k], self.b[k], strict=True)
        return [1.0 - lost * (u - m) ** 2 / b for u, m, b in terms]

    def _merged(self, j: int, k: int) -> tuple[float, list[float], list[float]]:
        """Count, m and b of two slots' rows together: eq. (13) with S = c m."""
        cj, ck = self.c0 + self.counts[j], self.c0 + self.counts[k]
        c = cj + ck - self.c0
        m, b = [], []
        for mj, mk, bj, bk in zip(self.m[j], self.m[k], self.b[j], self.b[k], strict=True):
            m.append((cj * mj + ck * mk) / c)
            between = cj * ck * (mj - mk) ** 2 - self.c0 * (cj * mj**2 + ck * mk**2)
            b.append(max(bj + bk - 1.0 + 0.5 * between / c, 1.0))
        return self.counts[j] + self.counts[k], m, b

    def _log_evidence(self, n: float, b: Values) -> float:
        """Log p(n rows | theta_0), divided by the power, from their posterior rates `b`."""
        a = self.a0 + 0.5 * n
        total = -n * self.log_scale
        for b_d in b:
            gammas = log_rising(self.power * self.a0, self.power * 0.5 * n)
            total += (
                (gammas - 0.5 * log1p(n / self.c0)) / self.power
                - a * log(b_d)
                - 0.5 * n * log(2.0 * pi)
            )
        return total
