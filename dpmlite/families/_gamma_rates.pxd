from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport LANES, inlined_double, inlined_void, larger, log_positive
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


cdef class GammaRates(SoftComponent):
    cdef PoissonGammaPrior prior
    cdef Py_ssize_t n_counts        # columns of counts
    cdef double *log_factorials     # [slot] sum of log(x! / e^x) of all cells
    cdef double *kept               # [slot] what removals left, least fraction
    # [slot][column], the cells after the sums, each padded to whole vectors:
    cdef double *sums               # sum of the cells
    cdef double *cells              # their exposure: their weight, if none is told

    cdef int begin(self, PoissonGammaPrior prior) except -1
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    cdef double marginal(self, Py_ssize_t k) noexcept nogil
    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil
    cdef int expect(self) except -1


cdef inline inlined_double log1p_of_lane(double part) noexcept nogil:
    """log(1 + part): the factor corrects for the rounding of the sum."""
    cdef double sum = 1.0 + part
    return log_positive(sum) * (part / (sum - 1.0)) if sum > 1.0 else part


cdef inline inlined_double log_evidence(double a, double b, double events,
                                        double exposure) noexcept nogil:
    """Log marginal of events in an exposure, for a rate of Gamma(a, b), but for factorials."""
    return (log_rising_of_lane(a, events) - a * log1p_of_lane(exposure / b)
            - events * log_positive(b + exposure))


cdef inline inlined_void read_lane(const Row *row, Py_ssize_t first, Py_ssize_t n, double *x,
                                   double *there) noexcept nogil:
    """Read n cells from column `first`: counts, 0 if there is none, and whether there is one."""
    cdef Py_ssize_t i
    for i in range(LANES):
        x[i] = there[i] = 0.0
    for i in range(n):
        there[i] = 1.0 if row.values[first + i] == row.values[first + i] else 0.0
        x[i] = larger(row.values[first + i], 0.0)

cdef double row_log_factorials(PoissonGammaPrior prior, const Row *row) noexcept nogil
cdef double row_least_cost(PoissonGammaPrior prior, const Row *row) noexcept nogil
