"""The Student-t density of one value given a cluster's values: eq. (11), its column d."""

from math import log, log1p, pi

from dpmlite.models.special import log_gamma_half_step


def log_density(x: float, m: float, c: float, b: float, a: float) -> float:
    """Log of St(x | m, a c / (b (c + 1)), 2 a).

    It is the predictive density of a normal whose mean and precision have the normal-gamma
    posterior NG(m, c, a, b).

    Parameters
    ----------
    x : float
        The value.
    m, c, b, a : float
        Posterior mean, its worth in rows, posterior rate and shape of the precision, eq. (13).

    Returns
    -------
    float
        In nats.
    """
    t = c * (x - m) ** 2 / (2.0 * b * (c + 1.0))
    normaliser = log_gamma_half_step(a) + 0.5 * log(c / (c + 1.0)) - 0.5 * log(2.0 * pi * b)
    return normaliser - (a + 0.5) * log1p(t)
