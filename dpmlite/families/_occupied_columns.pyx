"""Columns of a slot that have ones, and log marginals of unions that need these alone.

Most columns of sparse rows add what they add to as many rows of zeros. Slots list the others, so
that a union of two costs what both list. A column in which n rows have m ones, and no missing
cell, adds beside n rows of zeros

    log (a (a + 1) ... (a + m - 1)) / ((b + n - m) ... (b + n - 1)),

a few factors, of which no logarithm is taken before the end. First come those of slot j, which
depend on the other slot by n alone; then those that the other slot's ones add to them.
"""

from libc.math cimport NAN, floor

from dpmlite.core._simd cimport (
    LANES, Products, begin_products, inlined_void, log_of_products, most_of, multiply_by, sum_of)
from dpmlite.families._zero_rows cimport MAX_ZERO_ROWS

cdef enum:
    NOT_LISTED = -1

cdef struct Columns:
    Py_ssize_t n          # gathered so far, LANES at most
    double a[LANES]
    double b[LANES]
    double before[LANES]  # ones whose factors are there
    double more[LANES]    # ones whose factors are missing


cdef clones_void list_occupied(const double *ones, const double *zeros, double n,
                               Py_ssize_t n_columns, double *occupied) noexcept nogil:
    """Write the columns that have ones, unless they are many, or cells are missing or fractional."""
    cdef double present[LANES]
    cdef double unfit[LANES]
    cdef OccupiedColumns *listed = <OccupiedColumns *> occupied
    cdef OccupiedColumn *next_column = &listed.first
    cdef OccupiedColumn *last = next_column + n_columns // COLUMNS_PER_OCCUPIED
    cdef Py_ssize_t first = 0, i, end
    listed.n = NOT_LISTED
    while first < n_columns:
        end = min(n_columns - first, <Py_ssize_t> LANES)
        for i in range(LANES):
            present[i] = unfit[i] = 0.0
        for i in range(end):
            present[i] = 1.0 if ones[first + i] != 0.0 else 0.0
            unfit[i] = 0.0 if ones[first + i] + zeros[first + i] == n else 1.0
            unfit[i] = unfit[i] if ones[first + i] == floor(ones[first + i]) else 1.0
            unfit[i] = unfit[i] if ones[first + i] <= MAX_ONES else 1.0
        if sum_of(unfit) > 0.0 or next_column + <Py_ssize_t> sum_of(present) > last:
            return
        for i in range(end if sum_of(present) > 0.0 else 0):
            next_column.column, next_column.ones = <int> (first + i), <float> ones[first + i]
            next_column += ones[first + i] != 0.0
        first += LANES
    listed.n = next_column - &listed.first


cdef UnionPrefix union_prefix(const double *ones, const double *occupied) noexcept nogil:
    """What unions with a slot have in common."""
    cdef UnionPrefix prefix
    prefix.ones, prefix.listed, prefix.n = ones, <const OccupiedColumns *> occupied, -1.0
    prefix.log_product = 0.0
    return prefix


cdef double log_marginal_of_union(ZeroRows prior, const double *zero_row_marginals,
                                  UnionPrefix *prefix, const double *occupied,
                                  double n) noexcept nogil:
    """Log marginal of the n rows of two slots; NaN if a slot does not list its columns.

    It is NaN, too, if the log marginal of n rows of zeros is not known.
    """
    cdef const OccupiedColumns *other = <const OccupiedColumns *> occupied
    if (prefix.listed.n == NOT_LISTED or other.n == NOT_LISTED or zero_row_marginals == NULL
            or not n <= MAX_ZERO_ROWS or n != floor(n)):
        return NAN
    if prefix.n != n:
        prefix.n, prefix.log_product = n, log_product(prior, NULL, prefix.listed, n)
    return (zero_row_marginals[<Py_ssize_t> n] + prefix.log_product
            + log_product(prior, prefix.ones, other, n))


cdef clones_double log_product(ZeroRows prior, const double *before, const OccupiedColumns *listed,
                               double n) noexcept nogil:
    """What listed ones add among n rows, after those that a column has `before`, if any."""
    cdef Products products
    cdef Columns some
    cdef const OccupiedColumn *each = &listed.first
    cdef Py_ssize_t i
    begin_products(&products)
    some.n = 0
    for i in range(<Py_ssize_t> listed.n):
        some.a[some.n], some.b[some.n] = prior.a[each[i].column], prior.b[each[i].column]
        some.before[some.n] = before[each[i].column] if before != NULL else 0.0
        some.more[some.n] = each[i].ones
        some.n += 1
        if some.n == LANES:
            multiply_columns(&some, n, &products)
    if some.n > 0:
        multiply_columns(&some, n, &products)
    return log_of_products(&products)


cdef inline inlined_void multiply_columns(Columns *some, double n, Products *products) noexcept nogil:
    """Multiply by the factors of gathered columns, and forget these."""
    cdef double factor[LANES]
    cdef double m
    cdef Py_ssize_t i, step
    for i in range(some.n, <Py_ssize_t> LANES):  # columns without ones fill it up
        some.a[i], some.b[i], some.before[i], some.more[i] = 1.0, 1.0, 0.0, 0.0
    for step in range(<Py_ssize_t> most_of(some.more)):
        for i in range(LANES):
            m = some.before[i] + step
            factor[i] = (some.a[i] + m) / (some.b[i] + (n - 1.0 - m))
            factor[i] = factor[i] if step < some.more[i] else 1.0
        multiply_by(products, factor)
    some.n = 0
