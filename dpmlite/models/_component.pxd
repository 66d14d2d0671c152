# The row-sized virtual methods through which inference moves any family's statistics.

from dpmlite.models._rows cimport Row, Rows

cdef enum:
    FEWEST_SLOTS = 16  # they are scored sixteen at a time

# Buffers of one value per slot are padded to a multiple of that.
cdef inline Py_ssize_t padded(Py_ssize_t n_slots) noexcept nogil:
    return (n_slots + 15) & ~(<Py_ssize_t> 15)


cdef class Component:
    cdef readonly Py_ssize_t n_columns
    cdef readonly Py_ssize_t n_slots
    cdef readonly bint reads_sparse
    cdef double *n             # [slot] weight of its rows, exactly 0 if it is empty

    # Memory of the slots, one block: values that many slots are scored by, [value][slot], the
    # first of them n; then values that one slot is scored by, [slot][value].
    cdef Py_ssize_t capacity   # slots that memory is there for
    cdef Py_ssize_t n_across, n_along
    cdef double *across
    cdef double *along
    cdef void *block

    cdef int start(self, Py_ssize_t n_across, Py_ssize_t n_along) except -1
    cdef int reserve(self, Py_ssize_t capacity) except -1 nogil
    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil
    cdef void copy_slot(self, Py_ssize_t k, Component other, Py_ssize_t j) noexcept nogil

    cdef void lay_out(self) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void add_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil
    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef double score_member_floor(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef double marginal(self, Py_ssize_t k) noexcept nogil
    cdef void marginal_merged_all(self, Py_ssize_t j, double *out) noexcept nogil
    cdef Row checked_row(self, const double[::1] row, double weight) except *
