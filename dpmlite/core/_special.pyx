"""Kernel of special.py: log-gamma and its relatives, for positive arguments.

Functions that other kernels inline into vector loops are in _special.pxd.
"""

from libc.math cimport log, log1p

from dpmlite.core._constants cimport LOG_PI, MIN_STIRLING_ARGUMENT
from dpmlite.core._simd cimport LANES, smaller


cdef clones_void log_rising_of(double *x, const double *n, Py_ssize_t n_vectors) noexcept nogil:
    """Replace x[i] by log Gamma(x[i] + n[i]) - log Gamma(x[i]), i < n_vectors * LANES."""
    cdef Py_ssize_t i
    cdef double least = x[0]
    for i in range(n_vectors * LANES):
        least = smaller(x[i], least)
    if least >= MIN_STIRLING_ARGUMENT:
        for i in range(n_vectors * LANES):
            x[i] = log_rising_unshifted(x[i], n[i])
    else:
        for i in range(n_vectors * LANES):
            x[i] = log_rising_of_lane(x[i], n[i])


cdef inline inlined_double log_rising_unshifted(double x, double n) noexcept nogil:
    """log Gamma(x + n) - log Gamma(x) of x >= MIN_STIRLING_ARGUMENT."""
    cdef double y = x + n
    return n * log_positive(x) + (y - 0.5) * log1p_of_lane(n / x) - n + (stirling(y) - stirling(x))


cdef inline inlined_double log1p_of_lane(double x) noexcept nogil:
    """log(1 + x) of x >= 0; the factor corrects for the rounding of the sum."""
    cdef double sum = 1.0 + x
    return log_positive(sum) * (x / (sum - 1.0)) if sum > 1.0 else x


cdef double log_gamma_c(double x) noexcept nogil:
    return log_gamma_of_lane(x)


cdef double log_rising_c(double x, double n) noexcept nogil:
    cdef double y = x + n
    if x < MIN_STIRLING_ARGUMENT:
        return log_rising_of_lane(x, n)
    return n * log(x) + (y - 0.5) * log1p(n / x) - n + (stirling(y) - stirling(x))


cdef double log_gamma_half_step_c(double x) noexcept nogil:
    cdef double shift = 1.0
    while x < MIN_STIRLING_ARGUMENT:
        shift *= x / (x + 0.5)
        x += 1.0
    return 0.5 * log(x) - half_step_series(x) + log(shift)


cdef double digamma_c(double x) noexcept nogil:
    cdef double shift = 0.0, r, series
    while x < MIN_STIRLING_ARGUMENT:
        shift += 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    series = r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (
        1.0 / 132 - r * (691.0 / 32760 - r / 12))))))
    return log(x) - 0.5 / x - series - shift


cdef double trigamma_c(double x) noexcept nogil:
    cdef double shift = 0.0, r, series
    while x < MIN_STIRLING_ARGUMENT:
        shift += 1.0 / (x * x)
        x += 1.0
    r = 1.0 / (x * x)
    series = r * (1.0 / 6 - r * (1.0 / 30 - r * (1.0 / 42 - r * (1.0 / 30 - r * (
        5.0 / 66 - r * (691.0 / 2730 - r * 7.0 / 6))))))
    return (1.0 + 0.5 / x + series) / x + shift


def log_gamma(double x):
    require_positive(x)
    return log_gamma_c(x)


def log_gamma_half_step(double x):
    require_positive(x)
    return log_gamma_half_step_c(x)


def log_rising(double x, double n):
    require_positive(x)
    if not n >= 0.0:
        raise ValueError(f"n must not be negative, got {n}")
    return log_rising_c(x, n)


def digamma(double x):
    require_positive(x)
    return digamma_c(x)


def trigamma(double x):
    require_positive(x)
    return trigamma_c(x)


def multivariate_log_gamma(double x, Py_ssize_t p):
    if p < 1:
        raise ValueError(f"p must be at least 1, got {p}")
    if not x > 0.5 * (p - 1):
        raise ValueError(f"x must be above (p - 1) / 2 = {0.5 * (p - 1)}, got {x}")
    cdef double total = 0.25 * p * (p - 1) * LOG_PI
    cdef Py_ssize_t j
    for j in range(p):
        total += log_gamma_c(x - 0.5 * j)
    return total


def log_gammas(const double[:] x, double[:] out):
    require_equal_lengths(x.shape[0], out.shape[0])
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        require_positive(x[i])
        out[i] = log_gamma_c(x[i])


def digammas(const double[:] x, double[:] out):
    require_equal_lengths(x.shape[0], out.shape[0])
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        require_positive(x[i])
        out[i] = digamma_c(x[i])


cdef int require_positive(double x) except -1:
    if not x > 0.0:
        raise ValueError(f"x must be positive, got {x}")
    return 0


cdef int require_equal_lengths(Py_ssize_t n_arguments, Py_ssize_t n_results) except -1:
    if n_results != n_arguments:
        raise ValueError(f"out must have the length of x, {n_arguments}, got {n_results}")
    return 0
