"""The concentration given the number of clusters: draws of it, and its mode.

The draws are those of Escobar & West (1995); the mode is Raykov, Boukouvalas & Little's (2014),
appendix A.3.
"""

from math import exp, inf, log

from dpmlite.models.special import digamma, trigamma

# Where Newton's method ends: a step of log alpha that changes nothing any more, or so many steps,
# which no case needs.
SMALL_STEP = 1e-13
MOST_STEPS = 200


def alpha_given_eta(
    n_clusters: int, n_rows: float, shape: float, rate: float, log_eta: float, uniform: float
) -> tuple[float, float]:
    """The gamma distribution to draw the next concentration from, section 6 of the paper.

    Under a Gamma(shape, rate) prior, p(alpha | K, n) is the first marginal of a joint density of
    alpha and eta. Given alpha, eta is Beta(alpha + 1, n); given eta, alpha is a mixture of two
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
        A number of [0, 1) that chooses one of the two.

    Returns
    -------
    shape, rate : float
        Of the chosen part: draw alpha from it.

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
    odds = (shape - 1.0) / (n_rows * rate)  # of the part with the larger shape, eq. (14)
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
    The density of log alpha is log-concave, so that its mode is one, and Newton's method finds it
    from anywhere if steps that leave the bracket are replaced by halves of it. That of alpha itself
    is not: with few clusters it may be highest at 0.
    """
    _check_mode(n_clusters, n_rows, power, rate, inverse_rate)
    total = n_clusters + power
    low, high, u = -inf, inf, log(n_clusters)
    for _ in range(MOST_STEPS):
        slope, curvature = _derivatives(u, total, n_rows, rate, inverse_rate)
        low, high = (u, high) if slope > 0.0 else (low, u)
        step = -slope / curvature if curvature < 0.0 else (1.0 if slope > 0.0 else -1.0)
        step = min(max(step, -4.0), 4.0)
        if not low < u + step < high and high - low < inf:
            step = 0.5 * (low + high) - u
        if abs(step) <= SMALL_STEP * max(1.0, abs(u)):
            break
        u += step
    return exp(u)


def _derivatives(
    u: float, total: float, n_rows: float, rate: float, inverse_rate: float
) -> tuple[float, float]:
    """First and second derivative of the log density at log alpha = u."""
    alpha = exp(u)
    rise = digamma(alpha + n_rows) - digamma(alpha)
    bend = trigamma(alpha + n_rows) - trigamma(alpha)
    slope = total - rate * alpha + inverse_rate / alpha - alpha * rise
    return slope, -rate * alpha - inverse_rate / alpha - alpha * (rise + alpha * bend)


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
