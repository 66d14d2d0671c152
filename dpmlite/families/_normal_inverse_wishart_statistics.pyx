"""Sufficient statistics of normal-inverse-Wishart clusters, and what scoring needs of them.

With e = u - m, z = W e and q the sum of z_i^2 / d_i, w equal rows more multiply det Psi by
1 + q kappa w / (kappa + w). A slot's statistics lie together, in padded columns.
"""

from libc.math cimport NAN, log
from libc.stdint cimport uintptr_t
from libc.string cimport memcpy, memset

from dpmlite.core._constants cimport LOG_2, MIN_KEPT_FRACTION
from dpmlite.core._memory cimport double_array
from dpmlite.core._simd cimport padded_columns, split_exponent
from dpmlite.core._triangular cimport add_square, residuals_c, update_c, weighted_square
from dpmlite.families._multivariate_t cimport log_peak_c, spread_factor
from dpmlite.families._whitening cimport units_of, whiten_c

# Threads find the same number and remember it: it is there as a whole, or not at all.
cdef extern from "kernels.h":
    double recall "dpm_recall"(const double *x) noexcept nogil
    void remember "dpm_remember"(double *x, double y) noexcept nogil


cdef class WishartStatistics(SoftComponent):

    cdef int begin(self) except -1:
        """Set what follows from the prior, and allocate slots."""
        cdef Py_ssize_t d, D = self.origin.shape[0], width = padded_columns(D)
        SoftComponent.__init__(self, D)
        self.kappa0, self.nu0 = self.given_kappa0 / self.power, self.given_nu0 / self.power
        self.width, self.t.n_columns, self.log_scale = width, D, 0.0
        self.units = units_of(self.origin, self.whitening)
        for d in range(D):
            self.log_scale -= log(self.whitening[d * width + d])
        self.log_scale += 0.5 * D * log(self.power)  # that of psi0
        self.room = double_array((6 + D) * width + 8)
        self.u = <double *> ((<uintptr_t> &self.room[0] + 63) & ~(<uintptr_t> 63))
        self.e, self.z, self.spare = self.u + width, self.u + 2 * width, self.u + 3 * width
        self.matrix = self.u + 6 * width
        self.at_d, self.at_reciprocal, self.at_kept = width, 2 * width, 3 * width
        self.at_scatter, self.at_W = 4 * width, (4 + D) * width
        return self.start(6 + D + D * (D + 1) // 2, (4 + 2 * D) * width)

    cdef void lay_out(self) noexcept nogil:
        self.log_det, self.min_kept = self.n + self.capacity, self.n + 2 * self.capacity
        self.t.power, self.t.constant = self.n + 3 * self.capacity, self.n + 4 * self.capacity
        self.member_constant = self.n + 5 * self.capacity
        self.t.shift = self.n + 6 * self.capacity
        self.t.slope = self.t.shift + self.n_columns * self.capacity
        self.t.stride = self.capacity

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        cdef double *slot = self.slot(k)
        cdef Py_ssize_t i
        memset(slot, 0, self.n_along * sizeof(double))
        for i in range(self.width):
            slot[self.at_d + i] = slot[self.at_kept + i] = 1.0
        for i in range(self.n_columns):
            slot[self.at_W + i * self.width + i] = 1.0
        self.n[k] = 0.0
        self.refresh(k)

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        whiten_row(self, row.values)
        find_residuals(self, k)
        add_rows(self, k, row.weight)

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double w = row.weight, kappa = self.kappa0 + self.n[k]
        cdef double *d = self.slot(k) + self.at_d
        cdef Py_ssize_t i
        if self.n[k] - w <= 0.0:
            self.clear_slot(k)
            return True
        if self.n[k] - w < MIN_KEPT_FRACTION * self.n[k]:
            return False
        whiten_row(self, row.values)
        find_residuals(self, k)
        if not keeps(self, k, kappa * w / (kappa - w)):
            return False
        memcpy(self.slot(k) + self.at_kept, self.spare, self.n_columns * sizeof(double))
        add_rows(self, k, -w)
        for i in range(self.n_columns):
            d[i] = d[i] if d[i] > 1.0 else 1.0
        self.refresh(k)
        return True

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef double *slot = self.slot(k)
        cdef double *d = slot + self.at_d
        cdef double kappa = self.kappa0 + self.n[k], nu = self.nu0 + self.n[k]
        cdef double product = 1.0, exponent = 0.0, e = 0.0, least = 1.0
        cdef Py_ssize_t i
        for i in range(self.n_columns):
            slot[self.at_reciprocal + i] = 1.0 / d[i]
            product = split_exponent(product * d[i], &e)
            exponent += e
            least = slot[self.at_kept + i] if slot[self.at_kept + i] < least else least
        self.log_det[k], self.min_kept[k] = exponent * LOG_2 + log(product), least
        self.t.power[k] = 0.5 * (nu + 1.0)
        self.t.constant[k] = peak_of_row(self, self.n[k], self.log_det[k])
        if self.n[k] > 1.0:
            self.member_constant[k] = peak_of_row(self, self.n[k] - 1.0, self.log_det[k])
        multiply_W(self, slot, slot)
        spread_factor(&self.t, k, slot + self.at_W, slot + self.at_reciprocal, self.z,
                      self.n[k] / kappa, kappa / (kappa + 1.0))


cdef clones_void whiten_row(WishartStatistics self, const double *values) noexcept nogil:
    """u: the row in units of the prior."""
    whiten_c(&self.units, values, self.e, self.u)


cdef clones_void multiply_W(WishartStatistics self, const double *slot,
                            const double *x) noexcept nogil:
    """z = W x."""
    residuals_c(slot + self.at_W, x, self.n_columns, self.z)


cdef clones_void find_residuals(WishartStatistics self, Py_ssize_t k) noexcept nogil:
    """Write e = u - m and z = W e for slot k."""
    cdef const double *mean = self.slot(k)
    cdef double shrinkage = self.n[k] / (self.kappa0 + self.n[k])
    cdef Py_ssize_t i
    for i in range(self.width):
        self.e[i] = self.u[i] - shrinkage * mean[i]
    residuals_c(mean + self.at_W, self.e, self.n_columns, self.z)


cdef clones_double distance(WishartStatistics self, Py_ssize_t k) noexcept nogil:
    """q of the row u in slot k."""
    find_residuals(self, k)
    return weighted_square(self.z, self.slot(k) + self.at_reciprocal, self.n_columns)


cdef clones_void add_rows(WishartStatistics self, Py_ssize_t k, double w) noexcept nogil:
    """Add w rows u to slot k, whose residuals were found; remove them if w is negative."""
    cdef double n = self.n[k], kappa = self.kappa0 + n, part = w / (n + w)
    cdef double *mean = self.slot(k)
    cdef Py_ssize_t i
    update_c(mean + self.at_W, mean + self.at_d, self.z, kappa * w / (kappa + w), self.n_columns,
             self.spare)
    for i in range(self.width):
        self.e[i] = self.u[i] - mean[i]
    add_square(mean + self.at_scatter, self.e, n * part, self.n_columns)
    for i in range(self.width):
        mean[i] += part * self.e[i]
    self.n[k] += w


cdef bint keeps(WishartStatistics self, Py_ssize_t k, double lost) noexcept nogil:
    """Return whether enough is left of slot k without lost z z^T; write what is left of each pivot.

    It is written to `spare`.
    """
    cdef const double *d = self.slot(k) + self.at_d
    cdef const double *kept = self.slot(k) + self.at_kept
    cdef double before = 1.0, after, least = 1.0
    cdef Py_ssize_t i
    for i in range(self.n_columns):
        after = before - lost * self.z[i] * self.z[i] / d[i]
        if not after >= MIN_KEPT_FRACTION:
            return False
        self.spare[i] = kept[i] * after / before
        least = self.spare[i] if self.spare[i] < least else least
        before = after
    return least >= MIN_KEPT_FRACTION


cdef double part_left(WishartStatistics self, Py_ssize_t k, double w) noexcept nogil:
    """Return which part of det Psi slot k keeps without its w rows u; NaN if rounding would show."""
    cdef double n = self.n[k], kappa = self.kappa0 + n, lost = kappa * w / (kappa - w)
    cdef double rest = 1.0 - lost * distance(self, k)
    if not rest >= MIN_KEPT_FRACTION or n - w < MIN_KEPT_FRACTION * n:
        return NAN
    # No pivot loses more than the determinant: most rows need no look at each.
    if self.min_kept[k] * rest < MIN_KEPT_FRACTION and not keeps(self, k, lost):
        return NAN
    return rest


cdef double log_peak_in_data(WishartStatistics self, double kappa, double nu, double log_det,
                             double w) noexcept nogil:
    """Log predictive of w equal rows at the mean, in the data's units."""
    return log_peak_c(self.n_columns, kappa, nu, log_det, w, self.power) - w * self.log_scale


cdef double peak_of_row(WishartStatistics self, double n, double log_det) noexcept nogil:
    """Log predictive of a row at the mean of n others, in the data's units.

    With a power, it takes several functions of n, which are kept.
    """
    cdef double kappa = self.kappa0 + n, nu = self.nu0 + n, found
    if self.power == 1.0 or n >= N_CACHED_COUNTS or <int> n != n:
        return log_peak_in_data(self, kappa, nu, log_det, 1.0)
    found = recall(&self.peaks[<int> n])
    if found != found:
        found = log_peak_in_data(self, kappa, nu, 0.0, 1.0)
        remember(&self.peaks[<int> n], found)
    return found - 0.5 * log_det


cdef double marginal_peak(WishartStatistics self, double n) noexcept nogil:
    """Log marginal of n equal rows at m0, in the data's units. It is kept, too."""
    cdef double found
    if n >= N_CACHED_COUNTS or <int> n != n:
        return log_peak_in_data(self, self.kappa0, self.nu0, 0.0, n)
    found = recall(&self.marginal_peaks[<int> n])
    if found != found:
        found = log_peak_in_data(self, self.kappa0, self.nu0, 0.0, n)
        remember(&self.marginal_peaks[<int> n], found)
    return found
