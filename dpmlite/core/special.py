"""Special functions of the models: log-gamma and its relatives, for positive arguments.

Stirling's series, after a shift of the argument to where the series is exact to double
precision (Abramowitz & Stegun 1964, 6.1.41, 6.1.15, 6.3.18 and 6.4.12).
"""

from functools import lru_cache
from math import log, log1p

from dpmlite.core.constants import LOG_2PI, LOG_PI, MIN_STIRLING_ARGUMENT
from dpmlite.core.protocols import Buffer, Values

# Coefficients of the asymptotic series in powers of -1 / x^2, the first one positive.
_LOG_GAMMA_TERMS = (1 / 12, 1 / 360, 1 / 1260, 1 / 1680, 1 / 1188, 691 / 360360, 1 / 156)
_HALF_STEP_TERMS = (1 / 8, 1 / 192, 1 / 640, 17 / 14336, 31 / 18432, 691 / 180224, 5461 / 425984)
_DIGAMMA_TERMS = (1 / 12, 1 / 120, 1 / 252, 1 / 240, 1 / 132, 691 / 32760, 1 / 12)
_TRIGAMMA_TERMS = (1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6)


def log_gamma(x: float) -> float:
    """Logarithm of the gamma function.

    Parameters
    ----------
    x : float
        A positive number.

    Returns
    -------
    float
        log Gamma(x), to about 1e-14 of the larger of 1 and its size.

    Raises
    ------
    ValueError
        If `x` is not positive.
    """
    _require_positive(x)
    shift = 1.0
    while x < MIN_STIRLING_ARGUMENT:
        shift *= x
        x += 1.0
    series = _alternating(_LOG_GAMMA_TERMS, 1.0 / (x * x)) / x
    return (x - 0.5) * log(x) - x + 0.5 * LOG_2PI + series - log(shift)


def log_gamma_half_step(x: float) -> float:
    """The step log Gamma(x + 1/2) - log Gamma(x), without the cancellation of that difference.

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
    while x < MIN_STIRLING_ARGUMENT:
        shift *= x / (x + 0.5)
        x += 1.0
    series = _alternating(_HALF_STEP_TERMS, 1.0 / (x * x)) / x
    return 0.5 * log(x) - series + log(shift)


@lru_cache(maxsize=1 << 16)  # searches call it with the same few counts over and over
def log_rising(x: float, n: float) -> float:
    """Log Gamma(x + n) - log Gamma(x), without the cancellation of that difference.

    Parameters
    ----------
    x : float
        A positive number, not below 1e-100.
    n : float
        A number from 0 up.

    Returns
    -------
    float
        Logarithm of the rising factorial x (x + 1) ... (x + n - 1), to about 1e-15 of n log(x + n).

    Raises
    ------
    ValueError
        If `x` is not positive or `n` is negative.
    """
    _require_positive(x)
    if not n >= 0.0:
        raise ValueError(f"n must not be negative, got {n}")
    above, below = 1.0, 1.0
    while x < MIN_STIRLING_ARGUMENT:
        above *= x + n
        below *= x
        x += 1.0
    y = x + n
    series = _alternating(_LOG_GAMMA_TERMS, 1.0 / (y * y)) / y
    series -= _alternating(_LOG_GAMMA_TERMS, 1.0 / (x * x)) / x
    return n * log(x) + (y - 0.5) * log1p(n / x) - n + series + log(below) - log(above)


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
    while x < MIN_STIRLING_ARGUMENT:
        shift += 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    return log(x) - 0.5 / x - r * _alternating(_DIGAMMA_TERMS, r) - shift


def trigamma(x: float) -> float:
    """Second derivative of the log-gamma function.

    Parameters
    ----------
    x : float
        A positive number.

    Returns
    -------
    float
        The trigamma function at `x`, to about 1e-15 of its size.

    Raises
    ------
    ValueError
        If `x` is not positive.
    """
    _require_positive(x)
    shift = 0.0
    while x < MIN_STIRLING_ARGUMENT:
        shift += 1.0 / (x * x)
        x += 1.0
    r = 1.0 / (x * x)
    return (1.0 + 0.5 / x + r * _alternating(_TRIGAMMA_TERMS, r)) / x + shift


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
    total = 0.25 * p * (p - 1) * LOG_PI
    for j in range(p):
        total += log_gamma(x - 0.5 * j)
    return total


def log_gammas(x: Values, out: Buffer) -> None:
    """Logarithms of the gamma function at many numbers.

    Parameters
    ----------
    x : sequence of float
        Positive numbers.
    out : sequence of float
        OUT: as long as `x`.

    Raises
    ------
    ValueError
        If a number is not positive, or `out` has another length.
    """
    _require_equal_lengths(len(x), len(out))
    for i, each in enumerate(x):
        out[i] = log_gamma(each)


def digammas(x: Values, out: Buffer) -> None:
    """Digamma functions at many numbers.

    Parameters
    ----------
    x : sequence of float
        Positive numbers.
    out : sequence of float
        OUT: as long as `x`.

    Raises
    ------
    ValueError
        If a number is not positive, or `out` has another length.
    """
    _require_equal_lengths(len(x), len(out))
    for i, each in enumerate(x):
        out[i] = digamma(each)


def _alternating(terms: tuple[float, ...], r: float) -> float:
    """terms[0] - r (terms[1] - r (terms[2] - ...))."""
    total = 0.0
    for term in reversed(terms):
        total = term - r * total
    return total


def _require_positive(x: float) -> None:
    if not x > 0.0:
        raise ValueError(f"x must be positive, got {x}")


def _require_equal_lengths(n_arguments: int, n_results: int) -> None:
    if n_results != n_arguments:
        raise ValueError(f"out must have the length of x, {n_arguments}, got {n_results}")
