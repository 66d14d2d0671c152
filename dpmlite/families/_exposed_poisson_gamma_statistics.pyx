"""Sums of counts and of their exposures, and what scoring needs of them.

Statistics lie [slot][column], padded to whole vectors. What all slots are scored by lies
[column][slot].
"""

from dpmlite.core._constants cimport MIN_KEPT_FRACTION
from dpmlite.core._simd cimport clones_void, larger, log_positive, smaller
from dpmlite.families._family cimport left_of_c
from dpmlite.families._gamma_rates cimport row_log_factorials


cdef class ExposedPoissonGammaStatistics(GammaRates):

    cdef int begin(self, PoissonGammaPrior prior) except -1:
        self.prior, self.power, self.n_counts = prior, prior.power, prior.n_columns
        self.n_columns = self.n_counts + 1
        return self.start(3 + 3 * self.n_counts, 2 * prior.width)

    cdef void lay_out(self) noexcept nogil:
        cdef Py_ssize_t size = self.n_counts * self.capacity
        self.log_factorials, self.kept = self.n + self.capacity, self.n + 2 * self.capacity
        self.shape = self.n + 3 * self.capacity
        self.inverse_rate, self.log_rate = self.shape + size, self.shape + 2 * size
        self.sums, self.cells = self.along, self.along + self.prior.width

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double *sums = self.sums + k * self.n_along
        cdef double *exposures = self.cells + k * self.n_along
        cdef double w = row.weight, e = exposure_of(self, row), x
        cdef Py_ssize_t d
        for d in range(self.n_counts if e > 0.0 else 0):
            x = row.values[d]
            sums[d] += w * larger(x, 0.0)
            exposures[d] += w * e if x == x else 0.0
        self.log_factorials[k] += w * log_factorials_of(self, row)
        self.n[k] += w

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        renew(self, k)

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double *sums = self.sums + k * self.n_along
        cdef double *exposures = self.cells + k * self.n_along
        cdef double w = row.weight, left = self.n[k] - w, e = exposure_of(self, row), kept, x
        cdef Py_ssize_t d
        if left <= 0.0:
            self.clear_slot(k)
            return True
        kept = kept_without(self, row, k)
        if kept < MIN_KEPT_FRACTION or left < MIN_KEPT_FRACTION * self.n[k]:
            return False
        for d in range(self.n_counts if e > 0.0 else 0):
            x = row.values[d]
            sums[d] = left_of_c(sums[d], w * larger(x, 0.0))
            exposures[d] = left_of_c(exposures[d], w * e if x == x else 0.0)
        self.log_factorials[k] -= w * log_factorials_of(self, row)
        self.n[k], self.kept[k] = left, kept
        self.refresh(k)
        return True


cdef double exposure_of(ExposedPoissonGammaStatistics self, const Row *row) noexcept nogil:
    """Exposure of a row; 0 if it has none, so that all its counts count as missing."""
    return larger(row.values[self.n_counts], 0.0)


cdef double log_factorials_of(ExposedPoissonGammaStatistics self, const Row *row) noexcept nogil:
    """Sum of log(x! / e^x) of a row's cells."""
    cdef double e = exposure_of(self, row), events = 0.0
    cdef Py_ssize_t d
    if e == 0.0:
        return 0.0
    for d in range(self.n_counts):
        events += larger(row.values[d], 0.0)
    return row_log_factorials(self.prior, row) - events * log_positive(e)


cdef double kept_without(ExposedPoissonGammaStatistics self, const Row *row,
                         Py_ssize_t k) noexcept nogil:
    """What removals will have left of slot k without a row, the least fraction.

    Exposures are no whole numbers: their sums round, too.
    """
    cdef const double *sums = self.sums + k * self.n_along
    cdef const double *exposures = self.cells + k * self.n_along
    cdef double w = row.weight, power = self.power, e = exposure_of(self, row)
    cdef double least = 1.0, a0, b0, x, left
    cdef Py_ssize_t d
    for d in range(self.n_counts if e > 0.0 else 0):
        a0, b0, x = self.prior.a[d], self.prior.b[d], row.values[d]
        left = left_of_c(sums[d], w * larger(x, 0.0))
        least = smaller(least, (a0 + power * left) / (a0 + power * sums[d]))
        left = left_of_c(exposures[d], w * e if x == x else 0.0)
        least = smaller(least, (b0 + power * left) / (b0 + power * exposures[d]))
    return self.kept[k] * least


cdef clones_void renew(ExposedPoissonGammaStatistics self, Py_ssize_t k) noexcept nogil:
    """Write what scoring needs of slot k."""
    cdef const double *sums = self.sums + k * self.n_along
    cdef const double *exposures = self.cells + k * self.n_along
    cdef double rate
    cdef Py_ssize_t d, at
    for d in range(self.n_counts):
        at = d * self.capacity + k
        rate = self.prior.b[d] + self.power * exposures[d]
        self.shape[at] = self.prior.a[d] + self.power * sums[d]
        self.inverse_rate[at], self.log_rate[at] = 1.0 / rate, log_positive(rate)
