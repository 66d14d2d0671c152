"""Kernel of normal_gamma.py: sufficient statistics; _student_t.pyx does the scoring.

A member of a cluster is scored without taking it out: with w = t (c + 1) / (c - 1), the
posterior without it has b (1 - w), so that

    log p(u | the others) = member_constant + (a - 1/2) log prod_d (1 - w_d).

Statistics lie [slot][column], so that one vector instruction serves many columns of a row. What
serves many clusters at once reads, or fills, copies of them that lie [column][slot].
"""

from array import array

from libc.math cimport NAN, fabs, log, log1p, sqrt

from dpmlite.core._constants cimport (
    HALF_OF_KEPT, LEAST_KEPT, LOG_2, LOG_2PI, LOG_HALF_OF_KEPT, SLACK)
from dpmlite.core._simd cimport (
    clones_double, clones_void, inlined_void, log2_floor, log_positive, split_exponent)
from dpmlite.core._special cimport (
    digamma_c, log_gamma_half_step_c, log_rising_c, log_rising_of_lane)
from dpmlite.families._slot_vectors cimport NARROW, padded
from dpmlite.families._student_t cimport (
    FACTOR_GROUP, MOST_TOGETHER, log_factors, logs_of_factors, standardise, student_costs_below)

from dpmlite.core.checks import check_positive, check_same_length

# Numbers that threads find and remember, each the same one: they are there as a whole, or not at all.
cdef extern from "kernels.h":
    double recall "dpm_recall"(const double *x) noexcept nogil
    void remember "dpm_remember"(double *x, double y) noexcept nogil

cdef enum:
    KNOWN = 4096  # counts of rows that at_mean remembers: a fit asks for the same again and again


