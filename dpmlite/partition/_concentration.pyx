"""Kernel of concentration.py: the concentration given the number of clusters."""

from libc.math cimport INFINITY, exp, fabs, log, log1p

from dpmlite.core._constants cimport (
    MAX_NEWTON_ITERATIONS, MAX_NEWTON_STEP, MIN_NEWTON_STEP, MIN_STIRLING_ALPHA)
from dpmlite.core._special cimport digamma_c, trigamma_c


def alpha_given_eta(Py_ssize_t n_clusters, double n_rows, double shape, double rate,
                    double log_eta, double uniform):
    if not n_clusters >= 1:
        raise ValueError(f"n_clusters must be at least 1, got {n_clusters}")
    for name, value in (("n_rows", n_rows), ("shape", shape), ("rate", rate)):
        if not 0.0 < value < INFINITY:
            raise ValueError(f"{name} must be positive and finite, got {value}")
    if not -INFINITY < log_eta <= 0.0:
        raise ValueError(f"log_eta must be finite and not above 0, got {log_eta}")
    if not 0.0 <= uniform < 1.0:
        raise ValueError(f"uniform must be in [0, 1), got {uniform}")
    rate -= log_eta
    shape += n_clusters
    cdef double odds = (shape - 1.0) / (n_rows * rate)
    return (shape if uniform * (1.0 + odds) < odds else shape - 1.0), rate


def alpha_mode(Py_ssize_t n_clusters, double n_rows, double power, double rate,
               double inverse_rate):
    check_mode(n_clusters, n_rows, power, rate, inverse_rate)
    cdef double total = n_clusters + power, low = -INFINITY, high = INFINITY
    cdef double u = log(n_clusters), slope, curvature, step
    cdef int i
    for i in range(MAX_NEWTON_ITERATIONS):
        slope = derivatives(u, total, n_rows, rate, inverse_rate, &curvature)
        if slope > 0.0:
            low = u
        else:
            high = u
        step = -slope / curvature if curvature < 0.0 else (1.0 if slope > 0.0 else -1.0)
        step = min(max(step, -MAX_NEWTON_STEP), MAX_NEWTON_STEP)
        if not low < u + step < high and high - low < INFINITY:
            step = 0.5 * (low + high) - u
        if fabs(step) <= MIN_NEWTON_STEP * max(1.0, fabs(u)):
            break
        u += step
    return exp(u)


cdef double derivatives(double u, double total, double n_rows, double rate, double inverse_rate,
                        double *curvature) noexcept:
    """The first derivative of the log density at log alpha = u; the second is the curvature."""
    cdef double alpha = exp(u), psi, psi_slope, likelihood, change
    if alpha > n_rows and alpha > MIN_STIRLING_ALPHA:
        likelihood = (total - n_rows) + rows_minus_expected_clusters(alpha, n_rows, &change)
    else:
        psi = digamma_c(alpha + n_rows) - digamma_c(alpha)
        psi_slope = trigamma_c(alpha + n_rows) - trigamma_c(alpha)
        likelihood = total - alpha * psi
        change = -alpha * (psi + alpha * psi_slope)
    curvature[0] = change - rate * alpha - inverse_rate / alpha
    return likelihood - rate * alpha + inverse_rate / alpha


cdef double rows_minus_expected_clusters(double alpha, double n, double *slope) noexcept:
    cdef double x = n / alpha, y = alpha + n, gap = x_minus_log1p(x)
    cdef double tail_slope, other_slope, tails
    tails = alpha * (stirling_tail(alpha, &tail_slope) - stirling_tail(y, &other_slope))
    slope[0] = (alpha * (gap - x * n / y) + 0.5 * n / y * (alpha / y) - tails
                + alpha * (tail_slope - alpha / y * other_slope))
    return alpha * gap - 0.5 * n / y - tails


cdef double stirling_tail(double x, double *slope) noexcept:
    cdef double r = 1.0 / x / x
    slope[0] = r * (1.0 / 6 - r * (1.0 / 30 - r * (1.0 / 42 - r / 30)))
    return r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r / 240)))


cdef double x_minus_log1p(double x) noexcept:
    cdef double r = x / (2.0 + x), total = 0.0
    cdef int k
    if x > 0.5:
        return x - log1p(x)
    for k in range(12, 0, -1):
        total = r * r * (1.0 / (2 * k + 1) + total)
    return r * (x - 2.0 * total)


cdef int check_mode(Py_ssize_t n_clusters, double n_rows, double power, double rate,
                    double inverse_rate) except -1:
    if not n_clusters >= 1:
        raise ValueError(f"n_clusters must be at least 1, got {n_clusters}")
    if not 0.0 < n_rows < INFINITY:
        raise ValueError(f"n_rows must be positive and finite, got {n_rows}")
    for name, value in (("rate", rate), ("inverse_rate", inverse_rate)):
        if not 0.0 <= value < INFINITY:
            raise ValueError(f"{name} must be finite and not negative, got {value}")
    cdef double total = n_clusters + power
    if not (total > 1.0 or inverse_rate > 0.0):
        raise ValueError(f"n_clusters + power must be above 1, got {total}")
    if not (total < n_rows or rate > 0.0):
        raise ValueError(f"n_clusters + power must be below n_rows = {n_rows}, got {total}")
    return 0
