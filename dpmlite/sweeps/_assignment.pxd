from dpmlite.core._rows cimport Row, Rows
from dpmlite.families._component cimport Component


cdef class Mixture:
    cdef Rows X
    cdef Component component
    cdef double[::1] log_weight, cost  # per slot
    cdef const Py_ssize_t[::1] rows    # of X that are scored; None: all
    cdef Py_ssize_t n_rows, n_slots

    cdef int weigh(self, log_weights) except -1
    cdef double score(self, Py_ssize_t i) noexcept nogil
    cdef int assign(self, Component component, Py_ssize_t first, Py_ssize_t last,
                    Py_ssize_t[::1] out) except -1
    cdef double least_cost(self, Component component, const Row *row,
                           double *cost) noexcept nogil
