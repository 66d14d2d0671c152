from dpmlite.models._partition cimport Partition

cdef Py_ssize_t sweep_rows(Partition partition) except -1 nogil
cdef Py_ssize_t converge_rows(Partition partition, Py_ssize_t max_sweeps) except -1 nogil
