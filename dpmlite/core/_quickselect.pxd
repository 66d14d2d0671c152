cdef double find_rank(double *x, Py_ssize_t n, Py_ssize_t rank) noexcept nogil
