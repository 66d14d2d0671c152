cdef class PartitionListener:
    cdef void row_moved(self, Py_ssize_t i, Py_ssize_t left, Py_ssize_t joined) noexcept nogil
    cdef void slots_merged(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    cdef int slots_replaced(self, slots, targets, division) except -1
    cdef void slots_renumbered(self, const Py_ssize_t *new_slot, Py_ssize_t n_slots) noexcept nogil
    cdef int slots_made(self, Py_ssize_t first, Py_ssize_t n_slots) except -1 nogil
    cdef void rebuilt(self) noexcept nogil


cdef class ListenerList(PartitionListener):
    cdef readonly list listeners
    cdef void **listener            # the same listeners, for code without the interpreter's lock
    cdef Py_ssize_t n_listeners

    cdef int append(self, PartitionListener listener) except -1
