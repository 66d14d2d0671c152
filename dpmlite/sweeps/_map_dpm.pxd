from dpmlite.partition._partition cimport Partition

cdef Py_ssize_t sweep_once(Partition partition) except -1 nogil
