"""Sums of counts of Poisson-gamma clusters, and what scoring needs of them.

Statistics lie [slot][column], padded to whole vectors. What all slots are scored by lies
[column][slot]: a cell of 0 takes one addition to the score, and rows of zeros have a base.
"""

from dpmlite.core._constants cimport MIN_KEPT_FRACTION
from dpmlite.core._simd cimport LANES, clones_void, larger, log_positive, smaller, sum_of
from dpmlite.families._family cimport left_of_c
from dpmlite.families._gamma_rates cimport log1p_of_lane, row_log_factorials


cdef class PoissonGammaStatistics(GammaRates):

    cdef int begin(self, PoissonGammaPrior prior) except -1:
        self.prior, self.power = prior, prior.power
        self.n_counts = self.n_columns = prior.n_columns
        return self.start(4 + 3 * prior.n_columns, 6 * prior.width)

    cdef void lay_out(self) noexcept nogil:
        cdef Py_ssize_t size = self.n_columns * self.capacity
        self.log_factorials, self.kept = self.n + self.capacity, self.n + 2 * self.capacity
        self.base, self.shape = self.n + 3 * self.capacity, self.n + 4 * self.capacity
        self.zero_score, self.log_rate = self.shape + size, self.shape + 2 * size
        self.sums, self.cells = self.along, self.along + self.prior.width
        self.log_ratio = self.along + 2 * self.prior.width
        self.slot_log_rate = self.along + 3 * self.prior.width
        self.member_log_ratio = self.along + 4 * self.prior.width
        self.member_log_rate = self.along + 5 * self.prior.width

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double *sums = self.sums + k * self.n_along
        cdef double *cells = self.cells + k * self.n_along
        cdef double w = row.weight, x
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            x = row.values[d]
            sums[d] += w * larger(x, 0.0)
            cells[d] += w if x == x else 0.0
        self.log_factorials[k] += w * row_log_factorials(self.prior, row)
        self.n[k] += w

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        renew(self, k)

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double *sums = self.sums + k * self.n_along
        cdef double *cells = self.cells + k * self.n_along
        cdef double w = row.weight, left = self.n[k] - w, log_factorials, kept, x
        cdef Py_ssize_t d
        if left <= 0.0:
            self.clear_slot(k)
            return True
        log_factorials = row_log_factorials(self.prior, row)
        kept = kept_without(self, row, log_factorials, k)
        if kept < MIN_KEPT_FRACTION or left < MIN_KEPT_FRACTION * self.n[k]:
            return False
        for d in range(self.n_columns):
            x = row.values[d]
            sums[d] = left_of_c(sums[d], w * larger(x, 0.0))
            cells[d] = left_of_c(cells[d], w if x == x else 0.0)
        self.log_factorials[k] = left_of_c(self.log_factorials[k], w * log_factorials)
        self.n[k], self.kept[k] = left, kept
        self.refresh(k)
        return True


cdef bint hides_others(PoissonGammaStatistics self, const Row *row, double log_factorials,
                       Py_ssize_t k) noexcept nogil:
    """Return whether rounding would show in the others, a member being taken out of slot k."""
    cdef const double *sums = self.sums + k * self.n_along
    cdef double before = self.log_factorials[k], w = row.weight, power = self.power, a0, left
    cdef double least = MIN_KEPT_FRACTION / self.kept[k]
    cdef Py_ssize_t d, n_below
    left = left_of_c(before, w * log_factorials)
    n_below = 1.0 + power * left < least * (1.0 + power * before)
    for d in range(self.n_columns):
        a0, left = self.prior.a[d], left_of_c(sums[d], w * larger(row.values[d], 0.0))
        n_below += a0 + power * left < least * (a0 + power * sums[d])
    return n_below > 0


cdef double kept_without(PoissonGammaStatistics self, const Row *row, double log_factorials,
                         Py_ssize_t k) noexcept nogil:
    """What removals will have left of slot k without a row, the least fraction."""
    cdef const double *sums = self.sums + k * self.n_along
    cdef double before = self.log_factorials[k], w = row.weight, power = self.power, a0
    cdef double left = left_of_c(before, w * log_factorials)
    cdef double least = (1.0 + power * left) / (1.0 + power * before)
    cdef Py_ssize_t d
    for d in range(self.n_columns):
        a0, left = self.prior.a[d], left_of_c(sums[d], w * larger(row.values[d], 0.0))
        least = smaller(least, (a0 + power * left) / (a0 + power * sums[d]))
    return self.kept[k] * least


cdef clones_void renew(PoissonGammaStatistics self, Py_ssize_t k) noexcept nogil:
    """Write what scoring needs of slot k, LANES columns at a time."""
    cdef double[LANES] base, shape, zero_score
    cdef const double *sums = self.sums + k * self.n_along
    cdef const double *cells = self.cells + k * self.n_along
    cdef const double *a0 = &self.prior.a[0]
    cdef const double *b0 = &self.prior.b[0]
    cdef double *log_ratio = self.log_ratio + k * self.n_along
    cdef double *log_rate = self.slot_log_rate + k * self.n_along
    cdef double *member_log_ratio = self.member_log_ratio + k * self.n_along
    cdef double *member_log_rate = self.member_log_rate + k * self.n_along
    cdef double power = self.power, b
    cdef Py_ssize_t first = 0, i, at
    for i in range(LANES):
        base[i] = 0.0
    while first < self.n_columns:
        for i in range(LANES):
            shape[i] = a0[first + i] + power * sums[first + i]
            b = b0[first + i] + power * cells[first + i]
            log_ratio[first + i] = log1p_of_lane(power / b)
            log_rate[first + i] = log_positive(b + power)
            zero_score[i] = -shape[i] * log_ratio[first + i] / power
            b = b0[first + i] + power * left_of_c(cells[first + i], 1.0)
            member_log_ratio[first + i] = log1p_of_lane(power / b)
            member_log_rate[first + i] = log_positive(b + power)
        for i in range(min(self.n_columns - first, <Py_ssize_t> LANES)):
            at = (first + i) * self.capacity + k
            self.shape[at], self.zero_score[at] = shape[i], zero_score[i]
            self.log_rate[at] = log_rate[first + i]
            self.most_shape = larger(self.most_shape, shape[i])
            base[i] += zero_score[i]
        first += LANES
    self.base[k] = sum_of(base)
