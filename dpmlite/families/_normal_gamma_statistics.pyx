"""Sufficient statistics of normal-gamma clusters, and what scoring needs of them.

Statistics lie [slot][column], so that one vector instruction serves many columns of a row. What
serves many clusters at once reads, or fills, copies of them that lie [column][slot].
"""

from libc.math cimport NAN, log, sqrt

from dpmlite.core._constants cimport LOG_2, MIN_KEPT_FRACTION
from dpmlite.core._simd cimport clones_void, inlined_double, inlined_void, larger, split_exponent
from dpmlite.families._normal_columns cimport normal_column_of, standardise
from dpmlite.families._normal_gamma_prior cimport merged_rate
from dpmlite.families._student_t cimport FACTOR_GROUP, Densities


cdef class NormalGammaStatistics(Screenable):

    cdef int begin(self, NormalGammaPrior prior) except -1:
        """Set what follows from the prior, and allocate slots."""
        self.prior, self.columns = prior, prior.columns(False)
        self.c0, self.a0, self.log_scale = prior.c0, prior.a0, prior.log_scale
        self.power = prior.power
        self.n_columns = self.t.n_columns = prior.n_columns
        self.t.c0, self.t.origin, self.t.unit = prior.c0, self.columns.origin, self.columns.unit
        self.t.n_along = 4 * self.n_columns
        return self.start(7 + 4 * self.n_columns, self.t.n_along)

    cdef void lay_out(self) noexcept nogil:
        cdef Py_ssize_t d = self.n_columns, size = d * self.capacity
        self.log_b, self.kept = self.n + self.capacity, self.n + 2 * self.capacity
        self.t.power, self.t.constant = self.n + 3 * self.capacity, self.n + 4 * self.capacity
        self.t.member_constant = self.n + 5 * self.capacity
        self.t.member_ratio = self.n + 6 * self.capacity
        self.across_m = self.n + 7 * self.capacity
        self.across_b = self.across_m + size
        self.t.slope, self.t.shift = self.across_b + size, self.across_b + 2 * size
        self.t.stride = self.capacity
        self.t.slot_slope, self.t.slot_shift = self.along, self.along + d
        self.m, self.b = self.along + 2 * d, self.along + 3 * d

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t d
        cdef Py_ssize_t at = k * self.n_along
        self.n[k], self.kept[k] = 0.0, 1.0
        for d in range(self.n_columns):
            self.m[at + d] = 0.0
            self.b[at + d] = 1.0
        self.refresh(k)

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double w = row.weight, c = self.c0 + self.n[k]
        cdef Py_ssize_t at = k * self.n_along
        update_columns(&self.t, row.values, w / (c + w), 0.5 * c * w / (c + w), self.m + at,
                            self.b + at)
        self.n[k] += w

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double w = row.weight, left = self.n[k] - w
        if left <= 0.0:
            self.clear_slot(k)
            return True
        cdef double kept = self.kept[k] * least_part_left(self, row, k)
        if kept < MIN_KEPT_FRACTION or left < MIN_KEPT_FRACTION * self.n[k]:
            return False
        cdef double c = self.c0 + self.n[k]
        cdef Py_ssize_t at = k * self.n_along
        update_columns(&self.t, row.values, -w / (c - w), -0.5 * c * w / (c - w), self.m + at,
                            self.b + at)
        self.n[k] = left
        self.kept[k] = kept
        self.refresh(k)
        return True

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef double c = self.c0 + self.n[k], common, exponent = 0.0
        cdef double product = write_slopes(self, k, 0.5 * c / (c + 1.0), &exponent)
        self.log_b[k] = exponent * LOG_2 + log(product)
        self.t.power[k] = self.a0 + 0.5 * self.n[k] + 0.5
        common = -0.5 * self.log_b[k] - self.log_scale
        self.t.constant[k] = common + self.prior.at_mean(self.n[k])
        self.t.member_ratio[k] = NAN
        if self.n[k] > 1.0:
            self.t.member_constant[k] = common + self.prior.at_mean(self.n[k] - 1.0)
            # Bounds are of members that leave more than half of b.
            if (self.kept[k] >= 2.0 * MIN_KEPT_FRACTION
                    and self.n[k] - 1.0 >= MIN_KEPT_FRACTION * self.n[k]):
                self.t.member_ratio[k] = (c + 1.0) / (c - 1.0)

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        cdef double cj = self.c0 + self.n[j], ck = self.c0 + self.n[k], c = cj + ck - self.c0
        cdef Py_ssize_t d, at_j = j * self.n_along, at_k = k * self.n_along
        for d in range(self.n_columns):
            self.b[at_j] = merged_rate(
                self.c0, cj, ck, self.m[at_j], self.m[at_k], self.b[at_j], self.b[at_k])
            self.m[at_j] = (cj * self.m[at_j] + ck * self.m[at_k]) / c
            at_j += 1
            at_k += 1
        self.n[j] += self.n[k]
        self.kept[j] = self.kept[k] if self.kept[k] < self.kept[j] else self.kept[j]
        self.refresh(j)
        self.clear_slot(k)

    cdef const NormalPrior *column_prior(self) noexcept nogil:
        return &self.columns

    cdef NormalColumn normal_column(self, Py_ssize_t k, Py_ssize_t d) noexcept nogil:
        cdef Py_ssize_t at = k * self.n_along + d
        return normal_column_of(self.c0, self.n[k], self.m[at], self.b[at])


