# Vector loops: run-time dispatch, and sums and products over eight lanes.


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
    """exp(x) if x is above `least`, which is LEAST_LOG or more, else 0; x is less than 700."""
    cdef double power = exp_moderate(x)
    return power if x > least else 0.0


cdef inline inlined_double within(double x, double reach) noexcept nogil:
    """x, or the end of -reach .. reach that is nearest to it."""
    return larger(-reach, smaller(reach, x))  # NaN if x is


cdef enum:
    LANES = 8

cdef struct Products:
    double factor[LANES]  # the product of a lane is its factor times 2^exponent
    double exponent[LANES]


# Vectors of one value per column that are padded to a multiple of it need no loop for the rest.
cdef inline inlined_ssize padded_columns(Py_ssize_t n) noexcept nogil:
    return (n + LANES - 1) & ~(<Py_ssize_t> (LANES - 1))


cdef inline inlined_double sum_of(const double *lane) noexcept nogil:
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))


cdef inline inlined_double product_of(const double *lane) noexcept nogil:
    return ((lane[0] * lane[4]) * (lane[2] * lane[6])) * ((lane[1] * lane[5]) * (lane[3] * lane[7]))


cdef inline inlined_double most_of(const double *lane) noexcept nogil:
    return larger(larger(larger(lane[0], lane[4]), larger(lane[2], lane[6])),
                  larger(larger(lane[1], lane[5]), larger(lane[3], lane[7])))


cdef inline inlined_double least_lane(const double *lane) noexcept nogil:
    return smaller(smaller(smaller(lane[0], lane[4]), smaller(lane[2], lane[6])),
                   smaller(smaller(lane[1], lane[5]), smaller(lane[3], lane[7])))


cdef inline inlined_void begin_products(Products *products) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(LANES):
        products.factor[i], products.exponent[i] = 1.0, 0.0


cdef inline inlined_void multiply_by(Products *products, const double *factor) noexcept nogil:
    cdef double e = 0.0
    cdef Py_ssize_t i
    for i in range(LANES):
        products.factor[i] = split_exponent(products.factor[i] * factor[i], &e)
        products.exponent[i] += e


cdef inline inlined_double log_of_products(const Products *products) noexcept nogil:
    """Log of the product of all lanes."""
    return sum_of(products.exponent) * LOG_2 + log_positive(product_of(products.factor))
