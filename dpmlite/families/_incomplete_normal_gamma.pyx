"""Kernel of incomplete_normal_gamma.py.

Each column of a slot has a count of its own, hence a power of its own: _student_t.pyx scores rows
column by column. Statistics lie [slot][column], padded to whole vectors; what all slots are scored
by lies [column][slot] as well.

As in _normal_gamma.pyx, a member is scored without taking it out. The predictive has the power
-(a + 1/2) of 1 + t, the member's predictive the power a - 1/2 of 1 - t (c + 1) / (c - 1).
"""

from array import array

from libc.math cimport NAN, log, sqrt

from dpmlite.core._constants cimport LEAST_KEPT, LOG_2PI
from dpmlite.core._simd cimport (
    LANES, clones_double, clones_void, inlined_double, larger, log_positive, padded_columns,
    sum_of)
from dpmlite.core._special cimport log_rising_of_lane
from dpmlite.families._normal_gamma cimport merged_rate
from dpmlite.families._student_t cimport log_student_t_c, standardise, sum_terms, term_costs_below

cdef enum:
    N_TERMS = 4  # arrays of Terms

cdef enum:  # what a slot holds of each column after its posterior: terms to score it by
    KEPT = RATE + 1  # part of the rate that removals left
    PREDICTIVE       # the arrays of Terms
    MEMBER = PREDICTIVE + N_TERMS
    N_HELD = MEMBER + N_TERMS

cdef struct Column:  # the posterior of one column, eq. (13)
    double n
    double m
    double b
    double kept


