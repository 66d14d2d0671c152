cimport cython
from dpmlite.core._simd cimport clones_double

cdef enum:
    MOST_ZERO_ROWS = 256


@cython.final
cdef class ZeroRows:
    cdef const double[::1] a, b
    cdef double[::1] values  # [rows]; None: nobody has asked so far

    cdef const double *known(self) except NULL

cdef clones_double evidence_beside(ZeroRows prior, const double *ones, const double *zeros,
                                   const double *other_ones, const double *other_zeros,
                                   double part, double n) noexcept nogil
