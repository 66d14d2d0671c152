"""Kernel of crp.py: the Chinese restaurant process."""

from array import array

from libc.math cimport log

from dpmlite.models._special cimport log_gamma_c, log_rising_c


cdef double log_prob_counts_c(const double *counts, Py_ssize_t n_counts, double alpha) noexcept nogil:
    cdef double total = 0.0, n = 0.0
    cdef Py_ssize_t k
    for k in range(n_counts):
        if counts[k] > 0.0:
            total += log(alpha) + log_gamma_c(counts[k])
            n += counts[k]
    return total - log_rising_c(alpha, n)


def log_prob_counts(counts, double alpha):
    require_positive(alpha)
    cdef double[::1] sizes = array("d", counts)
    for count in counts:
        if not count > 0.0:
            raise ValueError(f"counts must be positive, got {count}")
    return log_prob_counts_c(&sizes[0] if len(counts) else NULL, len(counts), alpha)


def log_prob(labels, double alpha):
    counts = {}
    for label in labels:
        counts[label] = counts.get(label, 0.0) + 1.0
    return log_prob_counts(list(counts.values()), alpha)


def predictive(counts, double alpha):
    require_positive(alpha)
    cdef double total = sum(counts) + alpha
    return [n / total for n in counts] + [alpha / total]


def sample(const double[::1] uniforms, double alpha):
    require_positive(alpha)
    cdef Py_ssize_t i, k, n_clusters = 0, n = uniforms.shape[0]
    cdef double rest
    cdef double[::1] counts = array("d", bytes(8 * n))
    labels = []
    for i in range(n):
        rest, k = uniforms[i] * (i + alpha), 0
        while k < n_clusters and rest >= counts[k]:
            rest -= counts[k]
            k += 1
        n_clusters = max(n_clusters, k + 1)
        counts[k] += 1.0
        labels.append(k)
    return labels


def stick_breaking(const double[::1] uniforms, double alpha):
    require_positive(alpha)
    cdef double left = 1.0, rest
    cdef Py_ssize_t i
    weights = []
    for i in range(uniforms.shape[0]):
        rest = left * (1.0 - uniforms[i]) ** (1.0 / alpha)
        weights.append(left - rest)
        left = rest
    return weights


cdef int require_positive(double alpha) except -1:
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {alpha}")
    return 0