cdef class IncompleteNormalGamma(Component):

    def __cinit__(self):
        self.has_scratch = True

    def __init__(self, m0, double c0, double a0, b0):
        self.complete = NormalGamma(m0, c0, a0, b0)  # it checks them
        Component.__init__(self, self.complete.n_columns)
        self.c0, self.a0, self.log_scale = c0, a0, self.complete.log_scale
        self.width = padded_columns(self.n_columns)
        spare = self.width - self.n_columns
        self.log_scales = array("d", [0.5 * log(b) for b in self.complete.b0] + [0.0] * spare)
        self.u = array("d", [NAN] * self.width)
        self.start(2 + 4 * self.n_columns, N_HELD * self.width)

    @property
    def m0(self):
        return self.complete.m0

    @property
    def b0(self):
        return self.complete.b0

    cdef void lay_out(self) noexcept nogil:
        cdef Py_ssize_t size = self.n_columns * self.capacity
        self.least_factor = self.n + self.capacity
        self.all.slope = self.n + 2 * self.capacity
        self.all.shift, self.all.power = self.all.slope + size, self.all.slope + 2 * size
        self.all.constant = self.all.slope + 3 * size

    cdef double *statistic(self, Py_ssize_t k, int which) noexcept nogil:
        return self.along + k * self.n_along + which * self.width

    cdef Terms terms(self, Py_ssize_t k, bint member) noexcept nogil:
        cdef Terms terms
        terms.slope = self.statistic(k, MEMBER if member else PREDICTIVE)
        terms.shift = terms.slope + self.width
        terms.power = terms.slope + 2 * self.width
        terms.constant = terms.slope + 3 * self.width
        return terms

    cdef void read(self, const Row *row) noexcept nogil:
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            self.u[d] = standardise(row.values[d], self.complete.origin[d], self.complete.unit[d])

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t d
        self.n[k] = 0.0
        for d in range(self.width):
            self.statistic(k, COUNT)[d] = 0.0
            self.statistic(k, MEAN)[d] = 0.0
            self.statistic(k, RATE)[d] = 1.0
            self.statistic(k, KEPT)[d] = 1.0
        self.refresh(k)

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double *n = self.statistic(k, COUNT)
        cdef double *m = self.statistic(k, MEAN)
        cdef double *b = self.statistic(k, RATE)
        cdef double w = row.weight, part, e
        cdef Py_ssize_t d
        self.read(row)
        for d in range(self.n_columns):
            if self.u[d] == self.u[d]:
                e = self.u[d] - m[d]
                part = w / (self.c0 + n[d] + w)
                b[d] += 0.5 * (self.c0 + n[d]) * part * e * e
                m[d] += part * e
                n[d] += w
        self.n[k] += w

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double left = self.n[k] - row.weight
        cdef Column column
        cdef Py_ssize_t d
        if left <= 0.0:
            self.clear_slot(k)
            return True
        if left < LEAST_KEPT * self.n[k]:
            return False
        self.read(row)
        for d in range(self.n_columns):
            if self.u[d] == self.u[d] and not without(self, k, d, row.weight, &column):
                return False
        for d in range(self.n_columns):
            if self.u[d] == self.u[d]:
                without(self, k, d, row.weight, &column)
                self.statistic(k, COUNT)[d] = column.n
                self.statistic(k, MEAN)[d] = column.m
                self.statistic(k, RATE)[d] = column.b
                self.statistic(k, KEPT)[d] = column.kept
        self.n[k] = left
        self.refresh(k)
        return True

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef Terms terms = self.terms(k, False)
        cdef const double *kept = self.statistic(k, KEPT)
        cdef double least = 1.0
        cdef Py_ssize_t d, at = k
        fit_terms(self, k)
        for d in range(self.n_columns):
            least = kept[d] if kept[d] < least else least
            self.all.slope[at], self.all.shift[at] = terms.slope[d], terms.shift[d]
            self.all.power[at], self.all.constant[at] = terms.power[d], terms.constant[d]
            at += self.capacity
        self.least_factor[k] = LEAST_KEPT / least

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        cdef double *pj = self.statistic(j, COUNT)
        cdef double *pk = self.statistic(k, COUNT)
        cdef Py_ssize_t d, m, b, kept
        cdef double cj, ck
        for d in range(self.n_columns):
            m, b, kept = d + MEAN * self.width, d + RATE * self.width, d + KEPT * self.width
            cj, ck = self.c0 + pj[d], self.c0 + pk[d]
            pj[b] = merged_rate(self.c0, cj, ck, pj[m], pk[m], pj[b], pk[b])
            pj[m] = (cj * pj[m] + ck * pk[m]) / (cj + pk[d])
            pj[d] += pk[d]
            pj[kept] = pk[kept] if pk[kept] < pj[kept] else pj[kept]
        self.n[j] += self.n[k]
        self.refresh(j)
        self.clear_slot(k)

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        if row.weight != 1.0:
            return Component.costs_below(self, row, log_weight, limit, out)
        self.read(row)
        return term_costs_below(&self.all, self.capacity, self.n_slots, &self.u[0],
                                self.n_columns, log_weight, limit, out)

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef Terms terms = self.terms(k, False)
        self.read(row)
        if row.weight != 1.0:
            return weighted_score(self, row.weight, k)
        return sum_terms(&terms, &self.u[0], self.width, 1.0, 1.0)

    cdef double log_scale_of(self, const Row *row) noexcept nogil:
        cdef double total = 0.0
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            total += 0.0 if row.values[d] != row.values[d] else self.log_scales[d]
        return total

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double left = self.n[k] - row.weight, score = NAN
        cdef Terms terms = self.terms(k, True)
        if 0.0 < left < LEAST_KEPT * self.n[k]:
            return NAN
        self.read(row)
        if row.weight == 1.0:
            score = sum_terms(&terms, &self.u[0], self.width, -1.0, self.least_factor[k])
        return score if score == score else incomplete_score_without(self, row.weight, k)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return incomplete_evidence(self, k)

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(first, self.n_slots):
            out[k] = merged_evidence(self, j, k)

    def like(self):
        cdef IncompleteNormalGamma other = IncompleteNormalGamma.__new__(IncompleteNormalGamma)
        other.n_columns, other.width = self.n_columns, self.width
        other.complete, other.c0, other.a0 = self.complete, self.c0, self.a0
        other.log_scale, other.log_scales = self.log_scale, self.log_scales
        other.u = array("d", [NAN]) * self.width
        other.start(self.n_across, self.n_along)
        return other

    def posterior(self, Py_ssize_t k):
        n, *columns = self.statistics(k)
        d = self.n_columns
        counts, means, rates = columns[:d], columns[d:2 * d], columns[2 * d:]
        return {
            "n": n,
            "m": [m0 + sqrt(b0) * m for m0, b0, m in zip(self.m0, self.b0, means)],
            "c": [self.c0 + count for count in counts],
            "a": [self.a0 + 0.5 * count for count in counts],
            "b": [b0 * b for b0, b in zip(self.b0, rates)],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        cdef Py_ssize_t d
        return [self.n[k]] + [self.statistic(k, which)[d] for which in (COUNT, MEAN, RATE)
                              for d in range(self.n_columns)]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t d, n_columns = self.n_columns
        self._check_statistics(statistics, 1 + 3 * n_columns)
        self.clear_slot(k)
        self.n[k] = statistics[0]
        for which in (COUNT, MEAN, RATE):
            for d in range(n_columns):
                self.statistic(k, which)[d] = statistics[1 + which * n_columns + d]
        self.refresh(k)


cdef bint without(IncompleteNormalGamma self, Py_ssize_t k, Py_ssize_t d, double w,
                  Column *left) noexcept nogil:
    """Column d of slot k without the row that was read; False if rounding would show."""
    cdef double n = self.statistic(k, COUNT)[d], m = self.statistic(k, MEAN)[d]
    cdef double b = self.statistic(k, RATE)[d], e = self.u[d] - m, c = self.c0 + n, lost
    left.n, left.m, left.b, left.kept = 0.0, 0.0, 1.0, 1.0
    if n - w <= 0.0:
        return True
    lost = 0.5 * c * w / (c - w) * e * e
    left.n, left.m, left.b = n - w, m - w / (c - w) * e, larger(b - lost, 1.0)
    left.kept = self.statistic(k, KEPT)[d] * (1.0 - lost / b)
    return left.kept >= LEAST_KEPT and left.n >= LEAST_KEPT * n


cdef clones_double weighted_score(IncompleteNormalGamma self, double w,
                                  Py_ssize_t k) noexcept nogil:
    """Score of the row that was read, of any weight, LANES columns at a time."""
    cdef const double *n = self.statistic(k, COUNT)
    cdef const double *m = self.statistic(k, MEAN)
    cdef const double *b = self.statistic(k, RATE)
    cdef const double *u = &self.u[0]
    cdef const double *log_scale = &self.log_scales[0]
    cdef double total[LANES]
    cdef double half = 0.5 * w, c, a, e, term
    cdef Py_ssize_t column = 0, d
    cdef int i
    for i in range(LANES):
        total[i] = 0.0
    while column < self.width:
        for i in range(LANES):
            d = column + i
            c, a, e = self.c0 + n[d], self.a0 + 0.5 * n[d], u[d] - m[d]
            term = (log_rising_of_lane(a, half) - 0.5 * log_positive((c + w) / c)
                    - half * (LOG_2PI + log_positive(b[d])) - w * log_scale[d]
                    - (a + half) * log_positive(1.0 + half * c * e * e / ((c + w) * b[d])))
            total[i] += term if u[d] == u[d] else 0.0
        column += LANES
    return sum_of(total)


cdef double incomplete_score_without(IncompleteNormalGamma self, double w,
                                     Py_ssize_t k) noexcept nogil:
    """Score of the member that was read, column by column; NaN if rounding would show."""
    cdef double score = 0.0
    cdef Column left
    cdef Py_ssize_t d
    for d in range(self.n_columns):
        if self.u[d] == self.u[d]:
            if not without(self, k, d, w, &left):
                return NAN
            score += log_student_t_c(self.u[d], left.m, self.c0 + left.n, left.b,
                                     self.a0 + 0.5 * left.n, w) - w * self.log_scales[d]
    return score


cdef clones_void fit_terms(IncompleteNormalGamma self, Py_ssize_t k) noexcept nogil:
    """The terms of slot k from its posterior.

    A member's column that has no other value, or little, has no term: its constant is NaN.
    """
    cdef double fitted[2 * N_TERMS][LANES]
    cdef double shape[2 * LANES]  # of the slot, and of it without a member
    cdef double ratio[2 * LANES]
    cdef const double *n = self.statistic(k, COUNT)
    cdef const double *m = self.statistic(k, MEAN)
    cdef const double *b = self.statistic(k, RATE)
    cdef double *terms = self.statistic(k, PREDICTIVE)
    cdef double c, a, slope, common
    cdef Py_ssize_t column = 0, d
    cdef int i, j
    while column < self.width:
        for i in range(LANES):
            d = column + i
            c, a = self.c0 + n[d], self.a0 + 0.5 * n[d]
            slope = sqrt(0.5 * c / ((c + 1.0) * b[d]))
            fitted[0][i], fitted[1][i], fitted[2][i] = slope, m[d] * slope, -(a + 0.5)
            shape[i], ratio[i] = a, c / ((c + 1.0) * b[d])
            slope = sqrt(0.5 * c / ((c - 1.0) * b[d]))
            fitted[4][i], fitted[5][i], fitted[6][i] = slope, m[d] * slope, a - 0.5
            shape[LANES + i], ratio[LANES + i] = a - 0.5, (c - 1.0) / (c * b[d])
        for i in range(2 * LANES):
            shape[i] = log_rising_of_lane(shape[i], 0.5) + 0.5 * log_positive(ratio[i])
        for i in range(LANES):
            d = column + i
            common = -0.5 * LOG_2PI - self.log_scales[d]
            fitted[3][i] = common + shape[i]
            fitted[7][i] = (common + shape[LANES + i] if n[d] - 1.0 >= LEAST_KEPT * n[d] else NAN)
        for j in range(2 * N_TERMS):
            for i in range(LANES):
                terms[j * self.width + column + i] = fitted[j][i]
        column += LANES


cdef inline inlined_double column_evidence(double c0, double a0, double log_scale, double n,
                                           double b) noexcept nogil:
    return (log_rising_of_lane(a0, 0.5 * n) + 0.5 * log_positive(c0 / (c0 + n))
            - (a0 + 0.5 * n) * log_positive(b) - n * (0.5 * LOG_2PI + log_scale))


cdef clones_double incomplete_evidence(IncompleteNormalGamma self, Py_ssize_t k) noexcept nogil:
    """Log marginal of slot k, LANES columns at a time."""
    cdef const double *n = self.statistic(k, COUNT)
    cdef const double *b = self.statistic(k, RATE)
    cdef const double *log_scale = &self.log_scales[0]
    cdef double total[LANES]
    cdef Py_ssize_t column = 0, d
    cdef int i
    for i in range(LANES):
        total[i] = 0.0
    while column < self.width:
        for i in range(LANES):
            d = column + i
            total[i] += column_evidence(self.c0, self.a0, log_scale[d], n[d], b[d])
        column += LANES
    return sum_of(total)


cdef clones_double merged_evidence(IncompleteNormalGamma self, Py_ssize_t j,
                                   Py_ssize_t k) noexcept nogil:
    """The same of slots j and k together."""
    cdef const double *pj = self.statistic(j, COUNT)
    cdef const double *pk = self.statistic(k, COUNT)
    cdef const double *log_scale = &self.log_scales[0]
    cdef Py_ssize_t column = 0, d, m, b
    cdef double total[LANES]
    cdef double rate
    cdef int i
    for i in range(LANES):
        total[i] = 0.0
    while column < self.width:
        for i in range(LANES):
            d = column + i
            m, b = d + MEAN * self.width, d + RATE * self.width
            rate = merged_rate(self.c0, self.c0 + pj[d], self.c0 + pk[d], pj[m], pk[m],
                               pj[b], pk[b])
            total[i] += column_evidence(self.c0, self.a0, log_scale[d], pj[d] + pk[d], rate)
        column += LANES
    return sum_of(total)
