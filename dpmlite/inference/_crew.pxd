# Threads that share the work of a kernel.

cdef class Crew:
    cdef Py_ssize_t n_helpers  # threads beside the caller's
    cdef void **go             # [helper] a lock that is open when there is work,
    cdef void **done           # and one that is open when it is done
    cdef bint started, over
    cdef list threads

    cdef int start(self) except -1
    cdef int share(self) except -1 nogil
    cdef void work(self, Py_ssize_t part, Py_ssize_t n_parts) noexcept nogil
