from dpmlite.core._constants cimport ROUNDING, ROUNDING_BELOW_1
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport inlined_double, larger
from dpmlite.families._student_t cimport Densities


cdef inline inlined_double left_of_c(double n, double weight) noexcept nogil:
    cdef double left = n - weight
    cdef double below = ROUNDING_BELOW_1 * (n if n < 1.0 else 1.0)
    return left if left > larger(ROUNDING * n, below) else 0.0


cdef class Component:
    cdef readonly Py_ssize_t n_columns
    cdef readonly Py_ssize_t n_slots
    cdef readonly bint reads_sparse
    cdef readonly double log_scale  # log of the product of the columns' scales in the prior
    cdef bint has_heavy_bounds  # whether heavy_bounds is there
    cdef bint has_scratch       # whether to score a row writes to memory of the component's own,
    cdef void *turn             # and a lock of the thread that does so
    cdef double[::1] expected  # what expected_scores needs of the slots; kept by `expect`
    cdef double *n             # [slot] weight of its rows, exactly 0 if it is empty
    # Memory of the slots, one block: values that many slots are scored by, [value][slot], the
    # first of them n; then values that one slot is scored by, [slot][value].
    cdef Py_ssize_t capacity   # slots that memory is there for
    cdef Py_ssize_t n_across, n_along
    cdef double *across
    cdef double *along
    cdef void *block

    cdef void begin_turn(self) noexcept nogil
    cdef void end_turn(self) noexcept nogil
    cdef Component copied(self)
    cdef int start(self, Py_ssize_t n_across, Py_ssize_t n_along) except -1
    cdef int reserve(self, Py_ssize_t capacity) except -1 nogil
    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil
    cdef int shrink(self) except -1 nogil
    cdef void copy_slot(self, Py_ssize_t k, Component other, Py_ssize_t j) noexcept nogil
    cdef int copy_all(self, Component other) except -1 nogil
    cdef void lay_out(self) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void clear_slots(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void add_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil
    cdef double score_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil
    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil
    cdef const Densities *densities(self) noexcept nogil
    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void score_members(self, const Row *rows, const Py_ssize_t *slots, Py_ssize_t n,
                            double *out) noexcept nogil
    cdef double score_member_floor(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef int expect(self) except -1
    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil
    cdef void begin_sharing(self) noexcept nogil
    cdef void share(self, const Row *row, const double *shares) noexcept nogil
    cdef void end_sharing(self) noexcept nogil
    cdef int expect_values(self, Py_ssize_t n_values) except -1
    cdef double marginal(self, Py_ssize_t k) noexcept nogil
    cdef int begin_merging(self) except -1
    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil
    cdef double score_bound(self, const Row *row, Py_ssize_t k, double more) noexcept nogil
    cdef double score_per_copy(self, double score, const Row *row) noexcept nogil
    cdef double log_scale_of(self, const Row *row) noexcept nogil
    cdef Row checked_row(self, const double[::1] row, double weight) except *
