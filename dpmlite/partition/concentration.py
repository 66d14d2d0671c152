"""The concentration given the number of clusters: draws of it, and its mode.

The draws are those of Escobar & West (1995); the mode is Raykov, Boukouvalas & Little's (2014),
appendix A.3.
"""

from math import exp, inf, log, log1p

from dpmlite.core.constants import (
    MAX_NEWTON_ITERATIONS,
    MAX_NEWTON_STEP,
    MIN_NEWTON_STEP,
    MIN_STIRLING_ALPHA,
)
from dpmlite.core.special import digamma, trigamma


def alpha_given_eta(
    n_clusters: int, n_rows: float, shape: float, rate: float, log_eta: float, uniform: float
) -> tuple[float, float]:
    """The gamma distribution of which the next concentration is a draw, section 6 of the paper.

    Under a Gamma(shape, rate) prior, p(alpha | K, n) is a marginal of a joint density of alpha and
    eta. Given alpha, eta is Beta(alpha + 1, n); given eta, alpha is a mixture of two
    gamma distributions, eq. (13). A Gibbs sampler draws one after the other.

    Parameters
    ----------
    n_clusters : int
        K, at least 1.
    n_rows : float
        n, the total weight of the rows.
    shape, rate : float
        Of the prior of alpha, whose mean is shape / rate.
    log_eta : float
        Log of a draw of Beta(alpha + 1, n), alpha being the present concentration.
    uniform : float
        A number in [0, 1) that chooses one of the two distributions.

    Returns
    -------
    shape, rate : float
        Of the chosen gamma distribution.

    Raises
    ------
    ValueError
        If a number is out of its range.
    """
    if not n_clusters >= 1:
        raise ValueError(f"n_clusters must be at least 1, got {n_clusters}")
    for name, value in (("n_rows", n_rows), ("shape", shape), ("rate", rate)):
        if not 0.0 < value < inf:
            raise ValueError(f"{name} must be positive and finite, got {float(value)}")
    if not -inf < log_eta <= 0.0:
        raise ValueError(f"log_eta must be finite and not above 0, got {float(log_eta)}")
    if not 0.0 <= uniform < 1.0:
        raise ValueError(f"uniform must be in [0, 1), got {float(uniform)}")
    rate -= log_eta
    shape += n_clusters
    odds = (shape - 1.0) / (n_rows * rate)  # of the larger shape, eq. (14)
    return (shape if uniform * (1.0 + odds) < odds else shape - 1.0), rate


def alpha_mode(
    n_clusters: int, n_rows: float, power: float, rate: float, inverse_rate: float
) -> float:
    """The mode of the posterior of log alpha given the number of clusters.

    The prior of log alpha is proportional to alpha^power exp(-rate alpha - inverse_rate / alpha).
    A Gamma(a, b) prior of alpha is ``power = a, rate = b, inverse_rate = 0``, eq. (26); the
    inverse-gamma(1/2, 1/2) of Rasmussen (2000) is ``power = -1/2, rate = 0, inverse_rate = 1/2``,
    eq. (25). The likelihood is alpha^K Gamma(alpha) / Gamma(alpha + n), from eq. (1).

    Parameters
    ----------
    n_clusters : int
        K, at least 1.
    n_rows : float
        n, the total weight of the rows.
    power, rate, inverse_rate : float
        Of the prior; the rates not negative.

    Returns
    -------
    float
        alpha at the mode.

    Raises
    ------
    ValueError
        If a number is out of its range, or the density has no mode: it needs K + power above 1
        or an inverse rate, and K + power below n or a rate.

    Notes
    -----
    The density of log alpha is log-concave: it has one mode. Newton's method finds it from any
    start, with bisection in place of steps that leave the bracket. The density of alpha itself is
    not log-concave: with few clusters it may be highest at 0.
    """
    _check_mode(n_clusters, n_rows, power, rate, inverse_rate)
    total = n_clusters + power
    low, high, u = -inf, inf, log(n_clusters)
    for _ in range(MAX_NEWTON_ITERATIONS):
        slope, curvature = _derivatives(u, total, n_rows, rate, inverse_rate)
        low, high = (u, high) if slope > 0.0 else (low, u)
        step = -slope / curvature if curvature < 0.0 else (1.0 if slope > 0.0 else -1.0)
        step = min(max(step, -MAX_NEWTON_STEP), MAX_NEWTON_STEP)
        if not low < u + step < high and high - low < inf:
            step = 0.5 * (low + high) - u
        if abs(step) <= MIN_NEWTON_STEP * max(1.0, abs(u)):
            break
        u += step
    return exp(u)


