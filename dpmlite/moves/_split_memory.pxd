from dpmlite.partition._listener cimport PartitionListener
from dpmlite.partition._partition cimport Partition


cdef class SplitMemory(PartitionListener):
    cdef Py_ssize_t n_rows, n_slots
    cdef Py_ssize_t capacity        # slots that the arrays have memory for
    cdef Py_ssize_t *changed        # [slot] rows that came or left since it was tried, or n_rows
    cdef char *normal               # [slot] whether it looked normal then

    cdef void mark(self, Py_ssize_t k, Py_ssize_t n_changed, bint normal) noexcept nogil
    cdef int check_slot(self, Py_ssize_t k) except -1

cpdef SplitMemory split_memory_of(Partition partition)
