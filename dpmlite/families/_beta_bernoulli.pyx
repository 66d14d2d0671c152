"""Kernel of beta_bernoulli.py.

A row costs what a row of zeros does, less delta = log p(1) - log p(0) for each of its ones, plus
log p(0) for each missing cell: work follows the cells that are not zero, and no logarithm is
taken. Deltas lie [column][slot], so that one vector instruction serves many clusters.
"""

from array import array

from libc.math cimport NAN, floor, log
from libc.string cimport memset

from dpmlite.core._constants cimport MIN_KEPT_FRACTION
from dpmlite.core._rows cimport Row, Rows, column_of
from dpmlite.core._simd cimport larger
from dpmlite.core._special cimport log_rising_c
from dpmlite.families._beta_bernoulli_cells cimport (
    CELL_CHUNK, CellScores, Cells, cell_costs, expect_cells, list_cells, share_cells)
from dpmlite.families._beta_bernoulli_copies cimport lower_bounds, score_copies
from dpmlite.families._beta_bernoulli_counts cimport BetaBernoulliCounts, refresh_empty
from dpmlite.families._component cimport Component
from dpmlite.families._family cimport left_of_c
from dpmlite.families._log_rising_table cimport LogRisingTable, tabled_log_marginal
from dpmlite.families._occupied_columns cimport (
    UnionPrefix, log_marginal_of_union, n_occupied_values, union_prefix)
from dpmlite.families._slot_vectors cimport least_of, padded
from dpmlite.families._zero_rows cimport MAX_ZERO_ROWS, ZeroRows, log_marginal_beside

from dpmlite.core.checks import check_positive, check_same_length
from dpmlite.core.statistics_checks import WEIGHT, check_statistics


