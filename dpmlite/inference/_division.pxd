from dpmlite.models._partition cimport Partition

cdef enum:
    TRIAL_ROWS = 1000
    LARGEST_STEP = 16
    THOROUGH_ROWS = 50_000

cpdef Partition divided(Partition partition, slots, members, starts)
cpdef Partition trial_division(Partition partition, slots, members, starts, Py_ssize_t step)
cpdef Partition division_of_all(Partition partition, slots, members, Partition division,
                                Py_ssize_t step)
cpdef adopt(Partition partition, slots, members, Partition division)
cpdef Py_ssize_t trial_step(Py_ssize_t n, bint thorough=?)
cpdef members_of(Partition partition, slots)
cpdef double joint_of(Partition partition, slots) except? -1.0
cpdef two_of(Py_ssize_t n, double u, double v)
