from dpmlite.partition._partition cimport Partition

cpdef check_n_threads(Py_ssize_t n_threads)
cdef Py_ssize_t sweep_once(Partition partition) except -1 nogil