cdef clones_void update_columns(const Densities *t, const double *values, double part, double half,
                                double *m, double *b) noexcept nogil:
    """Add a row to m and b, or take it out, by vectors of columns."""
    cdef Py_ssize_t d = 0
    while d + FACTOR_GROUP <= t.n_columns:
        update_some(t, values, part, half, d, FACTOR_GROUP, m, b)
        d += FACTOR_GROUP
    update_some(t, values, part, half, d, t.n_columns - d, m, b)


cdef inline inlined_void update_some(
        const Densities *t, const double *values, double part, double half, Py_ssize_t first,
        Py_ssize_t n, double *m, double *b) noexcept nogil:
    """Update n columns from `first`."""
    cdef double e[FACTOR_GROUP]
    cdef Py_ssize_t d
    for d in range(n):
        e[d] = standardise(values[first + d], t.origin[first + d], t.unit[first + d]) - m[first + d]
    for d in range(n):
        b[first + d] = larger(b[first + d] + half * e[d] * e[d], 1.0)
    for d in range(n):
        m[first + d] += part * e[d]


cdef clones_double write_slopes(NormalGammaStatistics self, Py_ssize_t k, double ratio,
                                double *exponent) noexcept nogil:
    """Write slopes and shifts of a slot, and the copies of its statistics.

    Returns the product of b over columns, without 2^exponent.
    """
    cdef double product = 1.0
    cdef Py_ssize_t d = 0
    while d + FACTOR_GROUP <= self.n_columns:
        product = write_some_slopes(self, k, ratio, d, FACTOR_GROUP, product, exponent)
        d += FACTOR_GROUP
    return write_some_slopes(self, k, ratio, d, self.n_columns - d, product, exponent)


cdef inline inlined_double write_some_slopes(
        NormalGammaStatistics self, Py_ssize_t k, double ratio, Py_ssize_t first, Py_ssize_t n,
        double product, double *exponent) noexcept nogil:
    """Write n columns from `first`; return `product` times their b, without 2^exponent."""
    cdef Py_ssize_t d, at = first * self.capacity + k
    cdef const double *m = self.m + k * self.n_along + first
    cdef const double *b = self.b + k * self.n_along + first
    cdef double *slope = self.t.slot_slope + k * self.n_along + first
    cdef double *shift = self.t.slot_shift + k * self.n_along + first
    cdef double s[FACTOR_GROUP]
    cdef double e = 0.0
    for d in range(n):
        s[d] = sqrt(ratio / b[d])
        product *= b[d]
    for d in range(n):
        slope[d] = s[d]
    for d in range(n):
        shift[d] = m[d] * s[d]
    for d in range(n):
        self.across_m[at], self.across_b[at] = m[d], b[d]
        self.t.slope[at], self.t.shift[at] = slope[d], shift[d]
        at += self.capacity
    product = split_exponent(product, &e)
    exponent[0] += e
    return product


cdef clones_double least_part_left(NormalGammaStatistics self, const Row *row,
                                   Py_ssize_t k) noexcept nogil:
    """Return the least fraction of any column's b that is left without a row of slot k."""
    cdef double w = row.weight, c = self.c0 + self.n[k]
    cdef double half = 0.5 * c * w / (c - w), least = 1.0
    cdef Py_ssize_t d = 0
    while d + FACTOR_GROUP <= self.n_columns:
        least = least_of_some(self, row, k, half, d, FACTOR_GROUP, least)
        d += FACTOR_GROUP
    return least_of_some(self, row, k, half, d, self.n_columns - d, least)


cdef inline inlined_double least_of_some(
        NormalGammaStatistics self, const Row *row, Py_ssize_t k, double half, Py_ssize_t first,
        Py_ssize_t n, double least) noexcept nogil:
    """Return the least of `least` and the parts that are left in n columns from `first`."""
    cdef const double *m = self.m + k * self.n_along + first
    cdef const double *b = self.b + k * self.n_along + first
    cdef const double *values = row.values + first
    cdef const double *origin = self.t.origin + first
    cdef const double *unit = self.t.unit + first
    cdef double part[FACTOR_GROUP]
    cdef double e
    cdef Py_ssize_t d
    for d in range(n):
        e = standardise(values[d], origin[d], unit[d]) - m[d]
        part[d] = 1.0 - half * e * e / b[d]
    for d in range(n):
        least = part[d] if part[d] < least else least
    return least
