"""Normal components of known variance: independent columns, each with an unknown mean.

In column d of a cluster, x | theta ~ N(theta, sigma2[d]) and theta ~ N(m0[d], tau2[d]). The
posterior of theta and the predictive density are those of section 2, "Gaussian calculations", of
"Notes on Gibbs Sampling for Dirichlet Process Mixtures", there with mu_0 and tau_0^2.

Rows are held in units of the model, u = (x - m0) / sqrt(sigma2), with r = tau2 / sigma2. Then the
posterior of theta after n rows is N(n r mean / f(n), r / f(n)) with f(n) = 1 + n r, and one row
more has variance f(n + 1) / f(n). No precision is lost on data far from zero.
"""

from math import log, log1p, pi, sqrt
from typing import Any

from dpmlite.core.checks import check_positive, check_same_length, require_bound
from dpmlite.core.constants import MAX_SIGMAS, MIN_KEPT_FRACTION
from dpmlite.core.protocols import Values
from dpmlite.core.rows import Rows
from dpmlite.core.statistics_checks import SIGMAS, SPREAD, WEIGHT, check_statistics
from dpmlite.families.component import Component


class NormalKnownVariance(Component):
    """Sufficient statistics of normal clusters of known variance.

    Parameters
    ----------
    m0 : sequence of float, length D
        Prior means of the clusters' means.
    sigma2 : sequence of float, length D
        Variances of the rows around their cluster's mean.
    tau2 : sequence of float, length D
        Prior variances of the clusters' means.

    Attributes
    ----------
    n_columns, n_slots, counts
        As `Component`.

    Raises
    ------
    ValueError
        If lengths differ, or a variance is not positive.

    Notes
    -----
    A value more than 4096 standard deviations sqrt(sigma2) from m0 counts as lying there.
    """

    def __init__(self, m0: Values, sigma2: Values, tau2: Values) -> None:
        for name, values in (("sigma2", sigma2), ("tau2", tau2)):
            check_same_length("m0", m0, name, values)
            check_positive(name, values)
        super().__init__(len(m0))
        self.m0 = [float(m) for m in m0]
        self.sigma2 = [float(s) for s in sigma2]
        self.tau2 = [float(t) for t in tau2]
        self.unit = [1.0 / sqrt(s) for s in self.sigma2]
        self.ratio = [t / s for t, s in zip(self.tau2, self.sigma2, strict=True)]
        self.log_scale = sum(0.5 * log(s) for s in self.sigma2)
        self.mean: list[list[float]] = []  # slot, column: mean of the rows
        self.spread: list[float] = []  # slot: their squared distances from it, all columns
        self.kept: list[float] = []  # slot: part of 1 + spread that removals left
        self.low: list[float] = []  # column: ends of the values that `bound_over` was given
        self.high: list[float] = []

    def like(self) -> "NormalKnownVariance":
        other = NormalKnownVariance(self.m0, self.sigma2, self.tau2)
        other.low, other.high = self.low, self.high
        return other

    def resize(self, n_slots: int) -> None:
        self._check_n_slots(n_slots)
        del self.counts[n_slots:], self.mean[n_slots:], self.spread[n_slots:], self.kept[n_slots:]
        for _ in range(n_slots - self.n_slots):
            self.counts.append(0.0)
            self.mean.append([0.0] * self.n_columns)
            self.spread.append(0.0)
            self.kept.append(1.0)

    def clear(self, k: int) -> None:
        self._check_slot(k)
        self.counts[k] = 0.0
        self.mean[k] = [0.0] * self.n_columns
        self.spread[k] = 0.0
        self.kept[k] = 1.0

    def _slot(self, k: int) -> Any:
        return self.counts[k], self.mean[k][:], self.spread[k], self.kept[k]

    def _set_slot(self, k: int, slot: Any) -> None:
        self.counts[k], self.mean[k], self.spread[k], self.kept[k] = slot

    def add(self, row: Values, k: int, weight: float = 1.0) -> None:
        """Put a row into slot `k`: Welford's update for `weight` rows more."""
        self._check_slot(k)
        n, mean = self.counts[k], self.mean[k]
        part = weight / (n + weight)
        for d, u in enumerate(self._standardise(row)):
            self.spread[k] += n * part * (u - mean[d]) ** 2
            mean[d] += part * (u - mean[d])
        self.counts[k] = n + weight

    def remove(self, row: Values, k: int, weight: float = 1.0) -> bool:
        """Take a row out of slot `k`: Welford's update for `weight` rows less.

        Returns False, and changes nothing, if removals would have left less than 2^-10 of
        1 + spread, or this one of the slot's weight.
        """
        self._check_slot(k)
        n, mean = self.counts[k], self.mean[k]
        left = n - weight
        if left <= 0.0:
            self.clear(k)
            return True
        units = self._standardise(row)
        part = weight / left
        lost = n * part * sum((u - m) ** 2 for u, m in zip(units, mean, strict=True))
        spread = max(self.spread[k] - lost, 0.0)
        kept = self.kept[k] * (1.0 + spread) / (1.0 + self.spread[k])
        if kept < MIN_KEPT_FRACTION or left < MIN_KEPT_FRACTION * n:
            return False
        for d, u in enumerate(units):
            mean[d] -= part * (u - mean[d])
        self.counts[k], self.spread[k], self.kept[k] = left, spread, kept
        return True

    def merge(self, j: int, k: int) -> None:
        self._check_pair(j, k)
        self.counts[j], self.mean[j], self.spread[j] = self._merged(j, k)
        self.kept[j] = min(self.kept[j], self.kept[k])
        self.clear(k)

    def log_predictive(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Sum over columns of log N(mean_n, tau_n^2 + sigma2), section 2, and its chain rule.

        The rows that follow one another are equal: each brings the posterior's mean nearer to
        them, and the product of their densities is that of w = `weight` rows together,
        (2 pi)^(-w/2) (f(n) / f(n + w))^(1/2) exp(-w f(n) / f(n + w) (u - m)^2 / 2).
        """
        self._check_slot(k)
        n, w = self.counts[k], weight
        total = -w * self.log_scale
        for u, mean, r in zip(self._standardise(row), self.mean[k], self.ratio, strict=True):
            before, after = 1.0 + n * r, 1.0 + (n + w) * r
            m = n * r * mean / before
            total -= 0.5 * (w * log(2.0 * pi) + log1p(w * r / before))
            total -= 0.5 * w * before / after * (u - m) ** 2
        return total

    def expected_log_density(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Mean of log N(x | mu, sigma2): that at the posterior mean, less half its variance."""
        self._check_slot(k)
        n, total = self.counts[k], -self.log_scale
        for u, mean, r in zip(self._standardise(row), self.mean[k], self.ratio, strict=True):
            f = 1.0 + n * r
            total -= 0.5 * (log(2.0 * pi) + (u - n * r * mean / f) ** 2 + r / f)
        return weight * total

    def log_marginal(self, k: int) -> float:
        """Log density of the rows, theta integrated out: the product of their predictives."""
        self._check_slot(k)
        return self._log_evidence(self.counts[k], self.mean[k], self.spread[k])

    def log_marginal_merged(self, j: int, k: int) -> float:
        self._check_pair(j, k)
        return self._log_evidence(*self._merged(j, k))

    def bound_over(self, X: Rows) -> None:
        columns = zip(*(self._standardise(X.values(i)) for i in range(len(X))), strict=True)
        ends = [(min(column), max(column)) for column in columns]
        self.low, self.high = [low for low, _ in ends], [high for _, high in ends]

    def log_bound(self, row: Values, k: int, more: float, weight: float = 1.0) -> float:
        """The predictive after all the others, each where it pulls the mean to the row the most.

        Others that lie at y bring f(n) (m - u) to f(n) (m - u) + t r (y - u). It ends at 0 where
        some y between the ends of the column can bring it there. Each row more makes both the
        squared distance w f / f(n + t + w) (u - m)^2 less and the variance: so all are added.
        """
        require_bound(len(self.low) == self.n_columns)
        self._check_slot(k)
        n, w, t = self.counts[k], weight, more
        total = -w * self.log_scale
        columns = zip(self.mean[k], self.ratio, self.low, self.high, strict=True)
        for u, (mean, r, low, high) in zip(self._standardise(row), columns, strict=True):
            before, after = 1.0 + (n + t) * r, 1.0 + (n + t + w) * r
            away = n * r * mean - (1.0 + n * r) * u
            pull = t * r * (u - low if away > 0.0 else high - u)
            left = max(abs(away) - max(pull, 0.0), 0.0)
            total -= 0.5 * (w * log(2.0 * pi) + log1p(w * r / before))
            total -= 0.5 * w * left**2 / (before * after)
        return total

    def posterior(self, k: int) -> dict[str, float | list[float]]:
        """Posterior of cluster `k`: "n" rows, "m" and "tau2", mean and variance of its mean."""
        self._check_slot(k)
        n = self.counts[k]
        f = [1.0 + n * r for r in self.ratio]
        columns = zip(self.m0, self.unit, self.ratio, self.mean[k], f, strict=True)
        return {
            "n": n,
            "m": [m0 + n * r * mean / (f_d * unit) for m0, unit, r, mean, f_d in columns],
            "tau2": [tau2 / f_d for tau2, f_d in zip(self.tau2, f, strict=True)],
        }

    def statistics(self, k: int) -> list[float]:
        self._check_slot(k)
        return [self.counts[k], *self.mean[k], self.spread[k]]

    def load(self, k: int, statistics: Values) -> None:
        self._check_slot(k)
        d = self.n_columns
        check_statistics(statistics, (WEIGHT, 1), (SIGMAS, d), (SPREAD, 1))
        self.counts[k] = statistics[0]
        self.mean[k] = [statistics[i] for i in range(1, 1 + d)]
        self.spread[k] = statistics[1 + d]
        self.kept[k] = 1.0

    def _standardise(self, row: Values) -> list[float]:
        """The row in units of the model."""
        self._check_row(row)
        units = ((x - m0) * unit for x, m0, unit in zip(row, self.m0, self.unit, strict=True))
        return [min(max(u, -MAX_SIGMAS), MAX_SIGMAS) for u in units]

    def _merged(self, j: int, k: int) -> tuple[float, list[float], float]:
        """Count, mean and spread of two slots' rows together."""
        n = self.counts[j] + self.counts[k]
        part = self.counts[k] / n if n > 0.0 else 0.0
        apart = [mk - mj for mj, mk in zip(self.mean[j], self.mean[k], strict=True)]
        mean = [mj + part * e for mj, e in zip(self.mean[j], apart, strict=True)]
        between = self.counts[j] * part * sum(e**2 for e in apart)
        return n, mean, self.spread[j] + self.spread[k] + between

    def _log_evidence(self, n: float, mean: Values, spread: float) -> float:
        """Log p(n rows | theta_0) from their mean and spread, both in units of the model.

        It is the product over columns of f(n)^(-1/2) exp(-(s + n mean^2 / f(n)) / 2) and of
        (2 pi sigma2)^(-n/2), where the s add up to the spread.
        """
        total = -n * self.log_scale - 0.5 * spread
        for mean_d, r in zip(mean, self.ratio, strict=True):
            f = 1.0 + n * r
            total -= 0.5 * (n * log(2.0 * pi) + log1p(n * r) + n * mean_d**2 / f)
        return total
