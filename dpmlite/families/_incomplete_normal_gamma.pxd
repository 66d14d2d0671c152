from dpmlite.core._rows cimport Row
from dpmlite.families._component cimport Component
from dpmlite.families._normal_gamma cimport NormalGamma
from dpmlite.families._student_t cimport Terms

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

    cdef void lay_out(self) noexcept nogil
    cdef double *statistic(self, Py_ssize_t k, int which) noexcept nogil
    cdef Terms terms(self, Py_ssize_t k, bint member) noexcept nogil
    cdef void read(self, const Row *row) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil
    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef double log_scale_of(self, const Row *row) noexcept nogil
    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef double marginal(self, Py_ssize_t k) noexcept nogil
    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil
