"""Kernel of normal_inverse_wishart_joint.py: the joint of hyperparameters and clusters."""

from libc.math cimport exp, log
from libc.string cimport memset

from dpmlite.algorithms._normal_penalty cimport penalty_of
from dpmlite.core._memory cimport double_array
from dpmlite.core._simd cimport clones_void, padded_columns
from dpmlite.core._special cimport digamma_c, log_gamma_c
from dpmlite.core._triangular cimport eliminate


cdef class NormalInverseWishartJoint:

    cdef const double[:] counts, means, deviations
    cdef const double[:, :, :] scatters
    cdef const double[:, :] gaps
    cdef Py_ssize_t n_columns, width
    # Room for psi, and for W with W (x - m0) after it: padded columns, as `eliminate` takes them.
    cdef double[::1] psi, W, unit, factor

    def __init__(self, const double[:] counts, const double[:, :, :] scatters,
                 const double[:, :] gaps, const double[:] means, const double[:] deviations):
        self.counts, self.scatters, self.gaps = counts, scatters, gaps
        self.means, self.deviations = means, deviations
        self.n_columns = means.shape[0] - 2
        self.width = padded_columns(self.n_columns)
        self.psi = double_array(self.n_columns * self.width)
        self.W = double_array((self.n_columns + 1) * self.width)
        self.unit, self.factor = double_array(self.n_columns), double_array(self.width)

    def evaluate(self, const double[::1] x, double[::1] gradient):
        cdef double value
        cdef Py_ssize_t d, k
        with nogil:
            value = penalty_of(x, self.means, self.deviations, gradient)
            for d in range(self.n_columns):
                self.unit[d] = exp(-0.5 * (x[1] + x[2 + d]))
            for k in range(self.counts.shape[0] if self.n_columns > 0 else 0):
                value -= self.add_counts(x, gradient, self.counts[k])
                value -= self.add_rows(x, gradient, k)
        return value

    cdef double add_counts(self, const double[::1] x, double[::1] gradient,
                           double n) noexcept nogil:
        """Terms of the log marginal of n rows that n alone gives; subtracts their gradient."""
        cdef double kappa0 = exp(x[0]), r = exp(x[1]), half
        cdef double total = 0.5 * self.n_columns * log(kappa0 / (kappa0 + n))
        cdef Py_ssize_t j
        gradient[0] -= 0.5 * self.n_columns * n / (kappa0 + n)
        for j in range(self.n_columns):
            half = 0.5 * (r + j)
            total += log_gamma_c(half + 0.5 * n) - log_gamma_c(half)
            gradient[1] -= 0.5 * r * (digamma_c(half + 0.5 * n) - digamma_c(half))
        return total

    cdef double add_rows(self, const double[::1] x, double[::1] gradient,
                         Py_ssize_t k) noexcept nogil:
        """The other terms of a cluster's log marginal; subtracts their gradient."""
        cdef double kappa0 = exp(x[0]), r = exp(x[1]), n = self.counts[k], part = n / (kappa0 + n)
        cdef double nu0 = r + self.n_columns - 1.0, log_ratio = 0.0, log_det0 = 0.0, distance = 0.0
        cdef double of_inverse, by_psi0, z
        cdef Py_ssize_t i, j, D = self.n_columns, width = self.width
        self.factorise(k, kappa0 * part)
        for i in range(D):
            z = self.W[D * width + i]
            log_ratio += log(self.psi[i * width + i])
            log_det0 += x[1] + x[2 + i]
            distance += z * z / self.psi[i * width + i]
        gradient[0] += 0.5 * (nu0 + n) * kappa0 * part * part * distance
        gradient[1] += 0.5 * r * log_ratio
        for j in range(D):
            of_inverse = 0.0
            for i in range(j, D):
                z = self.W[j * width + i]
                of_inverse += z * z / self.psi[i * width + i]
            by_psi0 = 0.5 * (nu0 - (nu0 + n) * of_inverse)
            gradient[1] -= by_psi0
            gradient[2 + j] -= by_psi0
        return -0.5 * (nu0 + n) * log_ratio - 0.5 * n * log_det0

    cdef void factorise(self, Py_ssize_t k, double lever) noexcept nogil:
        """Put the pivots of psi of a cluster on the diagonal of `psi`; and W, and W (x - m0)."""
        cdef Py_ssize_t i, j, D = self.n_columns, width = self.width
        cdef double *gap = &self.W[D * width]
        memset(&self.W[0], 0, (D + 1) * width * sizeof(double))
        for i in range(D):
            self.W[i * width + i] = 1.0
            gap[i] = self.gaps[k, i] * self.unit[i]
        for j in range(D):
            for i in range(j, D):
                self.psi[j * width + i] = (
                    self.unit[i] * self.unit[j] * self.scatters[k, j, i] + lever * gap[i] * gap[j])
            self.psi[j * width + j] += 1.0
        factorise_with(&self.psi[0], D, &self.W[0], &self.factor[0])

    def penalty(self, const double[::1] x, double[::1] gradient):
        return penalty_of(x, self.means, self.deviations, gradient)


cdef clones_void factorise_with(double *psi, Py_ssize_t n, double *carried,
                                double *factor) noexcept nogil:
    """Factorise psi, with n + 1 columns carried."""
    eliminate(psi, 1.0, n, carried, n + 1, factor)
