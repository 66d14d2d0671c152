from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_double
from dpmlite.families._normal_columns cimport NormalColumn, NormalPrior
from dpmlite.families._normal_gamma_prior cimport NormalGammaPrior
from dpmlite.families._screenable cimport Screenable


cdef class NormalGammaStatistics(Screenable):
    cdef NormalGammaPrior prior
    cdef NormalPrior columns       # what `column_prior` gives
    cdef readonly double c0, a0
    cdef double *m                 # [slot][column] posterior mean and rate, eq. (13), n_along apart
    cdef double *b
    cdef double *across_m          # [column][slot] copies of them, kept by `refresh`
    cdef double *across_b
    cdef double *log_b             # [slot] sum over columns of log b
    cdef double *kept              # [slot] part of b that removals left, least column

    cdef int begin(self, NormalGammaPrior prior) except -1
    cdef void lay_out(self) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    cdef const NormalPrior *column_prior(self) noexcept nogil
    cdef NormalColumn normal_column(self, Py_ssize_t k, Py_ssize_t d) noexcept nogil

cdef clones_double least_part_left(NormalGammaStatistics self, const Row *row,
                                   Py_ssize_t k) noexcept nogil
