from dpmlite.partition._partition cimport Partition

cpdef two_of(Py_ssize_t n, double u, double v)
cpdef nearest_seed_labels(Partition partition, const Py_ssize_t[::1] members, double u, double v)
cpdef lone_seed_labels(Py_ssize_t n, double u, double v)
cpdef check_n_slots(Partition partition, Py_ssize_t n_slots)
cdef int check_pairs(Py_ssize_t n_numbers) except -1
