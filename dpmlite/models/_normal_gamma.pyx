"""Kernel of normal_gamma.py: Student-t scoring and sufficient statistics.

With m, c, b, a the posterior of a cluster and u a row in units of the prior,

    log p(u | cluster) = constant - (a + 1/2) log prod_d (1 + t_d),   t = c (u - m)^2 / (2 b (c + 1))

needs one logarithm per cluster, not one per column, and its constant changes only when the
cluster does. A member of the cluster is scored without taking it out: with w = t (c + 1) / (c - 1),
the posterior without it has b (1 - w), so that

    log p(u | the others) = member_constant + (a - 1/2) log prod_d (1 - w_d).

Statistics lie [column][slot], so that one vector instruction serves many clusters.
"""

from array import array

from libc.math cimport INFINITY, NAN, log, sqrt
from libc.stdint cimport uintptr_t
from libc.string cimport memcpy, memset

from dpmlite.models._component cimport Component, padded
from dpmlite.models._special cimport (
    clones_double, clones_ssize, clones_void, inlined_double, inlined_ssize, inlined_void, log2_floor, log_gamma_half_step_c,
    log_positive, log_rising_c, split_exponent)

cdef extern from "Python.h":
    void *PyMem_RawMalloc(size_t n) nogil
    void PyMem_RawFree(void *p) nogil

cdef enum:
    WIDE = 32       # slots whose running products stay in registers
    NARROW = 16
    GROUP = 8       # columns between looks at the bounds; their factors cannot overflow
    RATE_GROUP = 8  # the same for factors b

cdef extern from *:
    """
    #define DPM_REACH 0x1p29
    #define DPM_LEAST_FACTOR 0x1p-60        /* keeps a product above 0; what is below is rounding */
    #define DPM_LEAST_KEPT 0x1p-10
    #define DPM_HALF_OF_KEPT 0x1p-5         /* its square root, */
    #define DPM_LOG_HALF_OF_KEPT -3.4657359 /* and the logarithm of that */
    #define DPM_LOG_2 0.693147180559945309417
    #define DPM_LOG_2PI 1.837877066409345483561
    """
    double REACH "DPM_REACH"
    double LEAST_FACTOR "DPM_LEAST_FACTOR"
    double LEAST_KEPT "DPM_LEAST_KEPT"
    double HALF_OF_KEPT "DPM_HALF_OF_KEPT"
    double LOG_HALF_OF_KEPT "DPM_LOG_HALF_OF_KEPT"
    double LOG_2 "DPM_LOG_2"
    double LOG_2PI "DPM_LOG_2PI"


