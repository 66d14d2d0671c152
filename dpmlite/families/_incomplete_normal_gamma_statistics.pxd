from dpmlite.core._rows cimport Row
from dpmlite.families._component cimport Component
from dpmlite.families._normal_columns cimport NormalColumn, NormalPrior
from dpmlite.families._normal_gamma_prior cimport NormalGammaPrior
from dpmlite.families._student_t cimport Densities, Terms

cdef enum:
    N_TERMS = 4  # arrays of Terms

cdef enum:  # what a slot holds of each column: the posterior, eq. (13),
    COUNT
    MEAN
    RATE
    KEPT             # part of the rate that removals left,
    PREDICTIVE       # and terms to score it by, the arrays of Terms
    MEMBER = PREDICTIVE + N_TERMS
    N_HELD = MEMBER + N_TERMS

cdef struct Column:  # the posterior of one column, eq. (13)
    double n
    double m
    double b
    double kept


cdef class IncompleteStatistics(Component):
    cdef NormalGammaPrior prior
    cdef NormalPrior columns       # what `column_prior` gives
    cdef readonly double c0, a0
    cdef double[::1] log_scales    # [column] log sqrt(b0)
    cdef double[::1] u             # [column] a row in units of the prior; NaN: missing
    cdef Py_ssize_t width          # columns, padded
    cdef double *min_factor        # [slot] member's factors that are less need a closer look
    cdef double *most_power        # [slot] the largest power of its predictive terms
    cdef Terms all                 # [column][slot] what all slots are scored by
    cdef Densities t               # only what standardises rows

    cdef int begin(self, NormalGammaPrior prior) except -1
    cdef void lay_out(self) noexcept nogil
    cdef double *statistic(self, Py_ssize_t k, int which) noexcept nogil
    cdef Terms terms(self, Py_ssize_t k, bint member) noexcept nogil
    cdef void read(self, const Row *row) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    cdef const NormalPrior *column_prior(self) noexcept nogil
    cdef NormalColumn normal_column(self, Py_ssize_t k, Py_ssize_t d) noexcept nogil

cdef bint without(IncompleteStatistics self, Py_ssize_t k, Py_ssize_t d, double w,
                  Column *left) noexcept nogil
