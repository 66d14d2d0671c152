from dpmlite.models._component cimport Component
from dpmlite.models._normal_gamma cimport NormalGamma
from dpmlite.models._rows cimport Row
from dpmlite.models._student_t cimport Terms

cdef enum:  # the posterior, which a slot holds of each column
    COUNT
    MEAN
    RATE


cdef class IncompleteNormalGamma(Component):
    cdef NormalGamma complete      # the same model for rows without gaps
    cdef readonly double c0, a0
    cdef double[::1] log_scales    # [column] log sqrt(b0)
    cdef double[::1] u             # [column] a row in units of the prior; NaN: missing
    cdef Py_ssize_t width          # columns, padded

    cdef double *least_factor      # [slot] member's factors that are less need a closer look
    cdef Terms all                 # [column][slot] what all slots are scored by

    cdef double *statistic(self, Py_ssize_t k, int which) noexcept nogil
    cdef Terms terms(self, Py_ssize_t k, bint member) noexcept nogil
    cdef void read(self, const Row *row) noexcept nogil
