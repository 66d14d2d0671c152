from dpmlite.core._constants cimport COUNT_ROUNDING, SMALL_COUNT_ROUNDING
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport inlined_double, larger
from dpmlite.families._normal_columns cimport NormalColumn, NormalPrior
from dpmlite.families._slots cimport Slots

cdef enum:
    MEMBERS_PER_BATCH = 64  # rows whose logarithms are taken together


cdef inline inlined_double left_of_c(double n, double weight) noexcept nogil:
    cdef double left = n - weight
    cdef double below = SMALL_COUNT_ROUNDING * (n if n < 1.0 else 1.0)
    return left if left > larger(COUNT_ROUNDING * n, below) else 0.0


# Arguments are checked by Component, never by a family; an `out` has room for n_slots rounded up by
# `padded`.
cdef class Family(Slots):
    cdef readonly Py_ssize_t n_columns
    cdef readonly bint reads_sparse
    cdef readonly double log_scale  # log of the product of the columns' scales in the prior
    cdef readonly double power      # of the likelihood
    cdef bint has_heavy_bounds      # whether heavy_bounds is there, and much faster than costs,
    cdef bint has_heavy_costs       # or as fast as costs, and exact
    cdef bint has_merging_bounds    # whether merging_bounds are much faster than marginals_merged
    cdef bint is_discrete           # whether rows have probabilities: no log predictive is above 0
    cdef bint is_tabled             # whether a row is scored by additions alone

    # Rows of slots: every family overrides these, or add_row.
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void add_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil

    # Scores: every family overrides these two,
    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil
    # and these where it can be faster.
    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil
    cdef double score_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil
    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil
    cdef void score_members(self, const Row *rows, const Py_ssize_t *slots, Py_ssize_t n,
                            double *out) noexcept nogil
    cdef double score_member_floor(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef double log_scale_of(self, const Row *row) noexcept nogil
    cdef double least_cost(self, const Row *row) noexcept nogil

    # Log marginals: every family overrides the first and the last.
    cdef double marginal(self, Py_ssize_t k) noexcept nogil
    cdef int begin_merging(self) except -1
    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil
    # Where there are bounds of the last, these two.
    cdef void merging_bounds(self, Py_ssize_t j, double *out) noexcept nogil
    cdef double marginal_merged(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil

    # What some families know.
    cdef double score_bound(self, const Row *row, Py_ssize_t k, double more) noexcept nogil
    cdef const NormalPrior *column_prior(self) noexcept nogil
    cdef NormalColumn normal_column(self, Py_ssize_t k, Py_ssize_t d) noexcept nogil
