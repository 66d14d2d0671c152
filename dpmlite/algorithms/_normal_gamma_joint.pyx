"""Kernel of normal_gamma_joint.py: the joint of hyperparameters and clusters."""

from libc.math cimport exp, log

from dpmlite.algorithms._normal_penalty cimport penalty_of
from dpmlite.core._memory cimport double_array
from dpmlite.core._special cimport digamma_c, log_gamma_c


cdef class NormalGammaJoint:

    cdef const double[:, :] counts, half_scatters, half_squares
    cdef const double[:] means, deviations
    cdef double[::1] b0

    def __init__(self, const double[:, :] counts, const double[:, :] half_scatters,
                 const double[:, :] half_squares, const double[:] means,
                 const double[:] deviations):
        self.counts, self.half_scatters, self.half_squares = counts, half_scatters, half_squares
        self.means, self.deviations = means, deviations
        self.b0 = double_array(half_scatters.shape[1])

    def evaluate(self, const double[::1] x, double[::1] gradient):
        cdef double value
        cdef Py_ssize_t d, k
        with nogil:
            value = penalty_of(x, self.means, self.deviations, gradient)
            for d in range(self.b0.shape[0]):
                self.b0[d] = exp(x[1] + x[2 + d])
            for k in range(self.counts.shape[0]):
                value -= self.add_counts(x, gradient, k)
                value -= self.add_rows(x, gradient, k)
        return value

    cdef double add_counts(self, const double[::1] x, double[::1] gradient,
                           Py_ssize_t k) noexcept nogil:
        """Terms of a cluster's log marginal that counts alone give; subtracts their gradient."""
        cdef double c0 = exp(x[0]), a0 = exp(x[1]), total = 0.0, n, a, part
        cdef double of_a0 = log_gamma_c(a0), slope_of_a0 = digamma_c(a0)
        cdef Py_ssize_t n_counts = self.counts.shape[1], m
        cdef double repeats = <double> self.b0.shape[0] / max(n_counts, 1)
        for m in range(n_counts):
            n = self.counts[k, m]
            a, part = a0 + 0.5 * n, n / (c0 + n)
            total += 0.5 * log(c0 / (c0 + n)) + log_gamma_c(a) - of_a0
            gradient[0] -= repeats * 0.5 * part
            gradient[1] -= repeats * a0 * (digamma_c(a) - slope_of_a0)
        return repeats * total

    cdef double add_rows(self, const double[::1] x, double[::1] gradient,
                         Py_ssize_t k) noexcept nogil:
        """The other terms of a cluster's log marginal; subtracts their gradient."""
        cdef double c0 = exp(x[0]), a0 = exp(x[1]), total = 0.0
        cdef double n, a, part, shrunk, b, log_b0, log_b, by_b0
        cdef bint has_gaps = self.counts.shape[1] > 1
        cdef Py_ssize_t d
        for d in range(self.b0.shape[0]):
            n = self.counts[k, d if has_gaps else 0]
            a, part, log_b0 = a0 + 0.5 * n, n / (c0 + n), x[1] + x[2 + d]
            shrunk = c0 * part * self.half_squares[k, d]
            b = self.b0[d] + self.half_scatters[k, d] + shrunk
            log_b, by_b0 = log(b), a0 - a * self.b0[d] / b
            total += a0 * log_b0 - a * log_b
            gradient[0] += a / b * shrunk * part
            gradient[1] -= a0 * (log_b0 - log_b) + by_b0
            gradient[2 + d] -= by_b0
        return total

    def penalty(self, const double[::1] x, double[::1] gradient):
        return penalty_of(x, self.means, self.deviations, gradient)
