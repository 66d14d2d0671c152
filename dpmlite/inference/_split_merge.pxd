from dpmlite.models._partition cimport Partition

cpdef members_of(Partition partition, slots)
cpdef double joint_of(Partition partition, slots) except? -1.0
cpdef two_of(Py_ssize_t n, double u, double v)
