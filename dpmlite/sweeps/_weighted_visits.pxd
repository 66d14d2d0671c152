from dpmlite.partition._partition cimport Partition

cdef bint has_weight_lines(Partition partition) noexcept nogil
cdef Py_ssize_t visit_weighted_rows(Partition partition) except -1 nogil
