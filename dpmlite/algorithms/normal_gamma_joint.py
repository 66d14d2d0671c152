"""The joint of hyperparameters and given clusters of "normal-gamma", with its gradient.

For a cluster's column with n rows, mean x and scatter S, let c = c0 + n, a = a0 + n / 2 and
b = b0 + S / 2 + c0 n (x - m0)^2 / (2 c), eq. (13) of Raykov, Boukouvalas & Little (2014). The log
marginal is, but for a constant,

    log(c0 / c) / 2 + log Gamma(a) - log Gamma(a0) + a0 log b0 - a log b.

The logarithms of c0, a0 and b0 / a0 have normal priors, and are the variables: a0 and b0 are
strongly dependent.
"""

from math import exp, log

from dpmlite.algorithms.normal_penalty import normal_penalty
from dpmlite.core.protocols import Buffer, Values
from dpmlite.core.special import digamma, log_gamma


class NormalGammaJoint:
    """Minus the log joint of clusters and hyperparameters, a function to minimise.

    Parameters
    ----------
    counts : sequence of rows, (K, D) or (K, 1)
        Weight of each cluster's cells in each column; one number a cluster if no cell is missing.
    half_scatters : sequence of rows, (K, D)
        S / 2.
    half_squares : sequence of rows, (K, D)
        (x - m0)^2 / 2.
    means, deviations : sequence of float, length D + 2
        Of the normal priors of log c0, log a0 and log(b0 / a0) of each column.
    """

    def __init__(
        self,
        counts: Values,
        half_scatters: Values,
        half_squares: Values,
        means: Values,
        deviations: Values,
    ) -> None:
        self.counts, self.half_scatters, self.half_squares = counts, half_scatters, half_squares
        self.means, self.deviations = means, deviations

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
            for d in range(len(x) - 2):
                value -= self._add_marginal(x, gradient, k, d)
        return value

    def _add_marginal(self, x: Values, gradient: Buffer, k: int, d: int) -> float:
        """The log marginal of a cluster's column; subtracts its gradient."""
        counts = self.counts[k]
        c0, a0, log_b0 = exp(x[0]), exp(x[1]), x[1] + x[2 + d]
        n = float(counts[d if len(counts) > 1 else 0])
        part, a = n / (c0 + n), a0 + 0.5 * n
        shrunk = c0 * part * self.half_squares[k][d]
        b = exp(log_b0) + self.half_scatters[k][d] + shrunk
        by_b0 = a0 - a * exp(log_b0) / b
        gradient[0] -= 0.5 * part - a / b * shrunk * part
        gradient[1] -= a0 * (digamma(a) - digamma(a0) + log_b0 - log(b)) + by_b0
        gradient[2 + d] -= by_b0
        of_counts = 0.5 * log(c0 / (c0 + n)) + log_gamma(a) - log_gamma(a0)
        return float(of_counts + a0 * log_b0 - a * log(b))

    def penalty(self, x: Values, gradient: Buffer) -> float:
        """Minus the log prior at some variables, but for a constant; writes its gradient.

        Parameters
        ----------
        x : sequence of float, length D + 2
        gradient : sequence of float, length D + 2
            OUT.
        """
        return normal_penalty(x, self.means, self.deviations, gradient)
