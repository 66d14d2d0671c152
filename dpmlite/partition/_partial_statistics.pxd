from dpmlite.core._rows cimport Rows
from dpmlite.families._component cimport Component


cdef class PartialStatistics:
    cdef Component component
    cdef Py_ssize_t[::1] size  # [slot] number of its rows, whatever their weights
    cdef double weight         # of all rows that have a label

cdef double add_rows(Component component, Py_ssize_t *size, Rows X, const Py_ssize_t[::1] rows,
                     const Py_ssize_t[::1] label, Py_ssize_t first, Py_ssize_t last,
                     double *room) noexcept nogil
cdef list partial_statistics(Component component, Py_ssize_t n_slots, Rows X,
                             const Py_ssize_t[::1] rows, const Py_ssize_t[::1] label)
