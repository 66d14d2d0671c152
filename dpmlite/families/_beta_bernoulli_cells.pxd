from dpmlite.core._rows cimport Row, column_of
from dpmlite.core._simd cimport LANES, clones_void, inlined_void
from dpmlite.families._beta_bernoulli_counts cimport BetaBernoulliCounts

cdef extern from "kernels.h":
    bint all_zero "dpm_all_zero"(const double *x) noexcept nogil

cdef enum:
    CELL_CHUNK = 128  # values of a row whose cells are listed at a time, a multiple of LANES

cdef struct Cells:
    Py_ssize_t n_ones, n_missing
    Py_ssize_t ones[CELL_CHUNK]     # their columns
    Py_ssize_t missing[CELL_CHUNK]

cdef struct CellScores:             # as in BetaBernoulliCounts, of any kind of log p
    const double *base
    const double *delta
    const double *log_zero


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

cdef clones_void cell_costs(BetaBernoulliCounts self, const CellScores *scores, const Row *row,
                            const double *log_weight, double *out) noexcept nogil
cdef void expect_cells(BetaBernoulliCounts self, double *out) noexcept nogil
cdef clones_void share_cells(BetaBernoulliCounts self, const Row *row,
                             const double *responsibilities) noexcept nogil