def _derivatives(
    u: float, total: float, n_rows: float, rate: float, inverse_rate: float
) -> tuple[float, float]:
    """First and second derivative of the log density at log alpha = u."""
    alpha = exp(u)
    if alpha > n_rows and alpha > MIN_STIRLING_ALPHA:
        difference, change = _rows_minus_expected_clusters(alpha, n_rows)
        likelihood = (total - n_rows) + difference
    else:
        psi = digamma(alpha + n_rows) - digamma(alpha)
        psi_slope = trigamma(alpha + n_rows) - trigamma(alpha)
        likelihood, change = total - alpha * psi, -alpha * (psi + alpha * psi_slope)
    slope = likelihood - rate * alpha + inverse_rate / alpha
    return slope, change - rate * alpha - inverse_rate / alpha


def _rows_minus_expected_clusters(alpha: float, n: float) -> tuple[float, float]:
    """The rows less the expected number of clusters, and the derivative of that by log alpha.

    For a large alpha above n, the two, n and alpha (psi(alpha + n) - psi(alpha)), are nearly equal.
    With x = n / alpha, their difference is alpha (x - log(1 + x)), less x / (2 (1 + x)), less alpha
    times the difference of the tails of Stirling's series.
    """
    x, y = n / alpha, alpha + n
    gap = _x_minus_log1p(x)
    tail, tail_slope = _stirling_tail(alpha)
    other, other_slope = _stirling_tail(y)
    tails = alpha * (tail - other)
    value = alpha * gap - 0.5 * n / y - tails
    slope = alpha * (gap - x * n / y) + 0.5 * n / y * (alpha / y)
    return value, slope - tails + alpha * (tail_slope - alpha / y * other_slope)


def _stirling_tail(x: float) -> tuple[float, float]:
    """log(x) - 1 / (2 x) - psi(x) of a large x, and -x times its derivative."""
    r = 1.0 / x / x
    tail = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r / 240)))
    return tail, r * (1 / 6 - r * (1 / 30 - r * (1 / 42 - r / 30)))


def _x_minus_log1p(x: float) -> float:
    """The value of x - log(1 + x), 0 < x <= 1; of a small x by 2 atanh(x / (2 + x))."""
    if x > 0.5:
        return x - log1p(x)
    r = x / (2.0 + x)
    total = 0.0
    for k in range(12, 0, -1):
        total = r * r * (1.0 / (2 * k + 1) + total)
    return r * (x - 2.0 * total)


def _check_mode(
    n_clusters: int, n_rows: float, power: float, rate: float, inverse_rate: float
) -> None:
    if not n_clusters >= 1:
        raise ValueError(f"n_clusters must be at least 1, got {n_clusters}")
    if not 0.0 < n_rows < inf:
        raise ValueError(f"n_rows must be positive and finite, got {float(n_rows)}")
    for name, value in (("rate", rate), ("inverse_rate", inverse_rate)):
        if not 0.0 <= value < inf:
            raise ValueError(f"{name} must be finite and not negative, got {float(value)}")
    total = n_clusters + power
    if not (total > 1.0 or inverse_rate > 0.0):
        raise ValueError(f"n_clusters + power must be above 1, got {float(total)}")
    if not (total < n_rows or rate > 0.0):
        raise ValueError(
            f"n_clusters + power must be below n_rows = {float(n_rows)}, got {float(total)}"
        )
