cimport cython

from dpmlite.algorithms._search_heuristic cimport SearchHeuristic
from dpmlite.core._rows cimport Row
from dpmlite.families._component cimport Component


@cython.final
cdef class PrefixGains:
    cdef Component component
    cdef SearchHeuristic heuristic
    cdef Py_ssize_t capacity
    cdef double *gain         # [slot] what a row adds to the log joint
    cdef Py_ssize_t *row_of   # [slot] row of the order that `gain` is of; -1: of none
    cdef double *log_factor   # [slot] what a row of weight 1 multiplies the prior score by
    cdef double *cost         # [slot] scratch

    cdef int allocate(self) except -1 nogil
    cdef int update_slot(self, Py_ssize_t slot) except -1 nogil
    cdef void find(self, const Py_ssize_t *slots, Py_ssize_t n_clusters,
                   Py_ssize_t d) noexcept nogil
    cdef void find_in_slot(self, const Row *row, Py_ssize_t slot, Py_ssize_t d) noexcept nogil
