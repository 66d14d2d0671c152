cimport cython


@cython.final
cdef class RisingTable:
    cdef Py_ssize_t n_columns, most
    cdef double[::1] values  # [n][a, b, a + b][column]

cdef double tabled_evidence(RisingTable table, const double *ones, const double *zeros,
                            const double *other_ones, const double *other_zeros,
                            double part) noexcept nogil
