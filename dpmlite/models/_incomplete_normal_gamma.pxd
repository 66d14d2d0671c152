from dpmlite.models._component cimport Component
from dpmlite.models._normal_gamma cimport NormalGamma
from dpmlite.models._rows cimport Row

# What one slot is scored by, [column]: log p(u) = constant + power log(1 +- (u slope - shift)^2).
cdef struct Line:
    double *slope
    double *shift
    double *power
    double *constant


cdef class IncompleteNormalGamma(Component):
    cdef NormalGamma complete      # the same model for rows without gaps
    cdef readonly double c0, a0
    cdef double[::1] log_scale     # [column] log sqrt(b0)
    cdef double[::1] u             # [column] a row in units of the prior; NaN: missing
    cdef Py_ssize_t width          # columns, padded

    cdef double *least_factor      # [slot] member's factors that are less need a closer look
    cdef double *slope             # [column][slot] what all slots are scored by, as in Line
    cdef double *shift
    cdef double *power
    cdef double *constant

    cdef double *statistic(self, Py_ssize_t k, int which) noexcept nogil
    cdef Line line(self, Py_ssize_t k, bint member) noexcept nogil
    cdef void read(self, const Row *row) noexcept nogil
