cimport cython


@cython.final
cdef class LogRisingTable:
    cdef Py_ssize_t n_columns, max_count
    cdef double[::1] values  # [n][a, b, a + b][column]

cdef double tabled_log_marginal(LogRisingTable table, const double *ones, const double *zeros,
                                const double *other_ones, const double *other_zeros,
                                double part) noexcept nogil
