cimport cython

cdef struct Entry:
    double score       # rounded
    Py_ssize_t depth
    Py_ssize_t serial  # number of entries pushed before
    Py_ssize_t item


@cython.final
cdef class MaxQueue:
    cdef Entry *heap
    cdef Py_ssize_t n, capacity, n_pushed

    cdef void exchange(self, MaxQueue other) noexcept nogil
    cdef int push_entry(self, double score, Py_ssize_t depth, Py_ssize_t item) except -1 nogil
    cdef Py_ssize_t take_best(self) noexcept nogil
    cdef Py_ssize_t take_worst(self) noexcept nogil
    cdef bint beats(self, double score, Py_ssize_t depth) noexcept nogil
    cdef double least(self, Py_ssize_t limit) noexcept nogil
    cdef Py_ssize_t worst(self) noexcept nogil
    cdef Py_ssize_t take(self, Py_ssize_t i) noexcept nogil
