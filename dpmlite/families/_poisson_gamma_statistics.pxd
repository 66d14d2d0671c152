from dpmlite.core._rows cimport Row
from dpmlite.families._gamma_rates cimport GammaRates, PoissonGammaPrior


cdef class PoissonGammaStatistics(GammaRates):
    cdef double most_shape          # not below any a
    cdef double *base               # [slot] log density of a row of zeros
    cdef double *shape              # [column][slot] a of the posterior
    cdef double *zero_score         # [column][slot] log density of a 0
    cdef double *log_rate           # [column][slot] log(b + power)
    # [slot][6 widths] of each column, after the sums and cells:
    cdef double *log_ratio          # log(1 + power / b)
    cdef double *slot_log_rate      # log(b + power), once more
    cdef double *member_log_ratio   # both without a member
    cdef double *member_log_rate

    cdef int begin(self, PoissonGammaPrior prior) except -1
    cdef void lay_out(self) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil


cdef bint hides_others(PoissonGammaStatistics self, const Row *row, double log_factorials,
                       Py_ssize_t k) noexcept nogil
cdef double kept_without(PoissonGammaStatistics self, const Row *row, double log_factorials,
                         Py_ssize_t k) noexcept nogil
