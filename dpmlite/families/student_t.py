"""The Student-t density of one value given a cluster's values: eq. (11), its column d."""

from math import log, log1p, pi

from dpmlite.core.special import log_rising


def log_student_t(
    x: float, m: float, c: float, b: float, a: float, weight: float = 1.0, power: float = 1.0
) -> float:
    """Log of St(x | m, a c / (b (c + 1)), 2 a), or of several equal values together.

    It is the predictive density of a normal whose mean and precision have the normal-gamma
    posterior NG(m, c, a, b).

    Parameters
    ----------
    x : float
        The value.
    m, c, b, a : float
        Posterior mean, its worth in rows, posterior rate and shape of the precision, eq. (13).
    weight : float, default 1.0
        How many values equal to `x`, one after the other, the density is of.
    power : float, default 1.0
        Power zeta of the likelihood. If it is below 1, c, b and a are those of the coarsened
        posterior divided by zeta, and the density is of `weight` zeta values, its log divided by
        zeta, plus `weight` log(zeta) / 2.

    Returns
    -------
    float
        In nats.
    """
    t = weight * c * (x - m) ** 2 / (2.0 * b * (c + weight))
    normaliser = log_rising(power * a, power * 0.5 * weight) - 0.5 * log1p(weight / c)
    normaliser /= power
    normaliser -= 0.5 * weight * log(2.0 * pi * b)
    return normaliser - (a + 0.5 * weight) * log1p(t)
