from dpmlite.models._component cimport Component
from dpmlite.models._student_t cimport Densities


cdef class NormalGamma(Component):
    cdef readonly double c0, a0
    cdef readonly list m0, b0
    cdef double[::1] origin, unit  # m0 and 1 / sqrt(b0), per column
    cdef double log_scale          # log of the product of sqrt(b0)

    cdef double *m                 # [column][slot] posterior mean and rate, eq. (13)
    cdef double *b
    cdef double *log_b             # [slot] sum over columns of log b
    cdef double *kept              # [slot] part of b that removals left, least column
    cdef double *member_constant   # [slot] log density of a member at the mean
    cdef Densities t               # what scoring needs of the slots, kept by `refresh`
