"""Sufficient statistics of normal-gamma clusters of rows with missing values.

Each column of a slot has a count of its own, hence a power of its own: _student_t.pyx scores rows
column by column. Statistics lie [slot][column], padded to whole vectors; what all slots are scored
by lies [column][slot] as well.
"""

from array import array

from libc.math cimport INFINITY, NAN, sqrt

from dpmlite.core._constants cimport LOG_2PI, MIN_KEPT_FRACTION
from dpmlite.core._simd cimport LANES, clones_void, larger, log_positive, padded_columns
from dpmlite.core._special cimport log_half_step_of_lane, log_rising_of_lane
from dpmlite.families._normal_columns cimport normal_column_of, standardise
from dpmlite.families._normal_gamma_prior cimport merged_rate


cdef class IncompleteStatistics(Component):

    def __cinit__(self):
        self.has_scratch = True

    cdef int begin(self, NormalGammaPrior prior) except -1:
        """Set what follows from the prior, and allocate slots."""
        self.prior, self.columns = prior, prior.columns(True)
        self.c0, self.a0, self.log_scale = prior.c0, prior.a0, prior.log_scale
        self.power = prior.power
        self.n_columns, self.width = prior.n_columns, padded_columns(prior.n_columns)
        self.log_scales = prior.log_scales
        self.u = array("d", [NAN]) * self.width
        self.t.n_columns = prior.n_columns
        self.t.origin, self.t.unit = self.columns.origin, self.columns.unit
        return self.start(3 + 4 * self.n_columns, N_HELD * self.width)

    cdef void lay_out(self) noexcept nogil:
        cdef Py_ssize_t size = self.n_columns * self.capacity
        self.min_factor = self.n + self.capacity
        self.most_power = self.n + 2 * self.capacity
        self.all.slope = self.n + 3 * self.capacity
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
        standardise_row(row.values, self.columns.origin, self.columns.unit, self.n_columns,
                        &self.u[0])

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
        self.read(row)
        add_cells(&self.u[0], row.weight, self.c0, self.width, self.statistic(k, COUNT),
                  self.statistic(k, MEAN), self.statistic(k, RATE))
        self.n[k] += row.weight

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double left = self.n[k] - row.weight
        cdef Column column
        cdef Py_ssize_t d
        if left <= 0.0:
            self.clear_slot(k)
            return True
        if left < MIN_KEPT_FRACTION * self.n[k]:
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
        cdef double least = 1.0, most_power = -INFINITY
        cdef Py_ssize_t d, at = k
        write_terms(self, k)
        for d in range(self.n_columns):
            least = kept[d] if kept[d] < least else least
            most_power = larger(terms.power[d], most_power)
            self.all.slope[at], self.all.shift[at] = terms.slope[d], terms.shift[d]
            self.all.power[at], self.all.constant[at] = terms.power[d], terms.constant[d]
            at += self.capacity
        self.min_factor[k], self.most_power[k] = MIN_KEPT_FRACTION / least, most_power

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

    cdef const NormalPrior *column_prior(self) noexcept nogil:
        return &self.columns

    cdef NormalColumn normal_column(self, Py_ssize_t k, Py_ssize_t d) noexcept nogil:
        return normal_column_of(self.c0, self.statistic(k, COUNT)[d], self.statistic(k, MEAN)[d],
                                self.statistic(k, RATE)[d])


cdef clones_void standardise_row(const double *values, const double *origin, const double *unit,
                                 Py_ssize_t n_columns, double *u) noexcept nogil:
    cdef Py_ssize_t d
    for d in range(n_columns):
        u[d] = standardise(values[d], origin[d], unit[d])


cdef clones_void add_cells(const double *u, double weight, double c0, Py_ssize_t width, double *n,
                           double *m, double *b) noexcept nogil:
    """Add a row to the statistics of its columns, LANES at a time; a missing cell weighs nothing."""
    cdef double e, w, part
    cdef Py_ssize_t column = 0, d
    cdef int i
    while column < width:
        for i in range(LANES):
            d = column + i
            w = weight if u[d] == u[d] else 0.0
            e = u[d] - m[d] if u[d] == u[d] else 0.0
            part = w / (c0 + n[d] + w)
            b[d] += 0.5 * (c0 + n[d]) * part * e * e
            m[d] += part * e
            n[d] += w
        column += LANES


cdef bint without(IncompleteStatistics self, Py_ssize_t k, Py_ssize_t d, double w,
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
    return left.kept >= MIN_KEPT_FRACTION and left.n >= MIN_KEPT_FRACTION * n


cdef clones_void write_terms(IncompleteStatistics self, Py_ssize_t k) noexcept nogil:
    """Write the terms of slot k from its posterior.

    A member's column that has no other value, or little, has no term: its constant is NaN.
    """
    cdef double fitted[2 * N_TERMS][LANES]
    cdef double shape[2 * LANES]  # of the slot, and of it without a member
    cdef double ratio[2 * LANES]
    cdef const double *n = self.statistic(k, COUNT)
    cdef const double *m = self.statistic(k, MEAN)
    cdef const double *b = self.statistic(k, RATE)
    cdef double *terms = self.statistic(k, PREDICTIVE)
    cdef double c, a, slope, common, power = self.power
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
        if power == 1.0:
            for i in range(2 * LANES):
                shape[i] = log_half_step_of_lane(shape[i], ratio[i])
        else:
            for i in range(2 * LANES):
                shape[i] = (log_rising_of_lane(power * shape[i], power * 0.5) / power
                            + 0.5 * log_positive(ratio[i]))
            for i in range(LANES):  # the ratios of c, whose logarithms count 1 / power times
                c = self.c0 + n[column + i]
                shape[i] += 0.5 * (1.0 / power - 1.0) * log_positive(c / (c + 1.0))
                shape[LANES + i] += 0.5 * (1.0 / power - 1.0) * log_positive((c - 1.0) / c)
        for i in range(LANES):
            d = column + i
            common = -0.5 * LOG_2PI - self.log_scales[d]
            fitted[3][i] = common + shape[i]
            fitted[7][i] = (common + shape[LANES + i]
                            if n[d] - 1.0 >= MIN_KEPT_FRACTION * n[d] else NAN)
        for j in range(2 * N_TERMS):
            for i in range(LANES):
                terms[j * self.width + column + i] = fitted[j][i]
        column += LANES
