"""Scores of rows of counts that have exposures.

For a rate of Gamma(a, b), w copies of a count x in the exposure e have the log probability

    log_rising(a, w x) - (a + w x) log(1 + w e / b) - w x log(b) - w log(x! / e^x),

which has one logarithm for every slot and column.
"""

from dpmlite.core._simd cimport LANES, clones_double, larger, sum_of
from dpmlite.core._special cimport log_rising_of_lane
from dpmlite.families._exposed_poisson_gamma_statistics cimport exposure_of, log_factorials_of
from dpmlite.families._family cimport left_of_c
from dpmlite.families._gamma_rates cimport log1p_of_lane, log_evidence, read_lane
from dpmlite.families._slot_vectors cimport padded


cdef clones_void exposed_costs(ExposedPoissonGammaStatistics self, const Row *row,
                               const double *log_weight, double *out) noexcept nogil:
    """Write the costs, in every slot, of all copies that a row stands for."""
    cdef double w = self.power * row.weight, e = exposure_of(self, row), part = 1.0 / self.power
    cdef double log_factorials = row.weight * log_factorials_of(self, row), events
    cdef const double *shape = self.shape
    cdef const double *inverse_rate = self.inverse_rate
    cdef const double *log_rate = self.log_rate
    cdef Py_ssize_t d, k, n_slots = padded(self.n_slots)
    for k in range(n_slots):
        out[k] = log_factorials - log_weight[k]
    for d in range(self.n_counts if e > 0.0 else 0):
        events = w * larger(row.values[d], 0.0)
        for k in range(n_slots if row.values[d] == row.values[d] else 0):
            out[k] += part * ((shape[k] + events) * log1p_of_lane(w * e * inverse_rate[k])
                              + events * log_rate[k])
        for k in range(n_slots if events > 0.0 else 0):
            out[k] -= part * log_rising_of_lane(shape[k], events)
        shape, log_rate = shape + self.capacity, log_rate + self.capacity
        inverse_rate += self.capacity


cdef clones_double score_exposed(ExposedPoissonGammaStatistics self, const Row *row, Py_ssize_t k,
                                 double taken) noexcept nogil:
    """log p of all copies that a row stands for, in slot k less the weight `taken` of such rows."""
    cdef double[LANES] x, there, total
    cdef const double *sums = self.sums + k * self.n_along
    cdef const double *exposures = self.cells + k * self.n_along
    cdef const double *a0
    cdef const double *b0
    cdef double power = self.power, w = self.power * row.weight, e = exposure_of(self, row), a, b
    cdef Py_ssize_t first = 0, i, n
    if self.n_counts == 0 or not e > 0.0:  # there is no count, or none is known
        return -row.weight * log_factorials_of(self, row)
    a0, b0 = &self.prior.a[0], &self.prior.b[0]
    for i in range(LANES):
        total[i] = 0.0
    while first < self.n_counts:
        n = min(self.n_counts - first, <Py_ssize_t> LANES)
        read_lane(row, first, n, x, there)
        for i in range(LANES):
            a = a0[first + i] + power * left_of_c(sums[first + i], taken * x[i])
            b = b0[first + i] + power * left_of_c(exposures[first + i], taken * e * there[i])
            total[i] += there[i] * log_evidence(a, b, w * x[i], w * e)
        first += LANES
    return sum_of(total) / power - row.weight * log_factorials_of(self, row)


cdef void expected_counts(ExposedPoissonGammaStatistics self, const double *expected,
                          const Row *row, double *out) noexcept nogil:
    """Write expected log densities of a row in all slots, from `find_expectations`."""
    cdef const double *log_lambda = expected + self.capacity
    cdef const double *mean = log_lambda + self.n_counts * self.capacity
    cdef double log_factorials = log_factorials_of(self, row), e = exposure_of(self, row), x
    cdef Py_ssize_t d, k, n_slots = padded(self.n_slots)
    for k in range(n_slots):
        out[k] = -log_factorials
    for d in range(self.n_counts if e > 0.0 else 0):
        x = larger(row.values[d], 0.0)
        for k in range(n_slots if row.values[d] == row.values[d] else 0):
            out[k] += x * log_lambda[k] - e * mean[k]
        log_lambda += self.capacity
        mean += self.capacity
    for k in range(n_slots):
        out[k] *= row.weight