cdef class NormalGamma(Component):

    def __cinit__(self):
        self.block = NULL

    def __dealloc__(self):
        PyMem_RawFree(self.block)

    def __init__(self, m0, double c0, double a0, b0):
        if len(m0) != len(b0):
            raise ValueError(
                f"m0 and b0 must have the same length, got {len(m0)} and {len(b0)}")
        self.n_columns = len(m0)
        self.c0 = c0
        self.a0 = a0
        self.m0 = [float(m) for m in m0]
        self.b0 = [float(b) for b in b0]
        self.origin = array("d", self.m0)
        self.unit = array("d", [1.0 / sqrt(b) for b in self.b0])
        self.log_scale = sum(0.5 * log(b) for b in self.b0)
        self.allocate(NARROW)

    cdef int allocate(self, Py_ssize_t capacity) except -1 nogil:
        """Memory for `capacity` slots, at addresses that fit a cache line."""
        cdef Py_ssize_t rows = 4 * self.n_columns + 6, size = self.n_columns * capacity
        cdef void *block = PyMem_RawMalloc((rows * capacity + 2 * size + NARROW) * sizeof(double))
        if block == NULL:
            with gil:
                raise MemoryError(f"no memory for the statistics of {capacity} clusters")
        cdef double *new = <double *> ((<uintptr_t> block + 63) & ~(<uintptr_t> 63))
        cdef Py_ssize_t row, k, kept = min(self.capacity, capacity)
        memset(new, 0, (rows * capacity + 2 * size) * sizeof(double))
        if self.block != NULL:
            for row in range(rows):
                memcpy(new + row * capacity, self.m + row * self.capacity, kept * sizeof(double))
            k = self.n_columns * kept
            memcpy(new + rows * capacity, self.member_slope, k * sizeof(double))
            memcpy(new + rows * capacity + size, self.member_shift, k * sizeof(double))
            PyMem_RawFree(self.block)
        self.block = block
        self.capacity = capacity
        self.m, self.b = new, new + size
        self.slope, self.shift = new + 2 * size, new + 3 * size
        self.n, self.log_b = new + 4 * size, new + 4 * size + capacity
        self.kept = self.log_b + capacity
        self.power = self.kept + capacity
        self.constant = self.power + capacity
        self.member_constant = self.constant + capacity
        self.member_slope = self.member_constant + capacity
        self.member_shift = self.member_slope + size
        for k in range(kept, capacity):
            self.clear_slot(k)
        return 0

    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil:
        cdef Py_ssize_t k, capacity = self.capacity
        while capacity < n_slots:
            capacity *= 2
        if capacity > self.capacity:
            self.allocate(capacity)
        for k in range(n_slots, self.n_slots):
            self.clear_slot(k)
        self.n_slots = n_slots
        return 0

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t d
        self.n[k], self.kept[k] = 0.0, 1.0
        for d in range(self.n_columns):
            self.m[d * self.capacity + k] = 0.0
            self.b[d * self.capacity + k] = 1.0
        self.refresh(k)

    cdef void copy_slot(self, Py_ssize_t k, Component other, Py_ssize_t j) noexcept nogil:
        cdef double *source = (<NormalGamma> other).m
        cdef Py_ssize_t row, stride = (<NormalGamma> other).capacity, d = self.n_columns
        for row in range(4 * d + 6):
            self.m[row * self.capacity + k] = source[row * stride + j]
        source = (<NormalGamma> other).member_slope
        memcpy(self.member_slope + k * d, source + j * d, d * sizeof(double))
        source = (<NormalGamma> other).member_shift
        memcpy(self.member_shift + k * d, source + j * d, d * sizeof(double))

    cdef void accumulate(self, const double *row, Py_ssize_t k) noexcept nogil:
        cdef double c = self.c0 + self.n[k]
        cdef double part = 1.0 / (c + 1.0), half = 0.5 * c * part, e
        cdef Py_ssize_t d, at = k
        for d in range(self.n_columns):
            e = standardise(row[d], self.origin[d], self.unit[d]) - self.m[at]
            self.b[at] += half * e * e
            self.m[at] += part * e
            at += self.capacity
        self.n[k] += 1.0

    cdef bint remove_row(self, const double *row, Py_ssize_t k) noexcept nogil:
        if self.n[k] <= 1.0:
            self.clear_slot(k)
            return True
        cdef double kept = self.kept[k] * least_part_left(self, row, k)
        if kept < LEAST_KEPT:
            return False
        cdef double c = self.c0 + self.n[k]
        cdef double part = 1.0 / (c - 1.0), half = 0.5 * c * part, e
        cdef Py_ssize_t d, at = k
        for d in range(self.n_columns):
            e = standardise(row[d], self.origin[d], self.unit[d]) - self.m[at]
            self.b[at] = larger(self.b[at] - half * e * e, 1.0)
            self.m[at] -= part * e
            at += self.capacity
        self.n[k] -= 1.0
        self.kept[k] = kept
        self.refresh(k)
        return True

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef double c = self.c0 + self.n[k], a = self.a0 + 0.5 * self.n[k]
        cdef double ratio = 0.5 * c / (c + 1.0), product = 1.0, exponent = 0.0, e = 0.0
        cdef Py_ssize_t d, at = k
        for d in range(self.n_columns):
            self.slope[at] = sqrt(ratio / self.b[at])
            self.shift[at] = self.m[at] * self.slope[at]
            self.member_slope[k * self.n_columns + d] = self.slope[at]
            self.member_shift[k * self.n_columns + d] = self.shift[at]
            product *= self.b[at]
            if d % RATE_GROUP == RATE_GROUP - 1:
                product = split_exponent(product, &e)
                exponent += e
            at += self.capacity
        self.log_b[k] = exponent * LOG_2 + log(product)
        self.power[k] = a + 0.5
        cdef double common = -0.5 * self.log_b[k] - 0.5 * self.n_columns * LOG_2PI - self.log_scale
        self.constant[k] = common + self.n_columns * (
            log_gamma_half_step_c(a) + 0.5 * log(c / (c + 1.0)))
        if self.n[k] > 1.0:
            self.member_constant[k] = common + self.n_columns * (
                log_gamma_half_step_c(a - 0.5) + 0.5 * log((c - 1.0) / c))

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        cdef double cj = self.c0 + self.n[j], ck = self.c0 + self.n[k], c = cj + ck - self.c0
        cdef Py_ssize_t d, at_j = j, at_k = k
        for d in range(self.n_columns):
            self.b[at_j] = merged_rate(
                self.c0, cj, ck, self.m[at_j], self.m[at_k], self.b[at_j], self.b[at_k])
            self.m[at_j] = (cj * self.m[at_j] + ck * self.m[at_k]) / c
            at_j += self.capacity
            at_k += self.capacity
        self.n[j] += self.n[k]
        self.kept[j] = self.kept[k] if self.kept[k] < self.kept[j] else self.kept[j]
        self.refresh(j)
        self.clear_slot(k)

    cdef double costs_below(self, const double *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        if costs(self, row, log_weight, limit, out) == 0:
            return limit
        return refine(self, row, log_weight, limit, out)

    cdef double score_slot(self, const double *row, Py_ssize_t k) noexcept nogil:
        return self.constant[k] - self.power[k] * log_factors(self, row, k, 1.0, True)

    cdef double score_member(self, const double *row, Py_ssize_t k) noexcept nogil:
        return score_member(self, row, k, True)

    cdef double score_member_floor(self, const double *row, Py_ssize_t k) noexcept nogil:
        return score_member(self, row, k, False)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return evidence(self, self.n[k], self.log_b[k])

    cdef void marginal_merged_all(self, Py_ssize_t j, double *out) noexcept nogil:
        merged_evidences(self, j, out)

    def like(self):
        return NormalGamma(self.m0, self.c0, self.a0, self.b0)

    def posterior(self, Py_ssize_t k):
        self._check_slot(k)
        at = range(k, self.n_columns * self.capacity, self.capacity)
        return {
            "n": self.n[k],
            "m": [m0 + sqrt(b0) * self.m[i] for m0, b0, i in zip(self.m0, self.b0, at)],
            "c": self.c0 + self.n[k],
            "a": self.a0 + 0.5 * self.n[k],
            "b": [b0 * self.b[i] for b0, i in zip(self.b0, at)],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        at = range(k, self.n_columns * self.capacity, self.capacity)
        return [self.n[k], *(self.m[i] for i in at), *(self.b[i] for i in at)]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t d, n_columns = self.n_columns
        if len(statistics) != 1 + 2 * n_columns:
            raise ValueError(
                f"statistics must have {1 + 2 * n_columns} values, got {len(statistics)}")
        self.n[k], self.kept[k] = statistics[0], 1.0
        for d in range(n_columns):
            self.m[d * self.capacity + k] = statistics[1 + d]
            self.b[d * self.capacity + k] = statistics[1 + n_columns + d]
        self.refresh(k)


cdef inline inlined_double standardise(double x, double origin, double unit) noexcept nogil:
    cdef double u = (x - origin) * unit
    return REACH if u > REACH else (-REACH if u < -REACH else u)


cdef inline inlined_double larger(double x, double y) noexcept nogil:
    return x if x > y else y  # fmax would be a call


cdef inline inlined_double merged_rate(double c0, double cj, double ck, double mj, double mk,
                               double bj, double bk) noexcept nogil:
    cdef double between = cj * ck * (mj - mk) * (mj - mk) - c0 * (cj * mj * mj + ck * mk * mk)
    return larger(bj + bk - 1.0 + 0.5 * between / (cj + ck - c0), 1.0)


cdef inline inlined_double evidence(NormalGamma self, double n, double log_b) noexcept nogil:
    cdef double a = self.a0 + 0.5 * n
    return (self.n_columns * (log_rising_c(self.a0, 0.5 * n)
                              + 0.5 * log_positive(self.c0 / (self.c0 + n)) - 0.5 * n * LOG_2PI)
            - a * log_b - n * self.log_scale)


cdef double least_part_left(NormalGamma self, const double *row, Py_ssize_t k) noexcept nogil:
    """What part of b is left without a row of slot k, in the column that loses most."""
    cdef double c = self.c0 + self.n[k], half = 0.5 * c / (c - 1.0), least = 1.0, part, e
    cdef Py_ssize_t d, at = k
    for d in range(self.n_columns):
        e = standardise(row[d], self.origin[d], self.unit[d]) - self.m[at]
        part = 1.0 - half * e * e / self.b[at]
        least = part if part < least else least
        at += self.capacity
    return least


cdef double score_new(NormalGamma self, const double *row) noexcept nogil:
    """log p(row | theta_0), eq. (12)."""
    cdef double ratio = 0.5 * self.c0 / (self.c0 + 1.0), product = 1.0, exponent = 0.0, e = 0.0, u
    cdef Py_ssize_t d
    for d in range(self.n_columns):
        u = standardise(row[d], self.origin[d], self.unit[d])
        product *= 1.0 + ratio * u * u
        if d % GROUP == GROUP - 1:
            product = split_exponent(product, &e)
            exponent += e
    return (self.n_columns * (log_gamma_half_step_c(self.a0)
                              + 0.5 * log(self.c0 / (self.c0 + 1.0)) - 0.5 * LOG_2PI)
            - self.log_scale - (self.a0 + 0.5) * (exponent * LOG_2 + log(product)))


cdef inline double score_member(NormalGamma self, const double *row, Py_ssize_t k,
                                bint exact) noexcept nogil:
    if self.n[k] <= 1.0:
        return score_new(self, row)
    cdef double c = self.c0 + self.n[k]
    cdef double log_left = log_factors(self, row, k, -(c + 1.0) / (c - 1.0), exact)
    # One column cannot have lost more than all: most rows need no look at each.
    if log_left < LOG_HALF_OF_KEPT or self.kept[k] < HALF_OF_KEPT:
        if not self.kept[k] * least_part_left(self, row, k) >= LEAST_KEPT:
            return NAN
    return self.member_constant[k] + (self.power[k] - 1.0) * log_left


cdef inline double log_factors(NormalGamma self, const double *row, Py_ssize_t k, double ratio,
                               bint exact) noexcept nogil:
    """log prod_d (1 + ratio t_d) for one slot, or a lower bound of it."""
    cdef double exponent = 0.0
    cdef double product = multiply_factors(self, row, k, ratio, &exponent)
    return LOG_2 * exponent + (log(product) if exact else LOG_2 * log2_floor(product))


cdef clones_double multiply_factors(NormalGamma self, const double *row, Py_ssize_t k,
                                    double ratio, double *exponent) noexcept nogil:
    """prod_d (1 + ratio t_d) for one slot, without 2^exponent, vectorised over columns."""
    cdef double factor[GROUP]
    cdef double product = 1.0, e = 0.0, z
    cdef Py_ssize_t column = 0, end, d, half
    cdef const double *slope = self.member_slope + k * self.n_columns
    cdef const double *shift = self.member_shift + k * self.n_columns
    cdef const double *origin = &self.origin[0]
    cdef const double *unit = &self.unit[0]
    while column < self.n_columns:
        end = min(self.n_columns - column, <Py_ssize_t> GROUP)
        for d in range(end, GROUP):
            factor[d] = 1.0
        for d in range(end):
            z = (standardise(row[column + d], origin[column + d], unit[column + d])
                 * slope[column + d] - shift[column + d])
            factor[d] = larger(1.0 + ratio * z * z, LEAST_FACTOR)
        half = GROUP // 2
        while half > 0:  # a tree: its factors do not wait for one another
            for d in range(half):
                factor[d] *= factor[d + half]
            half //= 2
        product = split_exponent(product * factor[0], &e)
        exponent[0] += e
        column += GROUP
    return product


cdef inline inlined_ssize cost_block(
        NormalGamma self, const double *row, const double *log_weight, double limit,
        Py_ssize_t first, int width, double *out) noexcept nogil:
    """Costs of `width` slots from `first` if `limit` is infinite, else bounds from below.

    Two fused multiply-adds and a product for a slot and column. Since every factor is at least 1,
    what is known after some columns is a bound already: a block of slots whose bounds all reach
    `limit` is left there. Returns how many do not.
    """
    cdef double product[WIDE]
    cdef double exponent[WIDE]
    cdef double u[GROUP]
    cdef const double *slope = self.slope + first
    cdef const double *shift = self.shift + first
    cdef const double *origin = &self.origin[0]
    cdef const double *unit = &self.unit[0]
    cdef Py_ssize_t d, column = 0, end, stride = self.capacity, j, n_below = 0
    cdef double z, e = 0.0
    for j in range(width):
        product[j] = 1.0
        exponent[j] = 0.0
    while True:
        end = min(self.n_columns - column, <Py_ssize_t> GROUP)
        for d in range(end):
            u[d] = standardise(row[column + d], origin[column + d], unit[column + d])
        for d in range(end):
            for j in range(width):
                z = u[d] * slope[j] - shift[j]
                product[j] = product[j] * (1.0 + z * z)
            slope += stride
            shift += stride
        column += GROUP
        if column < self.n_columns:
            for j in range(width):
                product[j] = split_exponent(product[j], &e)
                exponent[j] += e
            if limit == INFINITY:
                continue
        n_below = 0
        for j in range(width):
            z = log_positive(product[j]) if limit == INFINITY else LOG_2 * log2_floor(product[j])
            z = (self.power[first + j] * (exponent[j] * LOG_2 + z)
                 - self.constant[first + j] - log_weight[first + j])
            out[first + j] = z
            n_below += z < limit
        if n_below == 0 or column >= self.n_columns:
            return n_below


cdef clones_ssize costs(NormalGamma self, const double *row, const double *log_weight,
                        double limit, double *out) noexcept nogil:
    """Costs of every slot if `limit` is infinite, else bounds; returns how many are below it."""
    cdef Py_ssize_t first = 0, end = padded(self.n_slots), n_below = 0
    if limit == INFINITY:
        while first < end:
            n_below += cost_block(self, row, log_weight, INFINITY, first, NARROW, out)
            first += NARROW
        return n_below
    while first + WIDE <= end:
        n_below += cost_block(self, row, log_weight, limit, first, WIDE, out)
        first += WIDE
    if first < end:
        n_below += cost_block(self, row, log_weight, limit, first, NARROW, out)
    return n_below


cdef double refine(NormalGamma self, const double *row, const double *log_weight, double limit,
                   double *out) noexcept nogil:
    """Replace bounds below `limit` by costs; returns the least."""
    cdef double least = INFINITY
    cdef Py_ssize_t k
    for k in range(self.n_slots):
        if out[k] < limit and limit < INFINITY:
            out[k] = -log_weight[k] - self.score_slot(row, k)
        least = out[k] if out[k] < least else least
    return least


cdef inline inlined_void merged_block(NormalGamma self, Py_ssize_t j, Py_ssize_t first, int width,
                              double *out) noexcept nogil:
    cdef double product[WIDE]
    cdef double exponent[WIDE]
    cdef double c0 = self.c0, cj = self.c0 + self.n[j], mj, bj, e = 0.0
    cdef const double *m = self.m + first
    cdef const double *b = self.b + first
    cdef const double *n = self.n + first
    cdef Py_ssize_t d
    cdef int i
    for i in range(width):
        product[i] = 1.0
        exponent[i] = 0.0
    for d in range(self.n_columns):
        mj = self.m[d * self.capacity + j]
        bj = self.b[d * self.capacity + j]
        for i in range(width):
            product[i] *= merged_rate(c0, cj, c0 + n[i], mj, m[i], bj, b[i])
        m += self.capacity
        b += self.capacity
        if d % RATE_GROUP == RATE_GROUP - 1:
            for i in range(width):
                product[i] = split_exponent(product[i], &e)
                exponent[i] += e
    for i in range(width):
        out[first + i] = evidence(
            self, self.n[j] + n[i], exponent[i] * LOG_2 + log_positive(product[i]))


cdef clones_void merged_evidences(NormalGamma self, Py_ssize_t j, double *out) noexcept nogil:
    cdef Py_ssize_t first = 0, end = padded(self.n_slots)
    while first < end:
        merged_block(self, j, first, NARROW, out)
        first += NARROW
