"""The predictive density of rows with missing cells in normal-inverse-Wishart clusters.

A missing cell is first taken to be m0; known_cells.py says how it is integrated out.
"""

from libc.math cimport log

from dpmlite.core._simd cimport clones_void
from dpmlite.core._triangular cimport residuals_c
from dpmlite.families._known_cells cimport project_out_c
from dpmlite.families._multivariate_t cimport log_peak_c
from dpmlite.families._normal_inverse_wishart_statistics cimport find_residuals, whiten_row


cdef double score_known_cells(WishartStatistics self, const double *values, Py_ssize_t k,
                              double w) noexcept nogil:
    """log p(known cells of w equal rows | rows of slot k)."""
    cdef const double *reciprocal = self.slot(k) + self.at_reciprocal
    cdef Py_ssize_t i, n_missing = 0, D = self.n_columns
    cdef double kappa = self.kappa0 + self.n[k], nu = self.nu0 + self.n[k]
    cdef double log_power = log(self.power), log_det, q = 0.0
    for i in range(D):
        self.spare[i] = values[i] if values[i] == values[i] else self.origin[i]
        if values[i] != values[i]:
            find_move(self, k, i, self.matrix + n_missing * self.width)
            n_missing += 1
    if n_missing == D:
        return 0.0
    whiten_row(self, self.spare)
    find_residuals(self, k)
    log_det = project_out_c(self.z, reciprocal, self.matrix, n_missing, self.width, D)
    log_det += self.log_det[k] + 2.0 * self.log_scale - D * log_power
    for i in range(D):
        q += self.z[i] * self.z[i] * reciprocal[i]
    nu -= n_missing / self.power
    return (log_peak_c(D - n_missing, kappa, nu, log_det, w, self.power)
            - 0.5 * (nu + w) * log(1.0 + kappa * w / (kappa + w) * q)
            - 0.5 * w * (D - n_missing) * log_power)


cdef clones_void find_move(WishartStatistics self, Py_ssize_t k, Py_ssize_t j,
                           double *out) noexcept nogil:
    """Write how the residuals in slot k move with column j: W R of that column."""
    residuals_c(self.slot(k) + self.at_W, self.units.R + j * self.width, self.n_columns, out)