cdef class NormalGamma(Component):

    def __cinit__(self):
        self.has_heavy_bounds = True

    def __init__(self, m0, double c0, double a0, b0):
        check_same_length("m0", m0, "b0", b0)
        for name, values in (("c0", [c0]), ("a0", [a0]), ("b0", b0)):
            check_positive(name, values)
        self.c0, self.a0 = c0, a0
        self.m0 = array("d", m0).tolist()
        self.b0 = array("d", b0).tolist()
        self.origin = array("d", self.m0)
        self.unit = array("d", [1.0 / sqrt(b) for b in self.b0])
        self.log_scale = sum([0.5 * log(b) for b in self.b0])
        self.known = array("d", [NAN]) * KNOWN
        self.begin()

    cdef int begin(self) except -1:
        """Everything that follows from the prior."""
        self.n_columns = self.t.n_columns = self.origin.shape[0]
        self.t.origin, self.t.unit = &self.origin[0], &self.unit[0]
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
        normal_gamma_update(&self.t, row.values, w / (c + w), 0.5 * c * w / (c + w), self.m + at,
                            self.b + at)
        self.n[k] += w

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double w = row.weight, left = self.n[k] - w
        if left <= 0.0:
            self.clear_slot(k)
            return True
        cdef double kept = self.kept[k] * least_part_left(self, row, k)
        if kept < LEAST_KEPT or left < LEAST_KEPT * self.n[k]:
            return False
        cdef double c = self.c0 + self.n[k]
        cdef Py_ssize_t at = k * self.n_along
        normal_gamma_update(&self.t, row.values, -w / (c - w), -0.5 * c * w / (c - w), self.m + at,
                            self.b + at)
        self.n[k] = left
        self.kept[k] = kept
        self.refresh(k)
        return True

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef double c = self.c0 + self.n[k], common, exponent = 0.0
        cdef double product = find_slopes(self, k, 0.5 * c / (c + 1.0), &exponent)
        self.log_b[k] = exponent * LOG_2 + log(product)
        self.t.power[k] = self.a0 + 0.5 * self.n[k] + 0.5
        common = -0.5 * self.log_b[k] - self.log_scale
        self.t.constant[k] = common + at_mean(self, self.n[k])
        self.t.member_ratio[k] = NAN
        if self.n[k] > 1.0:
            self.t.member_constant[k] = common + at_mean(self, self.n[k] - 1.0)
            # Bounds are of members that leave more than half of b.
            if self.kept[k] >= 2.0 * LEAST_KEPT and self.n[k] - 1.0 >= LEAST_KEPT * self.n[k]:
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

    cdef const Densities *densities(self) noexcept nogil:
        return &self.t

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        if row.weight == 1.0:
            return student_costs_below(&self.t, self.n_slots, row.values, log_weight, limit, out)
        return Component.costs_below(self, row, log_weight, limit, out)

    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil:
        normal_gamma_heavy_bounds(self, row, log_weight, limit, out)

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double w = row.weight, c = self.c0 + self.n[k]
        if w == 1.0:
            return self.t.constant[k] - self.t.power[k] * log_factors(
                &self.t, row.values, k, 1.0, True)
        return (normal_gamma_constant(self, self.a0 + 0.5 * self.n[k], c, w, self.log_b[k])
                - (self.t.power[k] - 0.5 + 0.5 * w) * log_factors(
                    &self.t, row.values, k, w * (c + 1.0) / (c + w), True))

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        return normal_gamma_score_member(self, row, k, True)

    cdef void score_members(self, const Row *rows, const Py_ssize_t *slots, Py_ssize_t n,
                            double *out) noexcept nogil:
        score_members(self, rows, slots, n, out)

    cdef double score_member_floor(self, const Row *row, Py_ssize_t k) noexcept nogil:
        return normal_gamma_score_member(self, row, k, False)

    cdef int expect(self) except -1:
        self.expect_values(2)
        cdef double c, a, d = self.n_columns
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            c, a = self.c0 + self.n[k], self.a0 + 0.5 * self.n[k]
            self.expected[k] = (0.5 * d * (digamma_c(a) - 1.0 / c - LOG_2PI)
                                - 0.5 * self.log_b[k] - self.log_scale)
            # a e^2 / (2 b), from the squares c e^2 / (2 b (c + 1)) that slopes and shifts give
            self.expected[self.capacity + k] = a * (c + 1.0) / c

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        normal_gamma_expected_scores(self, row, out)

    cdef void share(self, const Row *row, const double *shares) noexcept nogil:
        normal_gamma_share(self, row, shares)

    cdef void end_sharing(self) noexcept nogil:
        cdef Py_ssize_t d, k
        for k in range(self.n_slots):
            for d in range(self.n_columns):
                self.m[k * self.n_along + d] = self.across_m[d * self.capacity + k]
                self.b[k * self.n_along + d] = self.across_b[d * self.capacity + k]
            self.refresh(k)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return normal_gamma_evidence(
            self.a0, self.c0, self.n_columns, self.log_scale, self.n[k], self.log_b[k])

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        normal_gamma_merged_evidences(self, j, first, out)

    def like(self):
        cdef NormalGamma other = NormalGamma.__new__(NormalGamma)
        other.m0, other.c0, other.a0, other.b0 = self.m0, self.c0, self.a0, self.b0
        other.origin, other.unit, other.log_scale = self.origin, self.unit, self.log_scale
        other.known = self.known
        other.begin()
        return other

    def posterior(self, Py_ssize_t k):
        self._check_slot(k)
        at = range(k * self.n_along, k * self.n_along + self.n_columns)
        return {
            "n": self.n[k],
            "m": [m0 + sqrt(b0) * self.m[i] for m0, b0, i in zip(self.m0, self.b0, at)],
            "c": self.c0 + self.n[k],
            "a": self.a0 + 0.5 * self.n[k],
            "b": [b0 * self.b[i] for b0, i in zip(self.b0, at)],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        at = range(k * self.n_along, k * self.n_along + self.n_columns)
        return [self.n[k], *[self.m[i] for i in at], *[self.b[i] for i in at]]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t d, n_columns = self.n_columns
        self._check_statistics(statistics, 1 + 2 * n_columns)
        self.n[k], self.kept[k] = statistics[0], 1.0
        for d in range(n_columns):
            self.m[k * self.n_along + d] = statistics[1 + d]
            self.b[k * self.n_along + d] = statistics[1 + n_columns + d]
        self.refresh(k)


cdef clones_void normal_gamma_update(const Densities *t, const double *values, double part,
                                     double half, double *m, double *b) noexcept nogil:
    """Add a row to statistics, or take it out; columns in vectors, as far as they fill them."""
    cdef Py_ssize_t d = 0
    while d + FACTOR_GROUP <= t.n_columns:
        update_some(t, values, part, half, d, FACTOR_GROUP, m, b)
        d += FACTOR_GROUP
    update_some(t, values, part, half, d, t.n_columns - d, m, b)


cdef inline inlined_void update_some(
        const Densities *t, const double *values, double part, double half, Py_ssize_t first,
        Py_ssize_t n, double *m, double *b) noexcept nogil:
    """The same for n columns from `first`."""
    cdef double e[FACTOR_GROUP]
    cdef Py_ssize_t d
    for d in range(n):
        e[d] = standardise(values[first + d], t.origin[first + d], t.unit[first + d]) - m[first + d]
    for d in range(n):
        b[first + d] = larger(b[first + d] + half * e[d] * e[d], 1.0)
    for d in range(n):
        m[first + d] += part * e[d]


cdef clones_double find_slopes(NormalGamma self, Py_ssize_t k, double ratio,
                               double *exponent) noexcept nogil:
    """Slopes and shifts of a slot, and the copies of its statistics.

    Returns the product of b over columns, without 2^exponent.
    """
    cdef double product = 1.0
    cdef Py_ssize_t d = 0
    while d + FACTOR_GROUP <= self.n_columns:
        product = find_some_slopes(self, k, ratio, d, FACTOR_GROUP, product, exponent)
        d += FACTOR_GROUP
    return find_some_slopes(self, k, ratio, d, self.n_columns - d, product, exponent)


cdef inline inlined_double find_some_slopes(
        NormalGamma self, Py_ssize_t k, double ratio, Py_ssize_t first, Py_ssize_t n,
        double product, double *exponent) noexcept nogil:
    """The same for n columns from `first`."""
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


cdef double at_mean(NormalGamma self, double n) noexcept nogil:
    """Log density, for b of 1, of a row at the mean of n others."""
    cdef double found
    if n >= KNOWN or <int> n != n:
        return student_at_mean(self, n)
    found = recall(&self.known[<int> n])
    if found != found:
        found = student_at_mean(self, n)
        remember(&self.known[<int> n], found)
    return found


cdef double student_at_mean(NormalGamma self, double n) noexcept nogil:
    cdef double c = self.c0 + n
    return self.n_columns * (log_gamma_half_step_c(self.a0 + 0.5 * n)
                             + 0.5 * (log(c / (c + 1.0)) - LOG_2PI))


cdef inline inlined_double normal_gamma_evidence(double a0, double c0, double n_columns,
                                                 double log_scale, double n,
                                                 double log_b) noexcept nogil:
    """Of n rows, from the logarithm of the product of their rates."""
    return (n_columns * (log_rising_of_lane(a0, 0.5 * n) + 0.5 * log_positive(c0 / (c0 + n))
                         - 0.5 * n * LOG_2PI)
            - (a0 + 0.5 * n) * log_b - n * log_scale)


cdef clones_void normal_gamma_expected_scores(NormalGamma self, const Row *row,
                                              double *out) noexcept nogil:
    cdef Py_ssize_t first = 0, end = padded(self.n_slots)
    while first < end:
        expected_block(self, row, first, out)
        first += NARROW


cdef inline inlined_void expected_block(NormalGamma self, const Row *row, Py_ssize_t first,
                                        double *out) noexcept nogil:
    """Expected log densities of NARROW slots from `first`."""
    cdef double square[NARROW]
    cdef const double *slope = self.t.slope + first
    cdef const double *shift = self.t.shift + first
    cdef const double *constant = &self.expected[first]
    cdef const double *ratio = &self.expected[self.capacity + first]
    cdef double w = row.weight, u, z
    cdef Py_ssize_t d
    cdef int j
    for j in range(NARROW):
        square[j] = 0.0
    for d in range(self.n_columns):
        u = standardise(row.values[d], self.t.origin[d], self.t.unit[d])
        for j in range(NARROW):
            z = u * slope[j] - shift[j]
            square[j] = square[j] + z * z
        slope += self.capacity
        shift += self.capacity
    for j in range(NARROW):
        out[first + j] = w * (constant[j] - ratio[j] * square[j])


cdef clones_void normal_gamma_share(NormalGamma self, const Row *row,
                                    const double *shares) noexcept nogil:
    cdef Py_ssize_t first = 0, end = padded(self.n_slots)
    while first < end:
        share_block(self, row, shares, first)
        first += NARROW


cdef inline inlined_void share_block(NormalGamma self, const Row *row, const double *shares,
                                     Py_ssize_t first) noexcept nogil:
    """`accumulate` in NARROW slots from `first`."""
    cdef double part[NARROW]
    cdef double half[NARROW]
    cdef double *n = self.n + first
    cdef double *m = self.across_m + first
    cdef double *b = self.across_b + first
    cdef double w, c, u, e
    cdef Py_ssize_t d
    cdef int j
    for j in range(NARROW):
        w, c = row.weight * shares[first + j], self.c0 + n[j]
        part[j] = w / (c + w)
        half[j] = 0.5 * c * part[j]
        n[j] = n[j] + w
    for d in range(self.n_columns):
        u = standardise(row.values[d], self.t.origin[d], self.t.unit[d])
        for j in range(NARROW):
            e = u - m[j]
            b[j] = b[j] + half[j] * e * e
            m[j] = m[j] + part[j] * e
        m += self.capacity
        b += self.capacity


cdef clones_double least_part_left(NormalGamma self, const Row *row, Py_ssize_t k) noexcept nogil:
    """What part of b is left without a row of slot k, in the column that loses most."""
    cdef double w = row.weight, c = self.c0 + self.n[k]
    cdef double half = 0.5 * c * w / (c - w), least = 1.0
    cdef Py_ssize_t d = 0
    while d + FACTOR_GROUP <= self.n_columns:
        least = least_of_some(self, row, k, half, d, FACTOR_GROUP, least)
        d += FACTOR_GROUP
    return least_of_some(self, row, k, half, d, self.n_columns - d, least)


cdef inline inlined_double least_of_some(
        NormalGamma self, const Row *row, Py_ssize_t k, double half, Py_ssize_t first,
        Py_ssize_t n, double least) noexcept nogil:
    """The same for n columns from `first`, and what is known of those before."""
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


cdef double normal_gamma_constant(NormalGamma self, double a, double c, double w,
                                  double log_b) noexcept nogil:
    """Log density of w equal rows at the mean of a posterior with these a, c and sum of log b."""
    return (self.n_columns * (log_rising_c(a, 0.5 * w) - 0.5 * log1p(w / c) - 0.5 * w * LOG_2PI)
            - 0.5 * w * log_b - w * self.log_scale)


cdef clones_void normal_gamma_heavy_bounds(NormalGamma self, const Row *row,
                                           const double *log_weight, double limit,
                                           double *out) noexcept nogil:
    cdef Py_ssize_t first = 0, end = padded(self.n_slots)
    while first < end:
        heavy_block(self, row, log_weight, limit, first, out)
        first += NARROW


cdef inline inlined_void heavy_block(
        NormalGamma self, const Row *row, const double *log_weight, double limit,
        Py_ssize_t first, double *out) noexcept nogil:
    """Bounds from below of what a row costs in NARROW slots from `first`.

    The factors are those of score_slot, and of its constant, with h = w / 2 and x = w / c,
    log(Gamma(a + h) / Gamma(a)) <= h log(a + h) and log(1 + x) >= 2 x / (2 + x).
    """
    cdef double product[NARROW]
    cdef double exponent[NARROW]
    cdef double ratio[NARROW]
    cdef double power[NARROW]
    cdef double fixed[NARROW]
    cdef const double *slope = self.t.slope + first
    cdef const double *shift = self.t.shift + first
    cdef double w = row.weight, half = 0.5 * w, c, u, z, e = 0.0
    cdef Py_ssize_t d
    cdef int j, n_below
    for j in range(NARROW):
        product[j], exponent[j] = 1.0, 0.0
        c, power[j] = self.c0 + self.n[first + j], self.a0 + 0.5 * self.n[first + j] + half
        ratio[j] = w * (c + 1.0) / (c + w)
        fixed[j] = (self.n_columns * (w / (2.0 * c + w) + half * (LOG_2PI - log_positive(power[j])))
                    + half * self.log_b[first + j] + w * self.log_scale)
        fixed[j] -= SLACK * (fabs(fixed[j]) + self.n_columns * power[j]) + log_weight[first + j]
        out[first + j] = fixed[j]
    for d in range(self.n_columns):
        u = standardise(row.values[d], self.t.origin[d], self.t.unit[d])
        for j in range(NARROW):
            z = u * slope[j] - shift[j]
            product[j] = product[j] * (1.0 + ratio[j] * z * z)
        slope += self.t.stride
        shift += self.t.stride
        if d % FACTOR_GROUP == FACTOR_GROUP - 1 or d == self.n_columns - 1:
            n_below = 0
            for j in range(NARROW):
                product[j] = split_exponent(product[j], &e)
                exponent[j] += e
                out[first + j] = fixed[j] + power[j] * LOG_2 * (
                    exponent[j] + log2_floor(product[j]))
                n_below += out[first + j] < limit
            if n_below == 0:
                break


cdef double normal_gamma_score_new(NormalGamma self, const Row *row) noexcept nogil:
    """log p(row | theta_0), eq. (12)."""
    cdef double w = row.weight, ratio = 0.5 * w * self.c0 / (self.c0 + w)
    cdef double product = 1.0, exponent = 0.0, e = 0.0, u
    cdef Py_ssize_t d
    for d in range(self.n_columns):
        u = standardise(row.values[d], self.origin[d], self.unit[d])
        product *= 1.0 + ratio * u * u
        if d % FACTOR_GROUP == FACTOR_GROUP - 1:
            product = split_exponent(product, &e)
            exponent += e
    return (normal_gamma_constant(self, self.a0, self.c0, w, 0.0)
            - (self.a0 + 0.5 * w) * (exponent * LOG_2 + log(product)))


cdef inline inlined_double normal_gamma_score_member(NormalGamma self, const Row *row, Py_ssize_t k,
                                                     bint exact) noexcept nogil:
    cdef double w = row.weight, c = self.c0 + self.n[k]
    return normal_gamma_score_without(self, row, k, log_factors(
        &self.t, row.values, k, -w * (c + 1.0) / (c - w), exact))


cdef void score_members(NormalGamma self, const Row *rows, const Py_ssize_t *slots, Py_ssize_t n,
                        double *out) noexcept nogil:
    cdef const double *values[MOST_TOGETHER]
    cdef double ratio[MOST_TOGETHER]
    cdef double c
    cdef Py_ssize_t i
    if n < 1:
        return
    for i in range(n):
        c = self.c0 + self.n[slots[i]]
        ratio[i] = -rows[i].weight * (c + 1.0) / (c - rows[i].weight)
        values[i] = rows[i].values
    logs_of_factors(&self.t, values, slots, ratio, n, out)
    for i in range(n):
        out[i] = normal_gamma_score_without(self, &rows[i], slots[i], out[i])


cdef inline inlined_double normal_gamma_score_without(NormalGamma self, const Row *row,
                                                      Py_ssize_t k, double log_left) noexcept nogil:
    """Score of a member of slot k, from the logarithm of the product of its factors."""
    cdef double w = row.weight, left = self.n[k] - w
    if left <= 0.0:
        return normal_gamma_score_new(self, row)
    cdef double c = self.c0 + self.n[k], a = self.a0 + 0.5 * left
    # One column cannot have lost more than all: most rows need no look at each.
    if (log_left < LOG_HALF_OF_KEPT or self.kept[k] < HALF_OF_KEPT
            or left < LEAST_KEPT * self.n[k]):
        if (left < LEAST_KEPT * self.n[k]
                or not self.kept[k] * least_part_left(self, row, k) >= LEAST_KEPT):
            return NAN
    if w == 1.0:
        return self.t.member_constant[k] + a * log_left
    return normal_gamma_constant(self, a, c - w, w, self.log_b[k]) + a * log_left


cdef inline inlined_void normal_gamma_merged_block(NormalGamma self, Py_ssize_t j, Py_ssize_t first,
                                                   double *out) noexcept nogil:
    """Log marginals of slot j with each of NARROW slots from `first`."""
    cdef double product[NARROW]
    cdef double exponent[NARROW]
    # Copies, for the compiler cannot know that `out` is none of these.
    cdef double a0 = self.a0, c0 = self.c0, n_columns = self.n_columns, log_scale = self.log_scale
    cdef double nj = self.n[j], cj = self.c0 + self.n[j], mj, bj, e = 0.0
    cdef const double *m = self.across_m + first
    cdef const double *b = self.across_b + first
    cdef const double *n = self.n + first
    cdef Py_ssize_t d
    cdef int i
    for i in range(NARROW):
        product[i] = 1.0
        exponent[i] = 0.0
    for d in range(self.n_columns):
        mj = self.m[j * self.n_along + d]
        bj = self.b[j * self.n_along + d]
        for i in range(NARROW):
            product[i] *= merged_rate(c0, cj, c0 + n[i], mj, m[i], bj, b[i])
        m += self.capacity
        b += self.capacity
        if d % FACTOR_GROUP == FACTOR_GROUP - 1:
            for i in range(NARROW):
                product[i] = split_exponent(product[i], &e)
                exponent[i] += e
    for i in range(NARROW):
        out[first + i] = normal_gamma_evidence(a0, c0, n_columns, log_scale, nj + n[i],
                                               exponent[i] * LOG_2 + log_positive(product[i]))


cdef clones_void normal_gamma_merged_evidences(NormalGamma self, Py_ssize_t j, Py_ssize_t first,
                                               double *out) noexcept nogil:
    cdef Py_ssize_t block = first - first % NARROW, end = padded(self.n_slots)
    while block < end:
        normal_gamma_merged_block(self, j, block, out)
        block += NARROW
