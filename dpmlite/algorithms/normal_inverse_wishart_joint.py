"""The joint of hyperparameters and given clusters of "normal-inverse-wishart", with its gradient.

For a cluster with n rows, mean x and scatter matrix S, let kappa = kappa0 + n, nu = nu0 + n and
psi = psi0 + S + kappa0 n / kappa (x - m0)(x - m0)^T. The log marginal is, but for a constant,

    D log(kappa0 / kappa) / 2 + log Gamma_D(nu / 2) - log Gamma_D(nu0 / 2)
        + nu0 log|psi0| / 2 - nu log|psi| / 2.

psi0 is diagonal. The logarithms of kappa0, r = nu0 - D + 1 and psi0 / r have normal priors, and are
the variables. In units of the roots of psi0, psi0 is the identity, and no pivot of psi is below 1.
"""

from math import exp, log

from dpmlite.algorithms.normal_penalty import normal_penalty
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.special import digamma, log_gamma
from dpmlite.core.triangular import factorise, residuals


class NormalInverseWishartJoint:
    """Minus the log joint of clusters and hyperparameters, a function to minimise.

    Parameters
    ----------
    counts : sequence of float, length K
        Weight of each cluster's rows.
    scatters : sequence of matrices, (K, D, D)
        S.
    gaps : sequence of rows, (K, D)
        x - m0.
    means, deviations : sequence of float, length D + 2
        Of the normal priors of log kappa0, log r and log(psi0 / r) of each column.
    """

    def __init__(
        self, counts: Values, scatters: Values, gaps: Values, means: Values, deviations: Values
    ) -> None:
        self.counts, self.scatters, self.gaps = counts, scatters, gaps
        self.means, self.deviations = means, deviations
        self.n_columns = len(means) - 2

    def evaluate(self, x: Values, gradient: Buffer) -> float:
        """Minus the log joint at some variables, but for a constant; writes its gradient.

        Parameters
        ----------
        x : sequence of float, length D + 2
        gradient : sequence of float, length D + 2
            OUT.
        """
        value = self.penalty(x, gradient)
        for k in range(len(self.counts)):
            value -= self._add_counts(x, gradient, float(self.counts[k]))
            value -= self._add_rows(x, gradient, k)
        return value

    def _add_counts(self, x: Values, gradient: Buffer, n: float) -> float:
        """Terms of the log marginal of n rows that n alone gives; subtracts their gradient."""
        kappa0, r, D = exp(x[0]), exp(x[1]), self.n_columns
        total = 0.5 * D * log(kappa0 / (kappa0 + n))
        gradient[0] -= 0.5 * D * n / (kappa0 + n)
        for j in range(D):
            half = 0.5 * (r + j)  # (nu0 - D + 1 + j) / 2
            total += log_gamma(half + 0.5 * n) - log_gamma(half)
            gradient[1] -= 0.5 * r * (digamma(half + 0.5 * n) - digamma(half))
        return total

    def _add_rows(self, x: Values, gradient: Buffer, k: int) -> float:
        """The other terms of a cluster's log marginal; subtracts their gradient."""
        kappa0, r, D, n = exp(x[0]), exp(x[1]), self.n_columns, float(self.counts[k])
        nu0, part = r + D - 1.0, n / (kappa0 + n)
        log_psi0 = [float(x[1] + x[2 + d]) for d in range(D)]
        unit = [exp(-0.5 * each) for each in log_psi0]
        gap = [a * b for a, b in zip(self.gaps[k], unit, strict=True)]
        W, pivots = factorise(self._psi(k, kappa0 * part, unit, gap), 1.0)
        log_ratio = sum(log(pivot) for pivot in pivots)  # log |psi| - log |psi0|
        distance = sum(z * z / d for z, d in zip(residuals(W, gap), pivots, strict=True))
        gradient[0] += 0.5 * (nu0 + n) * kappa0 * part * part * distance
        gradient[1] += 0.5 * r * log_ratio
        for j in range(D):
            of_inverse = sum(W[i][j] ** 2 / pivots[i] for i in range(j, D))
            by_psi0 = 0.5 * (nu0 - (nu0 + n) * of_inverse)
            gradient[1] -= by_psi0
            gradient[2 + j] -= by_psi0
        return -0.5 * (nu0 + n) * log_ratio - 0.5 * n * sum(log_psi0)

    def _psi(self, k: int, lever: float, unit: list[float], gap: list[float]) -> list[list[float]]:
        """Psi of a cluster, in units of the roots of psi0."""
        S, D = self.scatters[k], self.n_columns
        return [
            [
                unit[i] * unit[j] * S[i][j] + lever * gap[i] * gap[j] + float(i == j)
                for j in range(D)
            ]
            for i in range(D)
        ]

    def penalty(self, x: Values, gradient: Buffer) -> float:
        """Minus the log prior at some variables, but for a constant; writes its gradient.

        Parameters
        ----------
        x : sequence of float, length D + 2
        gradient : sequence of float, length D + 2
            OUT.
        """
        return normal_penalty(x, self.means, self.deviations, gradient)
