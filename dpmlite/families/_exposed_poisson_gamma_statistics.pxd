from dpmlite.core._rows cimport Row
from dpmlite.families._gamma_rates cimport GammaRates, PoissonGammaPrior


cdef class ExposedPoissonGammaStatistics(GammaRates):
    cdef double *shape              # [column][slot] a of the posterior
    cdef double *inverse_rate       # [column][slot] 1 / b of the posterior
    cdef double *log_rate           # [column][slot] log(b)

    cdef int begin(self, PoissonGammaPrior prior) except -1
    cdef void lay_out(self) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil

cdef double exposure_of(ExposedPoissonGammaStatistics self, const Row *row) noexcept nogil
cdef double log_factorials_of(ExposedPoissonGammaStatistics self, const Row *row) noexcept nogil
cdef double kept_without(ExposedPoissonGammaStatistics self, const Row *row,
                         Py_ssize_t k) noexcept nogil
