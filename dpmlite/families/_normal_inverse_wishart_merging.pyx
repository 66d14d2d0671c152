"""Merging of two normal-inverse-Wishart clusters: their statistics, and the determinant alone."""

from libc.string cimport memcpy, memset

from dpmlite.core._simd cimport inlined_void
from dpmlite.core._triangular cimport add_square, eliminate, log_det_with, residuals_c, update_c


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
