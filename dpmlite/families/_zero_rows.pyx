"""Log marginals of rows of bits, most of which may be zeros.

Columns of zeros alone add what they add to that many rows of zeros. This is found once for all
columns; then only columns with ones, or with missing cells, need logarithms.
"""

from libc.math cimport fabs

from dpmlite.core._memory cimport double_array
from dpmlite.core._simd cimport (
    LANES, Products, begin_products, log_of_products, multiply_by, sum_of)
from dpmlite.core._special cimport log_rising_of

cdef struct Columns:
    Py_ssize_t n          # gathered so far, LANES at most
    double a[LANES]
    double b[LANES]
    double ones[LANES]
    double zeros[LANES]


cdef class ZeroRows:
    """Log marginals of 0..MAX_ZERO_ROWS rows of zeros."""

    def __init__(self, const double[::1] a, const double[::1] b):
        self.a, self.b, self.values = a, b, None

    cdef const double *known(self) except NULL:
        cdef Py_ssize_t n
        cdef double[::1] values
        if self.values is None:
            values = double_array(MAX_ZERO_ROWS + 1)
            for n in range(MAX_ZERO_ROWS):
                values[n + 1] = values[n] + log_next_zeros(self, n)
            self.values = values
        return &self.values[0]


cdef double log_next_zeros(ZeroRows prior, double n) noexcept nogil:
    """Log p of a row of zeros after n of them."""
    cdef Products products
    cdef double factor[LANES]
    cdef Py_ssize_t first = 0, i, end, D = prior.a.shape[0]
    begin_products(&products)
    while first < D:
        end = min(D - first, <Py_ssize_t> LANES)
        for i in range(LANES):
            factor[i] = 1.0
        for i in range(end):
            factor[i] = (prior.b[first + i] + n) / (prior.a[first + i] + prior.b[first + i] + n)
        multiply_by(&products, factor)
        first += LANES
    return log_of_products(&products)


cdef clones_double log_marginal_beside(ZeroRows prior, const double *ones, const double *zeros,
                                       const double *other_ones, const double *other_zeros,
                                       double part, double n) noexcept nogil:
    """Log marginal of rows with these counts, less that of n rows of zeros.

    The other counts are added if `part` is 1, and not if it is 0. If n is the number of the rows,
    most columns may add nothing; those that do are gathered into vectors.
    """
    cdef Columns some, gathered
    cdef double adds[LANES]
    cdef double total = 0.0
    cdef Py_ssize_t first = 0, i, d, D = prior.a.shape[0]
    gathered.n = 0
    while first + LANES <= D:
        for i in range(LANES):
            d = first + i
            some.a[i], some.b[i] = prior.a[d], prior.b[d]
            some.ones[i] = ones[d] + part * other_ones[d]
            some.zeros[i] = zeros[d] + part * other_zeros[d]
            adds[i] = 1.0 if some.ones[i] + fabs(n - some.zeros[i]) > 0.0 else 0.0
        if sum_of(adds) > LANES // 2:
            total += log_marginal_of_columns(&some, n)
        elif sum_of(adds) > 0.0:
            for i in range(LANES):
                if adds[i] > 0.0:
                    total += gather_column(
                        &gathered, some.a[i], some.b[i], some.ones[i], some.zeros[i], n)
        first += LANES
    for d in range(first, D):
        total += gather_column(&gathered, prior.a[d], prior.b[d], ones[d] + part * other_ones[d],
                               zeros[d] + part * other_zeros[d], n)
    while gathered.n > 0:  # columns that add nothing fill it up
        total += gather_column(&gathered, 1.0, 1.0, 0.0, n, n)
    return total


cdef double gather_column(Columns *gathered, double a, double b, double ones, double zeros,
                          double n) noexcept nogil:
    """Gather a column; return what LANES of them add as soon as they are there, else 0."""
    cdef Py_ssize_t i = gathered.n
    gathered.a[i], gathered.b[i], gathered.ones[i], gathered.zeros[i] = a, b, ones, zeros
    gathered.n = (i + 1) % LANES
    return log_marginal_of_columns(gathered, n) if gathered.n == 0 else 0.0


cdef double log_marginal_of_columns(const Columns *columns, double n) noexcept nogil:
    """Return what LANES columns add beside n rows of zeros.

    a + b cancels out but for missing cells.
    """
    cdef double x[5 * LANES]
    cdef double times[5 * LANES]
    cdef double lane[LANES]
    cdef double a, b, known, missing = 0.0
    cdef Py_ssize_t i, n_lanes
    for i in range(LANES):
        a, b, known = columns.a[i], columns.b[i], columns.ones[i] + columns.zeros[i]
        x[i], times[i] = a, columns.ones[i]
        x[LANES + i], times[LANES + i] = b, columns.zeros[i]
        x[2 * LANES + i], times[2 * LANES + i] = (a + b, known) if n == 0.0 else (b, n)
        x[3 * LANES + i], times[3 * LANES + i] = a + b, known
        x[4 * LANES + i], times[4 * LANES + i] = a + b, n
        missing += fabs(n - known)
    n_lanes = 5 if n > 0.0 and missing > 0.0 else 3
    log_rising_of(x, times, n_lanes)
    for i in range(LANES):
        lane[i] = x[i] + x[LANES + i] - x[2 * LANES + i]
        if n_lanes > 3:
            lane[i] += x[4 * LANES + i] - x[3 * LANES + i]
    return sum_of(lane)
