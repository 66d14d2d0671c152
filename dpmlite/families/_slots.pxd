cdef class Slots:
    cdef readonly Py_ssize_t n_slots
    cdef double *n             # [slot] weight of its rows, exactly 0 if it is empty
    # One block of memory: values that many slots are scored by, [value][slot], the first of them
    # n; then values that one slot is scored by, [slot][value].
    cdef Py_ssize_t capacity   # slots that there is memory for
    cdef Py_ssize_t n_across, n_along
    cdef double *across
    cdef double *along
    cdef void *block
    cdef bint has_scratch      # whether scoring a row writes to memory of the component's own,
    cdef void *turn            # and a lock of the thread that does so

    # What a family overrides.
    cdef void lay_out(self) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void clear_slots(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void copy_slot(self, Py_ssize_t k, Slots other, Py_ssize_t j) noexcept nogil

    cdef int start(self, Py_ssize_t n_across, Py_ssize_t n_along) except -1
    cdef int reserve(self, Py_ssize_t capacity) except -1 nogil
    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil
    cdef int shrink(self) except -1 nogil
    cdef int copy_all(self, Slots other) except -1 nogil
    cdef void begin_turn(self) noexcept nogil
    cdef void end_turn(self) noexcept nogil
