from dpmlite.core._simd cimport LANES, inlined_void, larger, log_positive, smaller
from dpmlite.core._special cimport log_rising_of_lane

# Everything that is known of a column or of a level is a line. The lines of all levels of column 0
# come first, then those of column 1, ...; then one line for each column, of all its levels; last, a
# line that scores nothing.
cdef struct LinesOfColumns:
    const double *first    # [column] line of level 0
    const double *last     # [column] L_d - 1
    const double *missing  # [column] line of the column
    int nothing            # the last line

cdef class CategoricalPrior:
    cdef Py_ssize_t n_columns, n_levels, n_lines, width  # width: n_lines, padded to whole vectors
    cdef double power            # zeta of the likelihood
    cdef list beta0
    cdef double[::1] beta        # [line] of a level, or the sum of a column; 1 beyond these
    cdef double[::1] sign        # [line] 1 of a level, -1 of a column; 0 beyond these
    cdef double[::1] unseen      # [line] score of a line without cells; 0 beyond these
    cdef double[::1] columns     # what LinesOfColumns points to
    cdef LinesOfColumns lines
    cdef Py_ssize_t[::1] starts  # [column] line of level 0; last, n_levels
    cdef dict by_power           # priors that differ in their power

    cdef CategoricalPrior with_power(self, double power)


cdef inline inlined_void read_lines(const LinesOfColumns *columns, const double *values,
                                    Py_ssize_t first, Py_ssize_t n, int *lines) noexcept nogil:
    """Write the lines of a row's cells in n columns from `first`, and fill up whole lanes."""
    cdef const double *first_line = columns.first + first
    cdef const double *last = columns.last + first
    cdef const double *missing = columns.missing + first
    cdef double x
    cdef Py_ssize_t i
    for i in range(n):
        x = values[first + i]
        lines[i] = <int> (first_line[i] + smaller(larger(x, 0.0), last[i]) if x == x
                          else missing[i])
    for i in range(n, (n + LANES - 1) & ~(<Py_ssize_t> (LANES - 1))):
        lines[i] = columns.nothing


cdef inline inlined_void score_counts(double *x, Py_ssize_t n, double power) noexcept nogil:
    """Turn n values beta + power * count into scores: log x, or what is in its place."""
    cdef Py_ssize_t i
    if power == 1.0:
        for i in range(n):
            x[i] = log_positive(x[i])
    else:
        for i in range(n):
            x[i] = log_rising_of_lane(x[i], power) / power
