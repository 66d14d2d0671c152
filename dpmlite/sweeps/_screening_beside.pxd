from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._screening_bounds cimport Chunk

cdef void add_beside(Partition partition, Chunk *chunk, const Py_ssize_t *slots,
                     Py_ssize_t n) noexcept nogil
cdef void add_beside_to_stay(Partition partition, Chunk *chunk, Py_ssize_t k) noexcept nogil
