from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport inlined_ssize, inlined_void, larger, smaller

# Everything that is known of a column or of a level is a line. The lines of all levels of column 0
# come first, then those of column 1, ...; last, one line for each column, of all its levels.
cdef class CategoricalPrior:
    cdef Py_ssize_t n_columns, n_levels, n_lines, width  # width: n_lines, padded to whole vectors
    cdef double power              # zeta of the likelihood
    cdef list beta0
    cdef double[::1] beta          # [line] of a level, or the sum of a column; 1 beyond n_lines
    cdef double[::1] sign          # [line] 1 of a level, -1 of a column; 0 beyond n_lines
    cdef double[::1] last_level    # [column] L_d - 1
    cdef Py_ssize_t[::1] first_line  # [column] line of level 0
    cdef dict by_power             # priors that differ in their power

    cdef CategoricalPrior with_power(self, double power)


cdef inline inlined_ssize line_of(CategoricalPrior prior, double x, Py_ssize_t d) noexcept nogil:
    """The line of a cell of column d: of its level, or of the column if it is missing."""
    cdef Py_ssize_t level = <Py_ssize_t> smaller(larger(x, 0.0), prior.last_level[d])
    return prior.first_line[d] + level if x == x else prior.n_levels + d


cdef inline inlined_void read_lines(CategoricalPrior prior, const Row *row, Py_ssize_t first,
                                    Py_ssize_t n, Py_ssize_t *lines) noexcept nogil:
    """Write the lines of n cells of a row, from column `first` on."""
    cdef Py_ssize_t i
    for i in range(n):
        lines[i] = line_of(prior, row.values[first + i], first + i)
