"""Kernel of beta_bernoulli.py.

A row costs what a row of zeros does, less delta = log p(1) - log p(0) for each of its ones, plus
log p(0) for each missing cell: work follows the cells that are not zero, and no logarithm is
taken. Deltas lie [column][slot], so that one vector instruction serves many clusters. What
scoring needs of a cluster is brought up to date when its rows change, in all columns, for a row
of zeros says something about each. Members have a base and deltas of their own, one row less.
"""

from array import array

from libc.math cimport INFINITY, NAN, fabs, floor, log, log1p
from libc.string cimport memcpy, memset

from dpmlite.core._constants cimport LEAST_KEPT, SLACK
from dpmlite.core._rows cimport Row, Rows, column_of
from dpmlite.core._simd cimport (
    LANES, Products, begin_products, clones_double, clones_void, inlined_double, inlined_void,
    larger, log_of_products, log_positive, multiply_by, sum_of)
from dpmlite.core._special cimport digamma_c, log_rising_c, log_rising_of
from dpmlite.families._component cimport Component, left_of_c
from dpmlite.families._log_rising_table cimport RisingTable, tabled_evidence
from dpmlite.families._slot_vectors cimport NARROW, WIDE, least_of, padded
from dpmlite.families._zero_rows cimport MOST_ZERO_ROWS, ZeroRows, evidence_beside

from dpmlite.core.checks import check_positive, check_same_length

cdef struct CellScores:
    const double *base      # as in the class below, of any kind of log p
    const double *delta
    const double *log_zero

cdef extern from "kernels.h":
    bint all_zero "dpm_all_zero"(const double *x) noexcept nogil

cdef enum:
    CELL_CHUNK = 128  # values of a row whose cells are listed at a time, a multiple of LANES
    FEW_COPIES = 16
    MOST_DELTA = 1500  # of the sizes of two logarithms of doubles

cdef struct Cells:
    Py_ssize_t n_ones, n_missing
    Py_ssize_t ones[CELL_CHUNK]     # their columns
    Py_ssize_t missing[CELL_CHUNK]

cdef struct Copies:
    Py_ssize_t n_whole    # of the copies that a row stands for, FEW_COPIES at most
    double rest           # of its weight
    double shift          # c + m, see heavy_bounds


