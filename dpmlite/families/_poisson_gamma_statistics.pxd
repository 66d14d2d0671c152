from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport inlined_double, log_positive
from dpmlite.core._special cimport log_rising_of_lane
from dpmlite.families._soft_component cimport SoftComponent


cdef class PoissonGammaPrior:
    cdef Py_ssize_t n_columns, width  # width: columns, padded to whole vectors
    cdef double power                 # zeta of the likelihood
    cdef double least_a0
    cdef list a0, b0
    cdef double[::1] a, b             # [column] a0 and b0, padded with 1
    cdef double[::1] log_factorial    # [x] of small counts
    cdef double[::1] least_cost       # [x] of them, of one cell at the rate that fits it best
    cdef dict by_power                # priors that differ in their power

    cdef PoissonGammaPrior with_power(self, double power)


cdef class PoissonGammaStatistics(SoftComponent):
    cdef PoissonGammaPrior prior
    cdef double most_shape          # not below any a
    cdef double *log_factorials     # [slot] sum of log x! of all cells
    cdef double *kept               # [slot] what removals left of sums, least fraction
    cdef double *base               # [slot] log density of a row of zeros
    cdef double *shape              # [column][slot] a of the posterior
    cdef double *zero_score         # [column][slot] log density of a 0
    cdef double *log_rate           # [column][slot] log(b + power)
    # [slot][6 widths] of each column:
    cdef double *sums               # sum of the cells
    cdef double *cells              # weight of the cells
    cdef double *log_ratio          # log(1 + power / b)
    cdef double *slot_log_rate      # log(b + power), once more
    cdef double *member_log_ratio   # both without a member
    cdef double *member_log_rate

    cdef int begin(self, PoissonGammaPrior prior) except -1
    cdef void lay_out(self) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil


cdef inline inlined_double log1p_of_lane(double part) noexcept nogil:
    """log(1 + part): the factor corrects for the rounding of the sum."""
    cdef double sum = 1.0 + part
    return log_positive(sum) * (part / (sum - 1.0)) if sum > 1.0 else part


cdef inline inlined_double log_evidence(double a, double b, double events,
                                        double exposure) noexcept nogil:
    """Log marginal of events in an exposure, for a rate of Gamma(a, b), but for factorials."""
    return (log_rising_of_lane(a, events) - a * log1p_of_lane(exposure / b)
            - events * log_positive(b + exposure))

cdef double row_log_factorials(PoissonGammaPrior prior, const Row *row) noexcept nogil
cdef double row_least_cost(PoissonGammaPrior prior, const Row *row) noexcept nogil
cdef bint hides_others(PoissonGammaStatistics self, const Row *row, double log_factorials,
                       Py_ssize_t k) noexcept nogil
cdef double kept_without(PoissonGammaStatistics self, const Row *row, double log_factorials,
                         Py_ssize_t k) noexcept nogil
