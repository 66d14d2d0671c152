from dpmlite.models._partition cimport Partition

cpdef bint looks_normal(Partition partition, Py_ssize_t k, const Py_ssize_t[::1] members) except -1
