from dpmlite.core._simd cimport clones_ssize, inlined_ssize

cdef enum:
    NARROW = 16  # slots that are scored together: their sums or products stay in registers
    WIDE = 32    # slots that are scored together where there are that many


# Buffers of one value per slot are padded to a multiple of NARROW.
cdef inline inlined_ssize padded(Py_ssize_t n_slots) noexcept nogil:
    return (n_slots + NARROW - 1) & ~(<Py_ssize_t> (NARROW - 1))

cdef double least_of(const double *costs, Py_ssize_t n_slots, double limit) noexcept nogil
cdef Py_ssize_t count_below(const double *costs, Py_ssize_t n_slots, double limit) noexcept nogil
cdef clones_ssize first_within(const double *cost, Py_ssize_t n_slots,
                               double limit) noexcept nogil