cdef class BetaBernoulli(BetaBernoulliCounts):
    cdef LogRisingTable table      # of small counts
    cdef ZeroRows zero_rows
    cdef const double *zero_row_marginals  # of zero_rows; NULL before merges

    def __cinit__(self):
        self.reads_sparse = self.has_heavy_bounds = True
        self.is_discrete = self.is_tabled = True

    def __init__(self, a0, b0):
        check_same_length("a0", a0, "b0", b0)
        check_positive("a0", a0)
        check_positive("b0", b0)
        self.begin(array("d", a0).tolist(), array("d", b0).tolist())
        self.table = LogRisingTable(self.a, self.b)
        self.zero_rows = ZeroRows(self.a, self.b)
        self.start(3 + 2 * self.n_columns, 3 * self.n_columns + n_occupied_values(self.n_columns))

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        if row.weight != 1.0:
            return Component.costs_below(self, row, log_weight, limit, out)
        cdef CellScores scores
        scores.base, scores.delta, scores.log_zero = self.base, self.delta, self.log_zero
        cell_costs(self, &scores, row, log_weight, out)
        return least_of(out, self.n_slots, limit)

    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil:
        lower_bounds(self, row, log_weight, limit, out)

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        if row.weight != 1.0:
            return score_copies(self, row, k, 0.0)
        cdef Cells cells
        cdef double total = self.base[k]
        cdef Py_ssize_t i, first = 0
        while first < row.n_values:
            list_cells(row, first, &cells)
            for i in range(cells.n_ones):
                total += self.delta[cells.ones[i] * self.capacity + k]
            for i in range(cells.n_missing):
                total -= self.log_zero[cells.missing[i] * self.capacity + k]
            first += CELL_CHUNK
        return total

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double left = self.n[k] - row.weight
        if 0.0 < left < MIN_KEPT_FRACTION * self.n[k]:
            return NAN
        if row.weight != 1.0:
            return score_copies(self, row, k, row.weight)
        cdef const double *delta = self.member_delta + k * self.n_along
        cdef Cells cells
        cdef double total = self.member_base[k]
        cdef Py_ssize_t i, first = 0
        while first < row.n_values:
            list_cells(row, first, &cells)
            for i in range(cells.n_ones):
                total += delta[cells.ones[i]]
            for i in range(cells.n_missing):
                total -= member_log_zero(self, k, cells.missing[i])
            first += CELL_CHUNK
        return total

    cdef int expect(self) except -1:
        """Write to `expected`: n_slots zeros, the base, and delta and log p(0) of every column."""
        self.expect_values(2 + 2 * self.n_columns)
        expect_cells(self, &self.expected[0])
        return 0

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        cdef CellScores scores
        cdef const double *zero = &self.expected[0]
        cdef Py_ssize_t k
        scores.base, scores.delta = zero + self.capacity, zero + 2 * self.capacity
        scores.log_zero = scores.delta + self.n_columns * self.capacity
        cell_costs(self, &scores, row, zero, out)
        for k in range(padded(self.n_slots)):
            out[k] *= -row.weight

    cdef void begin_sharing(self) noexcept nogil:
        """Deltas and log_zero, which must be renewed anyway, count ones and missing cells."""
        memset(self.n, 0, self.capacity * sizeof(double))
        memset(self.delta, 0, 2 * self.n_columns * self.capacity * sizeof(double))

    cdef void share(self, const Row *row, const double *responsibilities) noexcept nogil:
        share_cells(self, row, responsibilities)

    cdef void end_sharing(self) noexcept nogil:
        cdef Py_ssize_t d, k, at
        for k in range(self.n_slots):
            for d in range(self.n_columns):
                at = d * self.capacity + k
                self.ones[k * self.n_along + d] = self.delta[at]
                self.zeros[k * self.n_along + d] = larger(
                    self.n[k] - self.delta[at] - self.log_zero[at], 0.0)
            self.refresh(k)
        refresh_empty(self, self.n_slots, self.capacity)

    cdef int begin_merging(self) except -1:
        self.zero_row_marginals = self.zero_rows.known()
        return 0

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return log_marginal_of(self, k, k, 0.0)

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        cdef UnionPrefix prefix = union_prefix(
            self.ones + j * self.n_along, self.occupied + j * self.n_along)
        cdef Py_ssize_t k
        for k in range(first, self.n_slots):
            out[k] = log_marginal_of_union(
                self.zero_rows, self.zero_row_marginals, &prefix, self.occupied + k * self.n_along,
                self.n[j] + self.n[k])
            if out[k] != out[k]:
                out[k] = log_marginal_of(self, j, k, 1.0)

    cdef double score_bound(self, const Row *row, Py_ssize_t k, double more) noexcept nogil:
        cdef double total = 0.0, x
        cdef Py_ssize_t i, d
        for d in range(self.n_columns):
            total += cell_bound(self, d, k, False, more, row.weight)
        for i in range(row.n_values):
            x, d = row.values[i], column_of(row, i)
            if x != 0.0:
                total -= cell_bound(self, d, k, False, more, row.weight)
            if x != 0.0 and x == x:
                total += cell_bound(self, d, k, True, more, row.weight)
        return total

    def bound_over(self, Rows X):
        pass

    def like(self):
        cdef BetaBernoulli other = BetaBernoulli.__new__(BetaBernoulli)
        other.n_columns, other.a0, other.b0 = self.n_columns, self.a0, self.b0
        other.a, other.b = self.a, self.b
        other.empty_delta, other.empty_log_zero = self.empty_delta, self.empty_log_zero
        other.empty_base, other.table = self.empty_base, self.table
        other.zero_rows = self.zero_rows
        other.start(self.n_across, self.n_along)
        return other

    def posterior(self, Py_ssize_t k):
        self._check_slot(k)
        cdef Py_ssize_t at = k * self.n_along
        return {
            "n": self.n[k],
            "a": [self.a[d] + self.ones[at + d] for d in range(self.n_columns)],
            "b": [self.b[d] + self.zeros[at + d] for d in range(self.n_columns)],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        cdef const double *cells = self.along + k * self.n_along
        return [self.n[k], *[cells[i] for i in range(2 * self.n_columns)]]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t i, n_values = 1 + 2 * self.n_columns
        check_statistics(statistics, (WEIGHT, n_values))
        self.n[k] = statistics[0]
        for i in range(1, n_values):
            self.along[k * self.n_along + i - 1] = statistics[i]
        self.refresh(k)


cdef double cell_bound(BetaBernoulli self, Py_ssize_t d, Py_ssize_t k, bint one, double more,
                       double weight) noexcept nogil:
    """Log p of a cell after `more` equal ones."""
    cdef double a = self.a[d] + self.ones[k * self.n_along + d]
    cdef double b = self.b[d] + self.zeros[k * self.n_along + d]
    return log_rising_c((a if one else b) + more, weight) - log_rising_c(a + b + more, weight)


cdef double member_log_zero(BetaBernoulli self, Py_ssize_t k, Py_ssize_t d) noexcept nogil:
    """Log p(0) of a member in column d of slot k, given the others."""
    cdef double a = self.a[d] + self.ones[k * self.n_along + d]
    cdef double b = self.b[d] + left_of_c(self.zeros[k * self.n_along + d], 1.0)
    return log(b / (a + b))


cdef double log_marginal_of(BetaBernoulli self, Py_ssize_t j, Py_ssize_t k,
                            double part) noexcept nogil:
    """Log marginal of the rows of slot j and, if `part` is 1 and not 0, of slot k."""
    cdef const double *ones = self.ones + j * self.n_along
    cdef const double *zeros = self.zeros + j * self.n_along
    cdef const double *other_ones = self.ones + k * self.n_along
    cdef const double *other_zeros = self.zeros + k * self.n_along
    cdef double n = self.n[j] + part * self.n[k], of_zeros = 0.0, total = NAN
    if n <= self.table.max_count:
        total = tabled_log_marginal(self.table, ones, zeros, other_ones, other_zeros, part)
    if total == total:
        return total
    if self.zero_row_marginals != NULL and n <= MAX_ZERO_ROWS and n == floor(n):
        of_zeros = self.zero_row_marginals[<Py_ssize_t> n]
    else:
        n = 0.0
    return of_zeros + log_marginal_beside(
        self.zero_rows, ones, zeros, other_ones, other_zeros, part, n)
