"""Special functions of the models: log-gamma and its relatives, for positive arguments.

Stirling's series, after a shift of the argument to where the series is exact to double
precision (Abramowitz & Stegun 1964, 6.1.41, 6.1.15 and 6.3.18).
"""

from math import log, pi

HALF_LOG_2PI = 0.5 * log(2.0 * pi)

# Where the series below are exact to double precision.
_SHIFTED = 10.0


def log_gamma(x: float) -> float:
    """Logarithm of the gamma function.

    Parameters
    ----------
    x : float
        A positive number.

    Returns
    -------
    float
        log Gamma(x), to about 1e-15 of the larger of 1 and its size.

    Raises
    ------
    ValueError
        If `x` is not positive.
    """
    _require_positive(x)
    shift = 1.0
    while x < _SHIFTED:
        shift *= x
        x += 1.0
    r = 1.0 / (x * x)
    series = (
        1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * (1 / 1188 - r * (691 / 360360 - r / 156)))))
    ) / x
    return (x - 0.5) * log(x) - x + HALF_LOG_2PI + series - log(shift)


def log_gamma_half_step(x: float) -> float:
    """log Gamma(x + 1/2) - log Gamma(x), without the cancellation of that difference.

    It is the normalising constant of a Student-t density with 2 x degrees of freedom. The
    series is that of Tricomi & Erdelyi (1951) for the ratio of two gamma functions.

    Parameters
    ----------
    x : float
        A positive number.

    Returns
    -------
    float
        The difference, to about 1e-15 at any size of `x`.

    Raises
    ------
    ValueError
        If `x` is not positive.
    """
    _require_positive(x)
    shift = 1.0
    while x < _SHIFTED:
        shift *= x / (x + 0.5)
        x += 1.0
    r = 1.0 / (x * x)
    series = (
        1 / 8
        - r * (1 / 192 - r * (1 / 640 - r * (17 / 14336 - r * (31 / 18432 - r * (691 / 180224 - r * 5461 / 425984)))))
    ) / x
    return 0.5 * log(x) - series + log(shift)


def digamma(x: float) -> float:
    """Derivative of the log-gamma function.

    Parameters
    ----------
    x : float
        A positive number.

    Returns
    -------
    float
        The digamma function at `x`, to about 1e-15 of the larger of 1 and its size.

    Raises
    ------
    ValueError
        If `x` is not positive.
    """
    _require_positive(x)
    shift = 0.0
    while x < _SHIFTED:
        shift += 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    series = r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r * (1 / 132 - r * (691 / 32760 - r / 12))))))
    return log(x) - 0.5 / x - series - shift


def multivariate_log_gamma(x: float, p: int) -> float:
    """Logarithm of the multivariate gamma function of dimension `p`.

    Parameters
    ----------
    x : float
        A number above (p - 1) / 2.
    p : int
        The dimension, at least 1.

    Returns
    -------
    float
        log Gamma_p(x) = p (p - 1) / 4 log pi + sum over j < p of log Gamma(x - j / 2).

    Raises
    ------
    ValueError
        If `p` is below 1 or `x` is not above (p - 1) / 2.
    """
    if p < 1:
        raise ValueError(f"p must be at least 1, got {p}")
    if not x > 0.5 * (p - 1):
        raise ValueError(f"x must be above (p - 1) / 2 = {0.5 * (p - 1)}, got {x}")
    total = 0.25 * p * (p - 1) * log(pi)
    for j in range(p):
        total += log_gamma(x - 0.5 * j)
    return total


def _require_positive(x: float) -> None:
    if not x > 0.0:
        raise ValueError(f"x must be positive, got {x}")
