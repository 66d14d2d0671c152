from dpmlite.partition._partition cimport Partition

cpdef Partition divided(Partition partition, slots, members, starts, Py_ssize_t step=*)
cpdef Partition trial_division(Partition partition, slots, members, starts, Py_ssize_t step)
cpdef Partition division_of_all(Partition partition, slots, members, Partition division,
                                Py_ssize_t step)
cpdef adopt(Partition partition, slots, members, Partition division)
cpdef Py_ssize_t trial_step(Py_ssize_t n, bint thorough=*, double power=*)
cdef batches(Partition partition, items)
cpdef members_of(Partition partition, slots)
cpdef double joint_of(Partition partition, slots) except? -1.0
