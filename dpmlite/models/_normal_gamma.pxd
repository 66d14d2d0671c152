from dpmlite.models._component cimport Component
from dpmlite.models._special cimport inlined_double, larger
from dpmlite.models._student_t cimport Densities


cdef class NormalGamma(Component):
    cdef readonly double c0, a0
    cdef readonly list m0, b0
    cdef double[::1] origin, unit  # m0 and 1 / sqrt(b0), per column
    cdef double[::1] known         # [n] what at_mean has found so far, or NaN

    cdef double *m                 # [slot][column] posterior mean and rate, eq. (13), n_along apart
    cdef double *b
    cdef double *across_m          # [column][slot] the same, kept by `refresh`
    cdef double *across_b
    cdef double *log_b             # [slot] sum over columns of log b
    cdef double *kept              # [slot] part of b that removals left, least column
    cdef Densities t               # what scoring needs of the slots, kept by `refresh`

    cdef int begin(self) except -1


cdef inline inlined_double merged_rate(double c0, double cj, double ck, double mj, double mk,
                                       double bj, double bk) noexcept nogil:
    """b of two slots' rows together, eq. (13)."""
    cdef double between = cj * ck * (mj - mk) * (mj - mk) - c0 * (cj * mj * mj + ck * mk * mk)
    return larger(bj + bk - 1.0 + 0.5 * between / (cj + ck - c0), 1.0)
