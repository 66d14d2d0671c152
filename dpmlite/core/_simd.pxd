# Vector loops. `clones_*` functions are compiled for several processors, and the loader chooses
# one; what they call is `inlined_*`. Sums and products of a loop are kept in LANES lanes, as many
# doubles as the widest vector has, and joined at its end.

from dpmlite.core._constants cimport LOG_2

cdef extern from "kernels.h":
    ctypedef void clones_void "DPM_CLONES void"
    ctypedef double clones_double "DPM_CLONES double"
    ctypedef float clones_float "DPM_CLONES float"
    ctypedef Py_ssize_t clones_ssize "DPM_CLONES Py_ssize_t"
    ctypedef void inlined_void "DPM_ALWAYS_INLINE void"
    ctypedef Py_ssize_t inlined_ssize "DPM_ALWAYS_INLINE Py_ssize_t"
    ctypedef double inlined_double "DPM_ALWAYS_INLINE double"
    ctypedef bint inlined_bint "DPM_ALWAYS_INLINE int"
    double log_positive "dpm_log"(double x) noexcept nogil
    double log2_floor "dpm_log2_floor"(double x) noexcept nogil
    float log2_floor_single "dpm_log2_floor_single"(float x) noexcept nogil
    double exp_moderate "dpm_exp"(double x) noexcept nogil
    double split_exponent "dpm_split"(double x, double *exponent) noexcept nogil


cdef inline inlined_double larger(double x, double y) noexcept nogil:
    return x if x > y else y  # fmax would be a call


cdef inline inlined_double smaller(double x, double y) noexcept nogil:
    return x if x < y else y


cdef inline inlined_double exp_above(double least, double x) noexcept nogil:
    """exp(x) of x < 700; 0 unless x is above `least`, which is MIN_EXP_ARGUMENT or more."""
    cdef double power = exp_moderate(x)
    return power if x > least else 0.0


cdef inline inlined_double within(double x, double reach) noexcept nogil:
    """x, clipped to -reach .. reach; NaN if x is."""
    return larger(-reach, smaller(reach, x))


cdef enum:
    LANES = 8  # doubles of 64 bytes, the widest vector

cdef struct Products:
    double factor[LANES]  # the product of a lane is its factor times 2^exponent
    double exponent[LANES]


cdef inline inlined_ssize padded_columns(Py_ssize_t n) noexcept nogil:
    """n, rounded up to whole vectors: loops over padded columns have no rest."""
    return (n + LANES - 1) & ~(<Py_ssize_t> (LANES - 1))


cdef inline inlined_double sum_of(const double *lane) noexcept nogil:
    """Sum of all lanes."""
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))


cdef inline inlined_double product_of(const double *lane) noexcept nogil:
    """Product of all lanes."""
    return ((lane[0] * lane[4]) * (lane[2] * lane[6])) * ((lane[1] * lane[5]) * (lane[3] * lane[7]))


cdef inline inlined_double most_of(const double *lane) noexcept nogil:
    """The largest lane."""
    return larger(larger(larger(lane[0], lane[4]), larger(lane[2], lane[6])),
                  larger(larger(lane[1], lane[5]), larger(lane[3], lane[7])))


cdef inline inlined_double least_lane(const double *lane) noexcept nogil:
    """The smallest lane."""
    return smaller(smaller(smaller(lane[0], lane[4]), smaller(lane[2], lane[6])),
                   smaller(smaller(lane[1], lane[5]), smaller(lane[3], lane[7])))


cdef inline inlined_void begin_products(Products *products) noexcept nogil:
    """Set the product of every lane to 1."""
    cdef Py_ssize_t i
    for i in range(LANES):
        products.factor[i], products.exponent[i] = 1.0, 0.0


cdef inline inlined_void multiply_by(Products *products, const double *factor) noexcept nogil:
    """Multiply each lane by a factor; products neither overflow nor underflow."""
    cdef double e = 0.0
    cdef Py_ssize_t i
    for i in range(LANES):
        products.factor[i] = split_exponent(products.factor[i] * factor[i], &e)
        products.exponent[i] += e


cdef inline inlined_double log_of_products(const Products *products) noexcept nogil:
    """Log of the product of all lanes."""
    return sum_of(products.exponent) * LOG_2 + log_positive(product_of(products.factor))
