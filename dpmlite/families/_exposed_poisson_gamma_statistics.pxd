from dpmlite.core._rows cimport Row
from dpmlite.families._poisson_gamma_statistics cimport PoissonGammaPrior
from dpmlite.families._soft_component cimport SoftComponent


cdef class ExposedPoissonGammaStatistics(SoftComponent):
    cdef PoissonGammaPrior prior
    cdef Py_ssize_t n_counts        # columns of counts; the exposure is the column after them
    cdef double *log_factorials     # [slot] sum of log(x! / e^x) of all cells, of any sign
    cdef double *kept               # [slot] what removals left of sums and exposures, least fraction
    cdef double *shape              # [column][slot] a of the posterior
    cdef double *inverse_rate       # [column][slot] 1 / b of the posterior
    cdef double *log_rate           # [column][slot] log(b)
    # [slot][2 widths] of each column:
    cdef double *sums               # sum of the cells
    cdef double *exposures          # sum of their exposures

    cdef int begin(self, PoissonGammaPrior prior) except -1
    cdef void lay_out(self) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil

cdef double exposure_of(ExposedPoissonGammaStatistics self, const Row *row) noexcept nogil
cdef double log_factorials_of(ExposedPoissonGammaStatistics self, const Row *row) noexcept nogil
cdef double kept_without(ExposedPoissonGammaStatistics self, const Row *row,
                         Py_ssize_t k) noexcept nogil
