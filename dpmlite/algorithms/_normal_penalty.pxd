cdef double penalty_of(const double[:] x, const double[:] means, const double[:] deviations,
                       double[:] gradient) noexcept nogil
