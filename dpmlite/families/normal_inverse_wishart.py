"""Normal-inverse-Wishart components: columns that vary together, of unknown mean and covariance.

The rows of a cluster are normal with mean mu and covariance Sigma; their prior is
Sigma ~ IW(psi0, nu0) and mu | Sigma ~ N(m0, Sigma / kappa0). The posterior of n rows with mean x
and scatter S about x has the same form (Murphy 2007, section 9), with

    kappa = kappa0 + n,   nu = nu0 + n,   m = (kappa0 m0 + n x) / kappa,                       (1)
    Psi = psi0 + S + (kappa0 n / kappa) (x - m0) (x - m0)^T.                                   (2)

Rows are held in units of the prior, u = R (x - m0) with R psi0 R^T = 1. Then m0 = 0 and psi0 = 1:
labels cannot depend on the units, the origin or a mixing of the columns, no precision is lost on
data far from zero, and no pivot d of W Psi W^T = diag(d) is below 1.

With a power zeta of the likelihood, rows have weight zeta, and kappa, nu and Psi are kept divided
by zeta, as in normal_gamma.py. So (1) and (2) hold for whole rows, from kappa0 / zeta, nu0 / zeta
and psi0 / zeta; and only the functions of counts in log densities differ (`log_peak`).
"""

from copy import deepcopy
from dataclasses import dataclass
from math import isnan, log, pi
from typing import Any

from dpmlite.core.checks import check_normal_inverse_wishart, check_power
from dpmlite.core.constants import MIN_KEPT_FRACTION
from dpmlite.core.protocols import Values
from dpmlite.core.special import digamma
from dpmlite.core.statistics_checks import FACTOR, PIVOT, SCATTER, UNITS, WEIGHT, check_statistics
from dpmlite.core.triangular import determinant_ratios, factorise, identity, residuals, update
from dpmlite.families.component import Component
from dpmlite.families.known_cells import project_out
from dpmlite.families.multivariate_t import log_multivariate_t, log_peak
from dpmlite.families.whitening import restore, whiten, whitening


@dataclass
class _Slot:
    """The rows of a cluster, in units of the prior."""

    mean: list[float]
    scatter: list[list[float]]  # about their mean
    W: list[list[float]]  # W Psi W^T = diag(d)
    d: list[float]
    kept: list[float]  # part of d that removals left


