"""Scores of members of normal-gamma clusters, and costs of rows of any weight.

A member of a cluster is scored without taking it out: with w = t (c + 1) / (c - 1), the
posterior without it has b (1 - w), so that

    log p(u | the others) = member_constant + (a - 1/2) log prod_d (1 - w_d).
"""

from libc.math cimport INFINITY, NAN, log, log1p

from dpmlite.core._constants cimport (
    LOG_2, LOG_2PI, LOG_SQRT_MIN_KEPT, MIN_KEPT_FRACTION, SQRT_MIN_KEPT)
from dpmlite.core._simd cimport (
    LANES, inlined_double, inlined_void, log_positive, split_exponent)
from dpmlite.core._special cimport log_rising_c, log_rising_of_lane
from dpmlite.families._family cimport MEMBERS_PER_BATCH
from dpmlite.families._normal_columns cimport standardise
from dpmlite.families._normal_gamma_statistics cimport least_part_left
from dpmlite.families._slot_vectors cimport padded
from dpmlite.families._student_t cimport FACTOR_GROUP, log_factors, logs_of_factors


cdef double log_constant(NormalGammaStatistics self, double a, double c, double w,
                         double log_b) noexcept nogil:
    """Log predictive of w equal rows at the mean of a posterior with these a, c and sum of log b."""
    cdef double power = self.power
    cdef double counts = log_rising_c(power * a, power * 0.5 * w) - 0.5 * log1p(w / c)
    return (self.n_columns * (counts / power - 0.5 * w * LOG_2PI)
            - 0.5 * w * log_b - w * self.log_scale)


cdef double score_new(NormalGammaStatistics self, const Row *row) noexcept nogil:
    """log p(row | theta_0), eq. (12)."""
    cdef double w = row.weight, ratio = 0.5 * w * self.c0 / (self.c0 + w)
    cdef double product = 1.0, exponent = 0.0, e = 0.0, u
    cdef Py_ssize_t d
    for d in range(self.n_columns):
        u = standardise(row.values[d], self.t.origin[d], self.t.unit[d])
        product *= 1.0 + ratio * u * u
        if d % FACTOR_GROUP == FACTOR_GROUP - 1:
            product = split_exponent(product, &e)
            exponent += e
    return (log_constant(self, self.a0, self.c0, w, 0.0)
            - (self.a0 + 0.5 * w) * (exponent * LOG_2 + log(product)))


cdef double score_in_own_slot(NormalGammaStatistics self, const Row *row, Py_ssize_t k,
                              bint exact) noexcept nogil:
    cdef double w = row.weight, c = self.c0 + self.n[k]
    return score_without(self, row, k, log_factors(
        &self.t, row.values, k, -w * (c + 1.0) / (c - w), exact))


cdef void score_batch(NormalGammaStatistics self, const Row *rows, const Py_ssize_t *slots,
                      Py_ssize_t n, double *out) noexcept nogil:
    cdef const double *values[MEMBERS_PER_BATCH]
    cdef double ratio[MEMBERS_PER_BATCH]
    cdef double c
    cdef Py_ssize_t i
    for i in range(n):
        c = self.c0 + self.n[slots[i]]
        ratio[i] = -rows[i].weight * (c + 1.0) / (c - rows[i].weight)
        values[i] = rows[i].values
    logs_of_factors(&self.t, values, slots, ratio, n, out)
    for i in range(n):
        out[i] = score_without(self, &rows[i], slots[i], out[i])


cdef inline inlined_double score_without(NormalGammaStatistics self, const Row *row, Py_ssize_t k,
                                         double log_left) noexcept nogil:
    """Score of a member of slot k, from the logarithm of the product of its factors."""
    cdef double w = row.weight, left = self.n[k] - w
    if left <= 0.0:
        return score_new(self, row)
    cdef double c = self.c0 + self.n[k], a = self.a0 + 0.5 * left
    # One column cannot have lost more than all: most rows need no look at each.
    if (log_left < LOG_SQRT_MIN_KEPT or self.kept[k] < SQRT_MIN_KEPT
            or left < MIN_KEPT_FRACTION * self.n[k]):
        if (left < MIN_KEPT_FRACTION * self.n[k]
                or not self.kept[k] * least_part_left(self, row, k) >= MIN_KEPT_FRACTION):
            return NAN
    if w == 1.0:
        return self.t.member_constant[k] + a * log_left
    return log_constant(self, a, c - w, w, self.log_b[k]) + a * log_left


cdef clones_void heavy_costs(NormalGammaStatistics self, const Row *row, const double *log_weight,
                             double *out) noexcept nogil:
    """Write the costs of a row of any weight in all slots.

    Few slots are scored together: a logarithm of Gamma functions takes longer than many columns.
    """
    cdef Py_ssize_t first = 0, k
    while first < self.n_slots:
        heavy_cost_block(self, row, log_weight, first, out)
        first += LANES
    for k in range(first, padded(self.n_slots)):
        out[k] = INFINITY


cdef inline inlined_void heavy_cost_block(
        NormalGammaStatistics self, const Row *row, const double *log_weight, Py_ssize_t first,
        double *out) noexcept nogil:
    """Write the costs of a row in LANES slots from `first`, as score_slot finds them one by one."""
    cdef double product[LANES]
    cdef double exponent[LANES]
    cdef double ratio[LANES]
    cdef double growth[LANES]
    cdef const double *slope = self.t.slope + first
    cdef const double *shift = self.t.shift + first
    # Copies, for the compiler cannot know that `out` is none of these.
    cdef double w = row.weight, half = 0.5 * w, p = self.power, c0 = self.c0, a0 = self.a0
    cdef double n_columns = self.n_columns
    cdef double shared = w * (0.5 * n_columns * LOG_2PI + self.log_scale)
    cdef double c, u, z, e = 0.0
    cdef Py_ssize_t d
    cdef int j
    for j in range(LANES):
        product[j], exponent[j] = 1.0, 0.0
        c = c0 + self.n[first + j]
        ratio[j] = w * (c + 1.0) / (c + w)
        growth[j] = (log_rising_of_lane(p * (a0 + 0.5 * self.n[first + j]), p * half)
                     - 0.5 * log_positive((c + w) / c))
    for d in range(self.n_columns):
        u = standardise(row.values[d], self.t.origin[d], self.t.unit[d])
        for j in range(LANES):
            z = u * slope[j] - shift[j]
            product[j] = product[j] * (1.0 + ratio[j] * z * z)
        slope += self.t.stride
        shift += self.t.stride
        if d % FACTOR_GROUP == FACTOR_GROUP - 1:
            for j in range(LANES):
                product[j] = split_exponent(product[j], &e)
                exponent[j] += e
    for j in range(LANES):
        z = (a0 + 0.5 * self.n[first + j] + half) * (
            exponent[j] * LOG_2 + log_positive(product[j]))
        out[first + j] = (z - n_columns / p * growth[j] + half * self.log_b[first + j] + shared
                          - log_weight[first + j])
