# The row-sized virtual methods through which inference moves any family's statistics.

# Slots are scored sixteen at a time: buffers of one value per slot are padded to a multiple.
cdef inline Py_ssize_t padded(Py_ssize_t n_slots) noexcept nogil:
    return (n_slots + 15) & ~(<Py_ssize_t> 15)


cdef class Component:
    cdef readonly Py_ssize_t n_columns
    cdef readonly Py_ssize_t n_slots
    cdef double *n  # rows in each slot

    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void copy_slot(self, Py_ssize_t k, Component other, Py_ssize_t j) noexcept nogil
    cdef void accumulate(self, const double *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void add_row(self, const double *row, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const double *row, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    cdef double costs_below(self, const double *row, const double *log_weight, double limit,
                            double *out) noexcept nogil
    cdef double score_slot(self, const double *row, Py_ssize_t k) noexcept nogil
    cdef double score_member(self, const double *row, Py_ssize_t k) noexcept nogil
    cdef double score_member_floor(self, const double *row, Py_ssize_t k) noexcept nogil
    cdef double marginal(self, Py_ssize_t k) noexcept nogil
    cdef void marginal_merged_all(self, Py_ssize_t j, double *out) noexcept nogil
