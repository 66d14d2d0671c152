# Student-t densities of one row in every slot, ready to be scored.

from dpmlite.models._special cimport inlined_double

cdef extern from *:
    """
    #define DPM_REACH 536870912.0  /* 2^29 */
    #define DPM_LOG_2 0.693147180559945309417
    #define DPM_LOG_2PI 1.837877066409345483561
    """
    double REACH "DPM_REACH"
    double LOG_2 "DPM_LOG_2"
    double LOG_2PI "DPM_LOG_2PI"

cdef enum:
    WIDE = 32     # slots whose running products stay in registers
    NARROW = 16
    GROUP = 8     # columns whose factors cannot overflow when multiplied

cdef struct Densities:
    Py_ssize_t n_columns
    Py_ssize_t stride           # slots that memory is there for
    const double *origin        # [column] m0
    const double *unit          # [column] 1 / sqrt(b0)
    double *slope               # [column][slot] sqrt(t) = u slope - shift
    double *shift
    double *slot_slope          # [slot][2 columns] the same, to score a row in one slot
    double *slot_shift
    double *power               # [slot] a + 1/2
    double *constant            # [slot] log density at the mean


cdef inline inlined_double standardise(double x, double origin, double unit) noexcept nogil:
    cdef double u = (x - origin) * unit
    return REACH if u > REACH else (-REACH if u < -REACH else u)


cdef inline inlined_double larger(double x, double y) noexcept nogil:
    return x if x > y else y  # fmax would be a call


cdef double log_density_c(double x, double m, double c, double b, double a,
                          double weight) noexcept nogil
cdef double log_factors(const Densities *t, const double *row, Py_ssize_t k, double ratio,
                        bint exact) noexcept nogil
cdef double costs_below(const Densities *t, Py_ssize_t n_slots, const double *row,
                        const double *log_weight, double limit, double *out) noexcept nogil