cdef class BetaBernoulli(Component):
    cdef readonly list a0, b0
    cdef double[::1] a, b       # the same, typed
    cdef double[::1] empty_delta, empty_log_zero  # what an empty slot has of the values below
    cdef double empty_base
    cdef RisingTable table      # of small counts
    cdef ZeroRows zero_rows
    cdef const double *of_zero_rows  # what these know; NULL before merges

    cdef double *base           # [slot] log density of a row of zeros
    cdef double *member_base    # [slot] the same of a member, given the others
    cdef double *delta          # [column][slot] log p(1) - log p(0)
    cdef double *log_zero       # [column][slot] log p(0)
    cdef double *ones           # [slot][3 columns] weight of the rows with a 1 there
    cdef double *zeros
    cdef double *member_delta   # [slot][3 columns] delta of a member, given the others

    def __cinit__(self):
        self.reads_sparse = self.has_heavy_bounds = True

    def __init__(self, a0, b0):
        check_same_length("a0", a0, "b0", b0)
        check_positive("a0", a0)
        check_positive("b0", b0)
        Component.__init__(self, len(a0))
        self.a0 = array("d", a0).tolist()
        self.b0 = array("d", b0).tolist()
        self.a, self.b = array("d", self.a0), array("d", self.b0)
        self.empty_delta = array("d", [log(a) - log(b) for a, b in zip(self.a0, self.b0)])
        self.empty_log_zero = array("d", [-log1p(a / b) for a, b in zip(self.a0, self.b0)])
        self.empty_base = sum(self.empty_log_zero)
        self.table = RisingTable(self.a, self.b)
        self.zero_rows = ZeroRows(self.a, self.b)
        self.start(3 + 2 * self.n_columns, 3 * self.n_columns)

    cdef void lay_out(self) noexcept nogil:
        self.base, self.member_base = self.n + self.capacity, self.n + 2 * self.capacity
        self.delta = self.n + 3 * self.capacity
        self.log_zero = self.delta + self.n_columns * self.capacity
        self.ones, self.zeros = self.along, self.along + self.n_columns
        self.member_delta = self.along + 2 * self.n_columns

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        self.clear_slots(k, k + 1)

    cdef void clear_slots(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(first, last):
            self.n[k] = 0.0
            memset(self.ones + k * self.n_along, 0, 2 * self.n_columns * sizeof(double))
        refresh_empty(self, first, last)

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t d, at = k * self.n_along
        cdef double w = row.weight, zero, known
        cdef const double *x = full_values(self, row, k)
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
        if left < LEAST_KEPT * self.n[k]:
            return False
        cdef const double *x = full_values(self, row, k)
        for d in range(self.n_columns):
            zero = w if x[d] == 0.0 else 0.0
            known = w if x[d] == x[d] else 0.0
            self.zeros[at + d] = left_of_c(self.zeros[at + d], zero)
            self.ones[at + d] = left_of_c(self.ones[at + d], known - zero)
        self.n[k] = left
        self.refresh(k)
        return True

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        if self.n[k] > 0.0:
            refresh_slot(self, k)
        else:
            refresh_empty(self, k, k + 1)

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(2 * self.n_columns):
            self.along[j * self.n_along + i] += self.along[k * self.n_along + i]
        self.n[j] += self.n[k]
        self.refresh(j)
        self.clear_slot(k)

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
        bernoulli_heavy_bounds(self, row, log_weight, limit, out)

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
        if 0.0 < left < LEAST_KEPT * self.n[k]:
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
                total -= log_zero_less(self, k, cells.missing[i])
            first += CELL_CHUNK
        return total

    cdef int expect(self) except -1:
        """In `expected`: n_slots zeros, the base, and delta and log p(0) of every column."""
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

    cdef void share(self, const Row *row, const double *shares) noexcept nogil:
        share_cells(self, row, shares)

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
        self.of_zero_rows = self.zero_rows.known()
        return 0

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return evidence_of(self, k, k, 0.0)

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(first, self.n_slots):
            out[k] = evidence_of(self, j, k, 1.0)

    cdef double score_bound(self, const Row *row, Py_ssize_t k, double more) noexcept nogil:
        cdef double total = 0.0, x
        cdef Py_ssize_t i, d
        for d in range(self.n_columns):
            total += bound_of(self, d, k, False, more, row.weight)
        for i in range(row.n_values):
            x, d = row.values[i], column_of(row, i)
            if x != 0.0:
                total -= bound_of(self, d, k, False, more, row.weight)
            if x != 0.0 and x == x:
                total += bound_of(self, d, k, True, more, row.weight)
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
        self._check_statistics(statistics, n_values)
        self.n[k] = statistics[0]
        for i in range(1, n_values):
            self.along[k * self.n_along + i - 1] = statistics[i]
        self.refresh(k)


cdef const double *full_values(BetaBernoulli self, const Row *row, Py_ssize_t k) noexcept nogil:
    """The row's values in all columns, in the place of deltas that slot k must renew anyway."""
    cdef double *values = self.member_delta + k * self.n_along
    cdef Py_ssize_t i
    if row.columns == NULL:
        return row.values
    memset(values, 0, self.n_columns * sizeof(double))
    for i in range(row.n_values):
        values[row.columns[i]] = row.values[i]
    return values


cdef clones_void refresh_slot(BetaBernoulli self, Py_ssize_t k) noexcept nogil:
    """What scoring needs of slot k, LANES columns at a time."""
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


cdef void refresh_empty(BetaBernoulli self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """The same of slots first..last-1, which are empty: they hold the prior, and no members."""
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


cdef double bound_of(BetaBernoulli self, Py_ssize_t d, Py_ssize_t k, bint one, double more,
                     double weight) noexcept nogil:
    """Log p of a cell after `more` equal ones."""
    cdef double a = self.a[d] + self.ones[k * self.n_along + d]
    cdef double b = self.b[d] + self.zeros[k * self.n_along + d]
    return log_rising_c((a if one else b) + more, weight) - log_rising_c(a + b + more, weight)


cdef double log_zero_less(BetaBernoulli self, Py_ssize_t k, Py_ssize_t d) noexcept nogil:
    """What member_base has of column d of slot k."""
    cdef double a = self.a[d] + self.ones[k * self.n_along + d]
    cdef double b = self.b[d] + left_of_c(self.zeros[k * self.n_along + d], 1.0)
    return log(b / (a + b))


cdef clones_void cell_costs(BetaBernoulli self, const CellScores *scores, const Row *row,
                            const double *log_weight, double *out) noexcept nogil:
    """Costs of every slot."""
    cdef Cells cells
    cdef Py_ssize_t k, first = 0, slot, n_slots = padded(self.n_slots)
    for k in range(n_slots):
        out[k] = -log_weight[k] - scores.base[k]
    while first < row.n_values:
        list_cells(row, first, &cells)
        slot = 0
        while slot + WIDE <= n_slots:
            cell_cost_block(self, scores, &cells, slot, WIDE, out)
            slot += WIDE
        if slot < n_slots:
            cell_cost_block(self, scores, &cells, slot, NARROW, out)
        first += CELL_CHUNK


cdef inline inlined_void list_cells(const Row *row, Py_ssize_t first, Cells *cells) noexcept nogil:
    """The columns of ones and of missing cells among CELL_CHUNK values, found without a branch each."""
    cdef Py_ssize_t i, n_ones = 0, n_missing = 0, end = min(row.n_values, first + CELL_CHUNK), stop
    cdef double x
    while first < end:
        stop = min(end, first + LANES)
        if stop - first < LANES or not all_zero(row.values + first):
            for i in range(first, stop):
                x = row.values[i]
                cells.ones[n_ones] = cells.missing[n_missing] = column_of(row, i)
                n_ones += (x != 0.0) & (x == x)
                n_missing += x != x
        first = stop
    cells.n_ones, cells.n_missing = n_ones, n_missing


cdef inline inlined_void cell_cost_block(
        BetaBernoulli self, const CellScores *scores, const Cells *cells, Py_ssize_t first,
        int width, double *out) noexcept nogil:
    """Add to the costs of `width` slots from `first` what cells that are not zero cost more."""
    cdef double more[WIDE]
    cdef const double *at
    cdef Py_ssize_t i, j
    for j in range(width):
        more[j] = 0.0
    for i in range(cells.n_ones):
        at = scores.delta + cells.ones[i] * self.capacity + first
        for j in range(width):
            more[j] = more[j] - at[j]
    for i in range(cells.n_missing):
        at = scores.log_zero + cells.missing[i] * self.capacity + first
        for j in range(width):
            more[j] = more[j] + at[j]
    for j in range(width):
        out[first + j] += more[j]


cdef void expect_cells(BetaBernoulli self, double *out) noexcept nogil:
    """E[log p(0)] = psi(b) - psi(a + b), and E[log p(1)] less that, of every column and slot."""
    cdef double *base = out + self.capacity
    cdef double *delta = base + self.capacity
    cdef double *log_zero = delta + self.n_columns * self.capacity
    cdef Py_ssize_t d, k
    cdef double a, b, of_b
    for k in range(2 * self.capacity):
        out[k] = 0.0
    for d in range(self.n_columns):
        for k in range(self.n_slots):  # counts, to vector order
            delta[k] = self.a[d] + self.ones[k * self.n_along + d]
            log_zero[k] = self.b[d] + self.zeros[k * self.n_along + d]
        for k in range(self.n_slots):
            a, b = delta[k], log_zero[k]
            of_b = digamma_c(b)
            delta[k] = digamma_c(a) - of_b
            log_zero[k] = of_b - digamma_c(a + b)
            base[k] += log_zero[k]
        delta += self.capacity
        log_zero += self.capacity


cdef clones_void share_cells(BetaBernoulli self, const Row *row,
                             const double *shares) noexcept nogil:
    """Count the cells of a row that are not zero in all slots."""
    cdef Cells cells
    cdef double w = row.weight
    cdef Py_ssize_t first = 0, n_slots = padded(self.n_slots), i, k
    cdef double *count
    for k in range(n_slots):
        self.n[k] += w * shares[k]
    while first < row.n_values:
        list_cells(row, first, &cells)
        for i in range(cells.n_ones + cells.n_missing):
            if i < cells.n_ones:
                count = self.delta + cells.ones[i] * self.capacity
            else:
                count = self.log_zero + cells.missing[i - cells.n_ones] * self.capacity
            for k in range(n_slots):
                count[k] += w * shares[k]
        first += CELL_CHUNK


cdef clones_double score_copies(BetaBernoulli self, const Row *row, Py_ssize_t k,
                                double taken) noexcept nogil:
    """log p of all copies that a row stands for, in slot k less such a row if it is `taken`."""
    cdef double[CELL_CHUNK] values
    cdef double lane[LANES]
    cdef double there[LANES]
    cdef double some[2 * LANES]
    cdef double weight[2 * LANES]
    cdef const double *ones = self.ones + k * self.n_along
    cdef const double *zeros = self.zeros + k * self.n_along
    cdef const double *a0 = &self.a[0]
    cdef const double *b0 = &self.b[0]
    cdef double x, own, other
    cdef Py_ssize_t first = 0, column = 0, end, i, d
    for i in range(LANES):
        lane[i], some[i], some[LANES + i] = 0.0, 1.0, 1.0
        weight[i] = weight[LANES + i] = row.weight
    while column < self.n_columns:
        if column % CELL_CHUNK == 0:
            first = column
            read_values(row, first, min(self.n_columns - first, <Py_ssize_t> CELL_CHUNK), values)
        end = min(self.n_columns - column, <Py_ssize_t> LANES)
        for i in range(end):
            d = column + i
            x = values[d - first]
            own = (b0[d] + left_of_c(zeros[d], taken) if x == 0.0
                   else a0[d] + left_of_c(ones[d], taken))
            other = a0[d] + ones[d] if x == 0.0 else b0[d] + zeros[d]
            some[i], some[LANES + i] = own, own + other
            there[i] = 1.0 if x == x else 0.0
        log_rising_of(some, weight, 2)
        for i in range(end):
            lane[i] += some[i] - some[LANES + i] if there[i] > 0.0 else 0.0
        column += LANES
    return sum_of(lane)


cdef clones_void bernoulli_heavy_bounds(BetaBernoulli self, const Row *row,
                                        const double *log_weight, double limit,
                                        double *out) noexcept nogil:
    """Bounds from below of what all copies that a row stands for cost in every slot.

    Where one row does not show that the limit is reached, all columns are looked at, till it is. With
    s and t what a slot has of equal values and of all in a column, c whole copies are there
    s / t (s + 1) / (t + 1) ... A rest r is at most ((s + c + m) / (t + c + m))^r: for m = r, since
    log(Gamma(x + r) / Gamma(x)) - r log(x + m) rises with x, as digamma's slope is above 1 / x; for
    m = 0 if r < 1, since digamma is concave, and rises by 1 / x from x to x + 1.
    """
    cdef Copies copies
    cdef double[CELL_CHUNK] values
    cdef Py_ssize_t first = 0, n, k
    copies.n_whole = <Py_ssize_t> min(row.weight, <double> FEW_COPIES)
    copies.rest = row.weight - copies.n_whole
    copies.shift = copies.n_whole + (copies.rest if copies.rest >= 1.0 else 0.0)
    bound_by_one(self, row, log_weight, out)
    for k in range(self.n_slots):
        out[k] = -log_weight[k] if out[k] < limit else out[k]
    while first < self.n_columns:
        n = min(self.n_columns - first, <Py_ssize_t> CELL_CHUNK)
        read_values(row, first, n, values)
        for k in range(self.n_slots):
            if out[k] < limit:
                out[k] -= most_of_copies(self, values, first, n, &copies, k)
        first += CELL_CHUNK


cdef inline inlined_void bound_by_one(BetaBernoulli self, const Row *row,
                                      const double *log_weight, double *out) noexcept nogil:
    """Bounds from what one copy costs, which is found for many slots at once.

    Of w copies, log p falls with w and is convex, as digamma is concave: from 0 for none it falls
    to no more than min(w, 1) log p of one.
    """
    cdef CellScores scores
    cdef double part = min(row.weight, 1.0), cost
    cdef Py_ssize_t k
    scores.base, scores.delta, scores.log_zero = self.base, self.delta, self.log_zero
    cell_costs(self, &scores, row, log_weight, out)
    for k in range(self.n_slots):
        if log_weight[k] > -INFINITY:
            cost = out[k] + log_weight[k]
            cost -= SLACK * (fabs(self.base[k]) + fabs(out[k]) + MOST_DELTA * row.n_values)
            out[k] = part * cost - log_weight[k]


cdef inline inlined_void read_values(const Row *row, Py_ssize_t first, Py_ssize_t n,
                                     double *values) noexcept nogil:
    """Values of n columns from `first`."""
    cdef Py_ssize_t i, d
    for d in range(n):
        values[d] = 0.0
    for i in range(row.n_values):
        d = column_of(row, i) - first
        if 0 <= d < n:
            values[d] = row.values[i]


cdef inline inlined_double most_of_copies(
        BetaBernoulli self, const double *values, Py_ssize_t first, Py_ssize_t n,
        const Copies *copies, Py_ssize_t k) noexcept nogil:
    """A bound from above of log p of all copies of some values."""
    cdef Products whole, rest
    cdef double total
    cdef Py_ssize_t column = 0
    begin_products(&whole)
    begin_products(&rest)
    while column < n:
        bound_copies(self, values + column, first + column, min(n - column, <Py_ssize_t> LANES),
                     copies, k, &whole, &rest)
        column += LANES
    total = log_of_products(&whole)
    if copies.rest > 0.0:
        total += copies.rest * log_of_products(&rest)
    return total + SLACK * (
        n * (1.0 + copies.n_whole + copies.rest) + (total if total > 0.0 else -total))


cdef inline inlined_void bound_copies(
        BetaBernoulli self, const double *values, Py_ssize_t first, Py_ssize_t n,
        const Copies *copies, Py_ssize_t k, Products *whole, Products *rest) noexcept nogil:
    """Take in LANES columns from `first`, or fewer: others have factors of 1."""
    cdef double own[LANES]
    cdef double both[LANES]
    cdef double part[LANES]
    cdef const double *ones = self.ones + k * self.n_along + first
    cdef const double *zeros = self.zeros + k * self.n_along + first
    cdef const double *a0 = &self.a[first]
    cdef const double *b0 = &self.b[first]
    cdef double a, b
    cdef Py_ssize_t c, i
    for i in range(LANES):
        own[i] = both[i] = part[i] = 1.0
    for i in range(n):
        a, b = a0[i] + ones[i], b0[i] + zeros[i]
        own[i], both[i] = b if values[i] == 0.0 else a, a + b
        own[i] = both[i] if values[i] != values[i] else own[i]
    for c in range(copies.n_whole):
        for i in range(LANES):
            part[i] *= (own[i] + c) / (both[i] + c)
    multiply_by(whole, part)
    if copies.rest > 0.0:
        for i in range(LANES):
            part[i] = (own[i] + copies.shift) / (both[i] + copies.shift)
        multiply_by(rest, part)


cdef double evidence_of(BetaBernoulli self, Py_ssize_t j, Py_ssize_t k,
                        double part) noexcept nogil:
    """Log marginal of the rows of slot j and, if `part` is 1 and not 0, of slot k."""
    cdef const double *ones = self.ones + j * self.n_along
    cdef const double *zeros = self.zeros + j * self.n_along
    cdef const double *other_ones = self.ones + k * self.n_along
    cdef const double *other_zeros = self.zeros + k * self.n_along
    cdef double n = self.n[j] + part * self.n[k], of_zeros = 0.0, total = NAN
    if n <= self.table.most:
        total = tabled_evidence(self.table, ones, zeros, other_ones, other_zeros, part)
    if total == total:
        return total
    if self.of_zero_rows != NULL and n <= MOST_ZERO_ROWS and n == floor(n):
        of_zeros = self.of_zero_rows[<Py_ssize_t> n]
    else:
        n = 0.0
    return of_zeros + evidence_beside(
        self.zero_rows, ones, zeros, other_ones, other_zeros, part, n)
