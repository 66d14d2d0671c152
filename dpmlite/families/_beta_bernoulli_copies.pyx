"""Scores of rows of bits that stand for several copies, and lower bounds of their costs."""

from libc.math cimport INFINITY, fabs

from dpmlite.core._constants cimport ROUNDING_MARGIN
from dpmlite.core._rows cimport column_of
from dpmlite.core._simd cimport (
    LANES, Products, begin_products, inlined_double, inlined_void, log_of_products, multiply_by,
    sum_of)
from dpmlite.core._special cimport log_rising_of
from dpmlite.families._beta_bernoulli_cells cimport CELL_CHUNK, CellScores, cell_costs
from dpmlite.families._family cimport left_of_c

cdef enum:
    MAX_WHOLE_COPIES = 16  # copies whose factors are multiplied one by one
    MAX_ABS_DELTA = 1500   # a delta is the difference of two logarithms of doubles

cdef struct Copies:
    Py_ssize_t n_whole    # copies whose factors are multiplied
    double rest           # of the row's weight
    double shift          # c + m, see lower_bounds


cdef clones_double score_copies(BetaBernoulliCounts self, const Row *row, Py_ssize_t k,
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


cdef clones_void lower_bounds(BetaBernoulliCounts self, const Row *row, const double *log_weight,
                              double limit, double *out) noexcept nogil:
    """Write lower bounds of the costs, in every slot, of all copies that a row stands for.

    Slots whose bounds from one copy are below the limit are bounded by all copies, column by
    column. Let s be the weight of a row's value in a column of a slot, and t that of all values
    there. Then c whole copies have the probability s / t (s + 1) / (t + 1) ... A rest r of a copy
    has at most ((s + c + m) / (t + c + m))^r: for m = r, since log(Gamma(x + r) / Gamma(x)) -
    r log(x + m) rises with x, as digamma's slope is above 1 / x; for m = 0 if r < 1, since digamma
    is concave, and rises by 1 / x from x to x + 1.
    """
    cdef Copies copies
    cdef double[CELL_CHUNK] values
    cdef Py_ssize_t first = 0, n, k
    copies.n_whole = <Py_ssize_t> min(row.weight, <double> MAX_WHOLE_COPIES)
    copies.rest = row.weight - copies.n_whole
    copies.shift = copies.n_whole + (copies.rest if copies.rest >= 1.0 else 0.0)
    bounds_by_one_copy(self, row, log_weight, out)
    for k in range(self.n_slots):
        out[k] = -log_weight[k] if out[k] < limit else out[k]
    while first < self.n_columns:
        n = min(self.n_columns - first, <Py_ssize_t> CELL_CHUNK)
        read_values(row, first, n, values)
        for k in range(self.n_slots):
            if out[k] < limit:
                out[k] -= upper_bound_of_copies(self, values, first, n, &copies, k)
        first += CELL_CHUNK


cdef inline inlined_void bounds_by_one_copy(BetaBernoulliCounts self, const Row *row,
                                            const double *log_weight, double *out) noexcept nogil:
    """Write lower bounds from the cost of one copy, which is found for many slots at once.

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
            cost -= ROUNDING_MARGIN * (
                fabs(self.base[k]) + fabs(out[k]) + MAX_ABS_DELTA * row.n_values)
            out[k] = part * cost - log_weight[k]


cdef inline inlined_void read_values(const Row *row, Py_ssize_t first, Py_ssize_t n,
                                     double *values) noexcept nogil:
    """Write a row's values in n columns from `first`."""
    cdef Py_ssize_t i, d
    for d in range(n):
        values[d] = 0.0
    for i in range(row.n_values):
        d = column_of(row, i) - first
        if 0 <= d < n:
            values[d] = row.values[i]


cdef inline inlined_double upper_bound_of_copies(
        BetaBernoulliCounts self, const double *values, Py_ssize_t first, Py_ssize_t n,
        const Copies *copies, Py_ssize_t k) noexcept nogil:
    """Return an upper bound of log p of all copies of n values."""
    cdef Products whole, rest
    cdef double total
    cdef Py_ssize_t column = 0
    begin_products(&whole)
    begin_products(&rest)
    while column < n:
        multiply_bounds(self, values + column, first + column, min(n - column, <Py_ssize_t> LANES),
                     copies, k, &whole, &rest)
        column += LANES
    total = log_of_products(&whole)
    if copies.rest > 0.0:
        total += copies.rest * log_of_products(&rest)
    return total + ROUNDING_MARGIN * (
        n * (1.0 + copies.n_whole + copies.rest) + (total if total > 0.0 else -total))


cdef inline inlined_void multiply_bounds(
        BetaBernoulliCounts self, const double *values, Py_ssize_t first, Py_ssize_t n,
        const Copies *copies, Py_ssize_t k, Products *whole, Products *rest) noexcept nogil:
    """Multiply the bounds by those of n columns from `first`; other lanes have factors of 1."""
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
