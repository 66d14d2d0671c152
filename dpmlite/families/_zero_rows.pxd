cimport cython
from dpmlite.core._simd cimport clones_double

cdef enum:
    MAX_ZERO_ROWS = 256


@cython.final
cdef class ZeroRows:
    cdef const double[::1] a, b
    cdef double[::1] values  # [n] log marginal of n rows of zeros; None until it is asked for

    cdef const double *known(self) except NULL

cdef clones_double log_marginal_beside(ZeroRows prior, const double *ones, const double *zeros,
                                       const double *other_ones, const double *other_zeros,
                                       double part, double n) noexcept nogil
