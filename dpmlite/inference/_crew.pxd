# Threads that share the work of a kernel.

cdef class Crew:
    cdef Py_ssize_t n_helpers  # threads beside the caller's
    cdef void **go             # [helper] a lock that is open when it has been called
    cdef bint *called          # [helper] whether it was, and has not come yet
    cdef void *board           # a lock for `called` and what follows:
    cdef Py_ssize_t n_pieces   # of the work,
    cdef Py_ssize_t n_taken    # of these,
    cdef Py_ssize_t n_busy     # threads that have one,
    cdef Py_ssize_t total      # and the sum of what `do` returned
    cdef void *finished        # a lock that is open when the last of the helpers is,
    cdef bint awaited          # if the caller waits for that
    cdef bint started, over
    cdef object pool           # that the helpers are from,
    cdef list helpers          # whose futures are here

    cdef int start(self) except -1
    cdef Py_ssize_t share(self, Py_ssize_t n_pieces) except -1 nogil
    cdef void call(self, Py_ssize_t n_pieces) noexcept nogil
    cdef void work(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t do(self, Py_ssize_t i, Py_ssize_t piece, Py_ssize_t n_pieces) noexcept nogil
