"""Merging of two normal-inverse-Wishart clusters: their statistics, and the determinant alone."""

from libc.string cimport memcpy, memset

from dpmlite.core._simd cimport inlined_void, larger, log_positive
from dpmlite.core._triangular cimport (
    add_square, eliminate, log_det_with, residuals_c, update_c, weighted_square)
from dpmlite.families._multivariate_t cimport squares
from dpmlite.families._slot_vectors cimport padded


cdef inline inlined_void add_scatters(WishartStatistics self, const double *one,
                                      const double *other, double *A) noexcept nogil:
    """A = 1 + both slots' scatters."""
    cdef Py_ssize_t i
    for i in range(self.n_columns * self.width):
        A[i] = one[self.at_scatter + i] + other[self.at_scatter + i]
    for i in range(self.n_columns):
        A[i * self.width + i] += 1.0


cdef inline inlined_void join_means(WishartStatistics self, const double *one,
                                    const double *other, double part, double *gap,
                                    double *mean) noexcept nogil:
    """Write the mean of two slots' rows, and the gap between their means."""
    cdef Py_ssize_t i
    for i in range(self.width):
        gap[i] = other[i] - one[i]
        mean[i] = one[i] + part * gap[i]


cdef clones_void merge_into(WishartStatistics self, double *one, double nj,
                            const double *other, double nk) noexcept nogil:
    cdef Py_ssize_t i, D = self.n_columns, width = self.width
    cdef double n = nj + nk, part = nk / n if n > 0.0 else 0.0
    cdef double *W = one + self.at_W
    cdef double *d = one + self.at_d
    cdef double *kept = one + self.at_kept
    cdef double *scatter = one + self.at_scatter
    add_scatters(self, one, other, self.matrix)
    memcpy(scatter, self.matrix, D * width * sizeof(double))
    memset(W, 0, D * width * sizeof(double))
    for i in range(D):
        scatter[i * width + i] -= 1.0
        W[i * width + i] = 1.0
        kept[i] = other[self.at_kept + i] if other[self.at_kept + i] < kept[i] else kept[i]
    join_means(self, one, other, part, self.e, one)
    eliminate(self.matrix, 1.0, D, W, D, self.spare)
    for i in range(D):
        d[i] = self.matrix[i * width + i]
    residuals_c(W, self.e, D, self.z)
    update_c(W, d, self.z, part * nj, D, self.spare)
    residuals_c(W, one, D, self.z)
    update_c(W, d, self.z, self.kappa0 * n / (self.kappa0 + n), D, self.spare)
    add_square(scatter, self.e, part * nj, D)


cdef clones_double log_det_merged(WishartStatistics self, const double *one, double nj,
                                  const double *other, double nk) noexcept nogil:
    """log det Psi of two slots' rows together."""
    cdef Py_ssize_t D = self.n_columns, width = self.width
    cdef double n = nj + nk, part = nk / n if n > 0.0 else 0.0
    cdef double *gap = self.u + 4 * width
    cdef double *mean = gap + width
    add_scatters(self, one, other, self.matrix)
    join_means(self, one, other, part, gap, mean)
    eliminate(self.matrix, 1.0, D, gap, 2, self.spare)
    return log_det_with(self.matrix, D, gap, part * nj, mean, self.kappa0 * n / (self.kappa0 + n))


cdef clones_void log_det_bounds(WishartStatistics self, Py_ssize_t j, double *out) noexcept nogil:
    """Write lower bounds of log_det_merged of slot j and each slot.

    Psi of both is that of one, with the other's rows at their mean, and the other's scatter more,
    which only adds to the determinant. The greater bound of the two is exact if either slot has
    equal rows.
    """
    cdef double n = self.n[j], kappa
    cdef Py_ssize_t k
    squares(&self.t, padded(self.n_slots), self.slot(j), out)
    for k in range(self.n_slots):
        kappa = self.kappa0 + self.n[k]
        out[k] = self.log_det[k] + log_positive(1.0 + n * (kappa + 1.0) / (kappa + n) * out[k])
    if has_scatter(self, j):
        raise_by_own_factor(self, j, out)


cdef inline bint has_scatter(WishartStatistics self, Py_ssize_t k) noexcept nogil:
    """Return whether the rows of slot k differ."""
    cdef const double *scatter = self.slot(k) + self.at_scatter
    cdef Py_ssize_t i
    for i in range(self.n_columns):
        if scatter[i * self.width + i] > 0.0:
            return True
    return False


cdef inline inlined_void raise_by_own_factor(WishartStatistics self, Py_ssize_t j,
                                             double *out) noexcept nogil:
    """Raise bounds to those from slot j with the other's rows at their mean."""
    cdef const double *one = self.slot(j)
    cdef const double *other
    cdef double kappa = self.kappa0 + self.n[j], shrinkage = self.n[j] / kappa, lever, q
    cdef Py_ssize_t i, k
    for k in range(self.n_slots):
        other, lever = self.slot(k), kappa * self.n[k] / (kappa + self.n[k])
        for i in range(self.width):
            self.e[i] = other[i] - shrinkage * one[i]
        residuals_c(one + self.at_W, self.e, self.n_columns, self.z)
        q = weighted_square(self.z, one + self.at_reciprocal, self.n_columns)
        out[k] = larger(out[k], self.log_det[j] + log_positive(1.0 + lever * q))
