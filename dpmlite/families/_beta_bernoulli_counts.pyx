"""Counts of ones and zeros in beta-Bernoulli clusters, and the log probabilities of cells.

What scoring needs of a cluster is brought up to date when its rows change, in all columns, for a
row of zeros says something about each. Members have a base and deltas of their own, one row less.
"""

from array import array

from libc.math cimport log, log1p
from libc.string cimport memcpy, memset

from dpmlite.core._constants cimport MIN_KEPT_FRACTION
from dpmlite.core._simd cimport LANES, clones_void, log_positive, sum_of
from dpmlite.families._family cimport left_of_c
from dpmlite.families._occupied_columns cimport list_occupied


cdef class BetaBernoulliCounts(SoftComponent):

    cdef int begin(self, list a0, list b0) except -1:
        self.n_columns, self.a0, self.b0 = len(a0), a0, b0
        self.a, self.b = array("d", a0), array("d", b0)
        self.empty_delta = array("d", [log(a) - log(b) for a, b in zip(a0, b0)])
        self.empty_log_zero = array("d", [-log1p(a / b) for a, b in zip(a0, b0)])
        self.empty_base = sum(self.empty_log_zero)
        return 0

    cdef void lay_out(self) noexcept nogil:
        self.base, self.member_base = self.n + self.capacity, self.n + 2 * self.capacity
        self.delta = self.n + 3 * self.capacity
        self.log_zero = self.delta + self.n_columns * self.capacity
        self.ones, self.zeros = self.along, self.along + self.n_columns
        self.member_delta = self.along + 2 * self.n_columns
        self.occupied = self.along + 3 * self.n_columns

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        self.clear_slots(k, k + 1)

    cdef void clear_slots(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(first, last):
            self.n[k] = 0.0
            memset(self.ones + k * self.n_along, 0, self.n_along * sizeof(double))
        refresh_empty(self, first, last)

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t d, at = k * self.n_along
        cdef double w = row.weight, zero, known
        cdef const double *x = dense_values(self, row, k)
        for d in range(self.n_columns):  # one condition a choice: others are branches, no vectors
            zero = w if x[d] == 0.0 else 0.0
            known = w if x[d] == x[d] else 0.0
            self.zeros[at + d] += zero
            self.ones[at + d] += known - zero
        self.n[k] += w

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t d, at = k * self.n_along
        cdef double w = row.weight, left = self.n[k] - w, zero, known
        if left <= 0.0:
            self.clear_slot(k)
            return True
        if left < MIN_KEPT_FRACTION * self.n[k]:
            return False
        cdef const double *x = dense_values(self, row, k)
        for d in range(self.n_columns):
            zero = w if x[d] == 0.0 else 0.0
            known = w if x[d] == x[d] else 0.0
            self.zeros[at + d] = left_of_c(self.zeros[at + d], zero)
            self.ones[at + d] = left_of_c(self.ones[at + d], known - zero)
        self.n[k] = left
        self.refresh(k)
        return True

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t at = k * self.n_along
        if self.n[k] > 0.0:
            refresh_slot(self, k)
        else:
            refresh_empty(self, k, k + 1)
        list_occupied(
            self.ones + at, self.zeros + at, self.n[k], self.n_columns, self.occupied + at)

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(2 * self.n_columns):
            self.along[j * self.n_along + i] += self.along[k * self.n_along + i]
        self.n[j] += self.n[k]
        self.refresh(j)
        self.clear_slot(k)


cdef const double *dense_values(BetaBernoulliCounts self, const Row *row,
                                Py_ssize_t k) noexcept nogil:
    """Return a row's values in all columns, in the memory of deltas that slot k has to renew."""
    cdef double *values = self.member_delta + k * self.n_along
    cdef Py_ssize_t i
    if row.columns == NULL:
        return row.values
    memset(values, 0, self.n_columns * sizeof(double))
    for i in range(row.n_values):
        values[row.columns[i]] = row.values[i]
    return values


cdef clones_void refresh_slot(BetaBernoulliCounts self, Py_ssize_t k) noexcept nogil:
    """Write what scoring needs of slot k, LANES columns at a time."""
    cdef double base[LANES]
    cdef double member_base[LANES]
    cdef double part[4 * LANES]  # delta, log p(0), of members log p(0) and log p(1)
    cdef const double *ones = self.ones + k * self.n_along
    cdef const double *zeros = self.zeros + k * self.n_along
    cdef const double *a0 = &self.a[0]
    cdef const double *b0 = &self.b[0]
    cdef double *member_delta = self.member_delta + k * self.n_along
    cdef Py_ssize_t first = 0, n_columns = self.n_columns, end, i, d
    cdef double a, b, a_left, b_left
    for i in range(LANES):
        base[i] = member_base[i] = 0.0
    for i in range(4 * LANES):
        part[i] = 1.0
    while first < n_columns:
        end = min(n_columns - first, <Py_ssize_t> LANES)
        for i in range(end):
            d = first + i
            a, b = a0[d] + ones[d], b0[d] + zeros[d]
            a_left, b_left = a0[d] + left_of_c(ones[d], 1.0), b0[d] + left_of_c(zeros[d], 1.0)
            part[i], part[LANES + i] = a / b, b / (a + b)
            part[2 * LANES + i], part[3 * LANES + i] = b_left / (a + b_left), a_left / (a_left + b)
        for i in range(4 * LANES):
            part[i] = log_positive(part[i])
        for i in range(end):
            base[i] += part[LANES + i]
            member_base[i] += part[2 * LANES + i]
            member_delta[first + i] = part[3 * LANES + i] - part[2 * LANES + i]
            self.delta[(first + i) * self.capacity + k] = part[i]
            self.log_zero[(first + i) * self.capacity + k] = part[LANES + i]
        first += LANES
    self.base[k] = sum_of(base)
    self.member_base[k] = sum_of(member_base)


cdef void refresh_empty(BetaBernoulliCounts self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Write what scoring needs of slots first..last-1, which are empty: they hold the prior."""
    cdef double *delta = self.delta
    cdef double *log_zero = self.log_zero
    cdef Py_ssize_t d, k
    for d in range(self.n_columns):
        for k in range(first, last):
            delta[k], log_zero[k] = self.empty_delta[d], self.empty_log_zero[d]
        delta += self.capacity
        log_zero += self.capacity
    for k in range(first, last):
        memcpy(self.member_delta + k * self.n_along, &self.empty_delta[0],
               self.n_columns * sizeof(double))
        self.base[k] = self.member_base[k] = self.empty_base
