"""Normal-inverse-Wishart clusters for variational inference: expected scores, and shared rows."""

from dpmlite.core._constants cimport LOG_2, LOG_2PI
from dpmlite.core._special cimport digamma_c
from dpmlite.families._multivariate_t cimport squares
from dpmlite.families._normal_inverse_wishart_statistics cimport (
    add_rows, find_residuals, whiten_row)
from dpmlite.families._slot_vectors cimport padded


cdef void find_expectations(WishartStatistics self) noexcept nogil:
    """Write, for all slots, the terms without the row and the factor of squares to `expected`."""
    cdef double D = self.n_columns, kappa, nu, log_det_precision
    cdef Py_ssize_t i, k
    for k in range(self.n_slots):
        kappa, nu = self.kappa0 + self.n[k], self.nu0 + self.n[k]
        log_det_precision = D * LOG_2 - self.log_det[k]
        for i in range(self.n_columns):
            log_det_precision += digamma_c(0.5 * (nu - i))
        self.expected[k] = (0.5 * (log_det_precision - D * LOG_2PI - D / kappa)
                            - self.log_scale)
        # nu q / 2, from the squares kappa q / (kappa + 1) that slopes and shifts give
        self.expected[self.capacity + k] = 0.5 * nu * (kappa + 1.0) / kappa


cdef clones_void expected_scores(WishartStatistics self, const Row *row,
                                 double *out) noexcept nogil:
    cdef Py_ssize_t k, n = padded(self.n_slots)
    cdef const double *factor = &self.expected[self.capacity]
    whiten_row(self, row.values)
    squares(&self.t, n, self.u, out)
    for k in range(n):
        out[k] = row.weight * (self.expected[k] - factor[k] * out[k])


cdef void share_row(WishartStatistics self, const Row *row,
                    const double *responsibilities) noexcept nogil:
    """Put a row into all slots, a part in each; it is whitened once."""
    cdef Py_ssize_t k
    whiten_row(self, row.values)
    for k in range(self.n_slots):
        if responsibilities[k] > 0.0:
            find_residuals(self, k)
            add_rows(self, k, row.weight * responsibilities[k])
