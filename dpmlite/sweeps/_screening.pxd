from libc.math cimport fabs

from dpmlite.core._simd cimport inlined_double
from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._screened_slots cimport Screen
from dpmlite.sweeps._screening_bounds cimport Chunk


# A lower bound must be below this, because of its rounding, where the cost may be below `limit`.
cdef inline inlined_double with_rounding(double limit) noexcept nogil:
    return limit + 2e-6 * fabs(limit)

cdef void take_rows(Chunk *chunk, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef void screen_chunk(const Screen *s, Partition partition, Chunk *chunk) noexcept nogil
cdef void screen_near(const Screen *s, Partition partition, Chunk *chunk, const Py_ssize_t *slots,
                      Py_ssize_t n, float elsewhere) noexcept nogil
cdef void rebound_slot(Screen *s, Partition partition, Chunk *chunk, Py_ssize_t k) noexcept nogil
cdef void find_join_ceilings(const Screen *s, Partition partition, Chunk *chunk,
                             const int *slots) noexcept nogil