class NormalInverseWishart(Component):
    """Sufficient statistics of normal-inverse-Wishart clusters.

    Parameters
    ----------
    m0 : sequence of float, length D
        Prior mean.
    kappa0 : float
        Rows that the prior mean is worth.
    nu0 : float
        Degrees of freedom of the covariance's prior, above D - 1.
    psi0 : sequence of rows, (D, D)
        Scale of the covariance's prior, symmetric and positive definite.
    power : float, default 1.0
        Power zeta of the likelihood, at most 1.

    Attributes
    ----------
    n_columns, n_slots, counts, power
        As `Component`.

    Raises
    ------
    ValueError
        If m0 and psi0 do not fit together, or a parameter is not what is said above.

    Notes
    -----
    A value further than 2^29 from m0, in units of the prior, counts as lying there.

    Rows with missing cells, NaN, can be scored, but not added: statistics of a full covariance
    matrix have no closed form with them.
    """

    def __init__(
        self, m0: Values, kappa0: float, nu0: float, psi0: Values, power: float = 1.0
    ) -> None:
        check_normal_inverse_wishart(m0, kappa0, nu0, psi0)
        check_power(power)
        super().__init__(len(m0))
        self.power = float(power)
        self._worths = (float(kappa0), float(nu0))
        self.m0 = [float(m) for m in m0]
        self.kappa0 = float(kappa0) / self.power  # kappa and nu of posteriors are divided, too
        self.nu0 = float(nu0) / self.power
        self.psi0 = [[float(p) for p in row] for row in psi0]
        self.whitening = whitening([[p / self.power for p in row] for row in self.psi0])
        self.log_scale = -sum(log(row[i]) for i, row in enumerate(self.whitening))
        self.log_scale += 0.5 * self.n_columns * log(self.power)  # that of psi0
        self._slots: list[_Slot] = []

    def like(self) -> "NormalInverseWishart":
        return self.with_power(self.power)

    def with_power(self, power: float) -> "NormalInverseWishart":
        return NormalInverseWishart(self.m0, *self._worths, self.psi0, power)

    def resize(self, n_slots: int) -> None:
        self._check_n_slots(n_slots)
        del self.counts[n_slots:], self._slots[n_slots:]
        for _ in range(n_slots - self.n_slots):
            self.counts.append(0.0)
            self._slots.append(self._empty_slot())

    def clear(self, k: int) -> None:
        self._check_slot(k)
        self.counts[k], self._slots[k] = 0.0, self._empty_slot()

    def _slot(self, k: int) -> Any:
        return self.counts[k], deepcopy(self._slots[k])

    def _set_slot(self, k: int, slot: Any) -> None:
        self.counts[k], self._slots[k] = slot

    def add(self, row: Values, k: int, weight: float = 1.0) -> None:
        """Put a row into slot `k`: (1) and (2) for `weight` rows more."""
        self._check_slot(k)
        self._shift(k, self._standardise(row), weight)

    def remove(self, row: Values, k: int, weight: float = 1.0) -> bool:
        """Take a row out of slot `k`: (1) and (2) for `weight` rows less.

        Returns False, and changes nothing, if removals would have left less than 2^-10 of a
        pivot, or this one of det Psi or of the slot's weight.
        """
        self._check_slot(k)
        left = self.counts[k] - weight
        if left <= 0.0:
            self.clear(k)
            return True
        u, slot = self._standardise(row), self._slots[k]
        kept = self._kept_without(u, k, weight)
        if not min(kept) >= MIN_KEPT_FRACTION or left < MIN_KEPT_FRACTION * self.counts[k]:
            return False
        self._shift(k, u, -weight)
        slot.d = [max(d, 1.0) for d in slot.d]
        slot.kept = kept
        return True

    def merge(self, j: int, k: int) -> None:
        self._check_pair(j, k)
        self._slots[j] = self._merged(j, k)
        self.counts[j] += self.counts[k]
        self.clear(k)

    def log_predictive(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Log of a multivariate Student-t density; of `weight` equal rows one after the other.

        It is that of the known cells if others are missing, NaN.
        """
        self._check_slot(k)
        if any(isnan(x) for x in row):
            return self._log_predictive_of_known(row, k, weight)
        kappa, nu = self.kappa0 + self.counts[k], self.nu0 + self.counts[k]
        z, d = self._residuals(self._standardise(row), k), self._slots[k].d
        return log_multivariate_t(z, d, kappa, nu, weight, self.power) - weight * self.log_scale

    def _log_predictive_of_known(self, row: Values, k: int, weight: float) -> float:
        """`log_predictive` of the known cells of a row, as known_cells.py has it."""
        missing = [j for j, x in enumerate(row) if isnan(x)]
        n_known = self.n_columns - len(missing)
        if n_known == 0:
            return 0.0
        kappa, nu = self.kappa0 + self.counts[k], self.nu0 + self.counts[k]
        filled = [m if isnan(x) else x for x, m in zip(row, self.m0, strict=True)]
        slot = self._slots[k]
        moves = [residuals(slot.W, [R[j] for R in self.whitening]) for j in missing]
        z, log_det = project_out(self._residuals(self._standardise(filled), k), slot.d, moves)
        log_det += sum(log(d) for d in slot.d) + 2.0 * self._log_det_of_units()
        ratio = determinant_ratios(slot.d, z, kappa * weight / (kappa + weight))[-1]
        nu -= len(missing) / self.power
        peak = log_peak(n_known, kappa, nu, log_det, weight, self.power)
        return peak - 0.5 * ((nu + weight) * log(ratio) + weight * n_known * log(self.power))

    def _log_det_of_units(self) -> float:
        """Log det of R^-1, which brings rows from units of the prior to those of the data."""
        return self.log_scale - 0.5 * self.n_columns * log(self.power)

    def expected_log_density(self, row: Values, k: int, weight: float = 1.0) -> float:
        """Mean of log N(x | mu, Sigma): E[Sigma^-1] = nu Psi^-1, and D / kappa more for mu."""
        self._check_slot(k)
        if self.power != 1.0:
            raise ValueError(f"power must be 1 for expected log densities, got {self.power}")
        kappa, nu, total = self.kappa0 + self.counts[k], self.nu0 + self.counts[k], -self.log_scale
        z_of_row = self._residuals(self._standardise(row), k)
        for i, (z, d_i) in enumerate(zip(z_of_row, self._slots[k].d, strict=True)):
            log_precision = digamma(0.5 * (nu - i)) - log(0.5 * d_i)
            total += 0.5 * (log_precision - log(2.0 * pi) - nu * z * z / d_i - 1.0 / kappa)
        return weight * total

    def log_marginal(self, k: int) -> float:
        """The ratio of the normal-inverse-Wishart's normalising constants."""
        self._check_slot(k)
        return self._log_evidence(self.counts[k], self._slots[k])

    def log_marginal_merged(self, j: int, k: int) -> float:
        self._check_pair(j, k)
        return self._log_evidence(self.counts[j] + self.counts[k], self._merged(j, k))

    def posterior(self, k: int) -> dict[str, Any]:
        """Posterior of cluster `k`: "n" rows and "m", "kappa", "nu", "psi", coarsened."""
        self._check_slot(k)
        n, slot = self.counts[k], self._slots[k]
        kappa = self.kappa0 + n
        shift = restore(self.whitening, [n / kappa * x for x in slot.mean])
        psi = _plus(identity(self.n_columns), slot.scatter)
        _add_square(psi, slot.mean, self.kappa0 * n / kappa)
        half = [restore(self.whitening, [self.power * p for p in row]) for row in psi]
        return {
            "n": n,
            "m": [m0 + m for m0, m in zip(self.m0, shift, strict=True)],
            "kappa": self.power * kappa,
            "nu": self.power * (self.nu0 + n),
            "psi": [restore(self.whitening, column) for column in zip(*half, strict=True)],
        }

    def statistics(self, k: int) -> list[float]:
        self._check_slot(k)
        slot = self._slots[k]
        lower = [x for i, row in enumerate(slot.scatter) for x in row[: i + 1]]
        strictly_lower = [x for i, row in enumerate(slot.W) for x in row[:i]]
        return [self.counts[k], *slot.mean, *slot.d, *lower, *strictly_lower]

    def load(self, k: int, statistics: Values) -> None:
        self._check_slot(k)
        D = self.n_columns
        n_below = D * (D - 1) // 2
        check_statistics(
            statistics,
            (WEIGHT, 1),
            (UNITS, D),
            (PIVOT, D),
            (SCATTER, n_below + D),
            (FACTOR, n_below),
        )
        values = iter(statistics)
        self.counts[k], slot = next(values), self._empty_slot()
        slot.mean = [next(values) for _ in range(D)]
        slot.d = [next(values) for _ in range(D)]
        for i in range(D):
            for j in range(i + 1):
                slot.scatter[i][j] = slot.scatter[j][i] = next(values)
        for i in range(D):
            slot.W[i][:i] = [next(values) for _ in range(i)]
        self._slots[k] = slot

    def _empty_slot(self) -> _Slot:
        D = self.n_columns
        scatter = [[0.0] * D for _ in range(D)]
        return _Slot([0.0] * D, scatter, identity(D), [1.0] * D, [1.0] * D)

    def _standardise(self, row: Values) -> list[float]:
        """The row in units of the prior."""
        self._check_row(row)
        return whiten(self.whitening, self.m0, row)

    def _residuals(self, u: Values, k: int) -> list[float]:
        """W (u - m) of slot `k`."""
        slot = self._slots[k]
        shrinkage = self.counts[k] / (self.kappa0 + self.counts[k])
        e = [u_d - shrinkage * mean for u_d, mean in zip(u, slot.mean, strict=True)]
        return residuals(slot.W, e)

    def _lever(self, k: int, weight: float) -> float:
        """By how much (u - m)(u - m)^T grows Psi of slot `k` for `weight` rows u more: (2)."""
        kappa = self.kappa0 + self.counts[k]
        return kappa * weight / (kappa + weight)

    def _shift(self, k: int, u: Values, weight: float) -> None:
        """Bring `weight` rows u into slot `k`, or out of it if `weight` is negative."""
        n, slot = self.counts[k], self._slots[k]
        update(slot.W, slot.d, self._residuals(u, k), self._lever(k, weight))
        from_mean = [u_d - mean for u_d, mean in zip(u, slot.mean, strict=True)]
        _add_square(slot.scatter, from_mean, n * weight / (n + weight))
        for d, e in enumerate(from_mean):
            slot.mean[d] += weight / (n + weight) * e
        self.counts[k] += weight

    def _kept_without(self, u: Values, k: int, weight: float) -> list[float]:
        """What part of each pivot is left once this row is out too; 0 if too little of det Psi."""
        slot = self._slots[k]
        ratios = determinant_ratios(slot.d, self._residuals(u, k), self._lever(k, -weight))
        if not ratios[-1] >= MIN_KEPT_FRACTION:
            return [0.0] * self.n_columns
        before = [1.0, *ratios[:-1]]
        return [part * r / b for part, r, b in zip(slot.kept, ratios, before, strict=True)]

    def _merged(self, j: int, k: int) -> _Slot:
        """Two slots' rows together.

        Their means come in last, by updates, so that nothing cancels where these are far from 0
        or from each other; pivots are exact to the rounding of the scatter's largest element.
        """
        nj, nk, one, other = self.counts[j], self.counts[k], self._slots[j], self._slots[k]
        n = nj + nk
        part = nk / n if n > 0.0 else 0.0
        gap = [b - a for a, b in zip(one.mean, other.mean, strict=True)]
        mean = [a + part * g for a, g in zip(one.mean, gap, strict=True)]
        scatter = _plus(one.scatter, other.scatter)
        W, d = factorise(_plus(identity(self.n_columns), scatter), 1.0)
        update(W, d, residuals(W, gap), part * nj)
        update(W, d, residuals(W, mean), self.kappa0 * n / (self.kappa0 + n))
        _add_square(scatter, gap, part * nj)
        kept = [min(a, b) for a, b in zip(one.kept, other.kept, strict=True)]
        return _Slot(mean, scatter, W, d, kept)

    def _log_evidence(self, n: float, slot: _Slot) -> float:
        """Log p(n rows | theta_0), divided by the power, from their posterior."""
        log_det = sum(log(d) for d in slot.d)
        peak = log_peak(self.n_columns, self.kappa0, self.nu0, 0.0, n, self.power)
        return peak - 0.5 * (self.nu0 + n) * log_det - n * self.log_scale


def _plus(A: Values, B: Values) -> list[list[float]]:
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(A, B, strict=True)]


def _add_square(A: list[list[float]], x: Values, weight: float) -> None:
    """A += weight x x^T."""
    for row, x_i in zip(A, x, strict=True):
        for j, x_j in enumerate(x):
            row[j] += weight * x_i * x_j
