"""The multivariate Student-t density of a row given a cluster's rows.

It is the predictive density of a normal whose mean and covariance have the posterior
Sigma ~ IW(Psi, nu) and mu | Sigma ~ N(m, Sigma / kappa) (Murphy 2007, section 9):

    p(x) = t_v(x | m, (kappa + 1) / (kappa v) Psi),   v = nu - D + 1.

Given m, the density depends on x by q = (x - m)^T Psi^-1 (x - m) alone.
"""

from math import log, log1p, pi

from dpmlite.core.protocols import Values
from dpmlite.core.special import log_rising
from dpmlite.core.triangular import determinant_ratios


def log_multivariate_t(
    z: Values, d: Values, kappa: float, nu: float, weight: float = 1.0, power: float = 1.0
) -> float:
    """Log of the density of a row, or of several equal rows one after the other.

    They multiply det Psi by 1 + q w kappa / (kappa + w), w = `weight`, and the density falls with
    the power (nu + w) / 2 of that.

    Parameters
    ----------
    z : sequence of float, length D
        W (x - m), with W Psi W^T = diag(d).
    d : sequence of float, length D
    kappa, nu : float
        Rows that the mean is worth, and degrees of freedom, above D - 1.
    weight : float, default 1.0
        How many rows equal to x the density is of.
    power : float, default 1.0
        Power zeta of the likelihood. If it is below 1, kappa, nu and Psi are those of the coarsened
        posterior divided by zeta, and the density is of `weight` zeta rows, its log divided by
        zeta, plus `weight` D log(zeta) / 2.

    Returns
    -------
    float
        In nats.
    """
    log_det = sum(log(d_i) for d_i in d)
    ratio = determinant_ratios(d, z, kappa * weight / (kappa + weight))[-1]
    peak = log_peak(len(d), kappa, nu, log_det, weight, power)
    return peak - 0.5 * (nu + weight) * log(ratio)


def log_peak(
    n_columns: int, kappa: float, nu: float, log_det: float, weight: float, power: float = 1.0
) -> float:
    """Log of the density at x = m.

    With w = `weight`, it is

        Gamma_D((nu + w) / 2) / Gamma_D(nu / 2) (kappa / (kappa + w))^(D/2) (pi^D det Psi)^(-w/2),

    and the ratio of multivariate gamma functions is the product over j = 0 .. D - 1 of
    Gamma((nu + w - j) / 2) / Gamma((nu - j) / 2). With a power zeta, that is taken at zeta nu and
    zeta w, and its log is divided by zeta, as is that of kappa / (kappa + w).

    Parameters
    ----------
    n_columns : int
        D.
    kappa, nu : float
        As of `log_multivariate_t`.
    log_det : float
        Log of det Psi.
    weight, power : float
        As of `log_multivariate_t`.

    Returns
    -------
    float
        In nats.
    """
    halves = (0.5 * (power * nu - j) for j in range(n_columns))
    gammas = sum(log_rising(half, 0.5 * power * weight) for half in halves)
    powers = n_columns * (log1p(weight / kappa) / power + weight * log(pi)) + weight * log_det
    return gammas / power - 0.5 * powers
