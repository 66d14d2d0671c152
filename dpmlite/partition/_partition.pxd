cimport cython

from dpmlite.core._rows cimport Rows
from dpmlite.families._component cimport Component
from dpmlite.partition._partition_costs cimport PartitionCosts


@cython.final  # its methods are called directly, not through a table
cdef class Partition(PartitionCosts):
    cdef readonly double neg_log_joint, least_gain
    cdef readonly Py_ssize_t n_emptied

    cdef int begin(self) except -1 nogil
    cdef int relabel(self, const Py_ssize_t *labels,
                     const Py_ssize_t[::1] group_labels) except -1 nogil
    cdef int move_row(self, Py_ssize_t i, Py_ssize_t k, double change) except -1 nogil
    cdef double denominator(self, double weight) noexcept nogil
    cdef void join(self, Py_ssize_t j, Py_ssize_t k, double change) noexcept nogil
    cdef place_clusters(self, slots, Partition other)

cdef Partition partition_to_score_in(Rows X, const Py_ssize_t[::1] rows, Py_ssize_t[::1] label,
                                     Component component, double alpha, double discount)
