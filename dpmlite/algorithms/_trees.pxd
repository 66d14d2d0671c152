cdef double log_add_c(double x, double y) noexcept nogil
