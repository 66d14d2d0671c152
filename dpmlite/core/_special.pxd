from dpmlite.core._constants cimport LOG_2PI
from dpmlite.core._simd cimport clones_void, inlined_double, log_positive

# Functions `*_of_lane` are inlined into loops over lanes, which become vectors. They shift every
# argument by ten, so that there is no branch; a shift is exact to double precision for Stirling's
# series (MIN_STIRLING_ARGUMENT). Functions `*_c` are called for one argument.


cdef inline inlined_double ten_factors(double x) noexcept nogil:
    """x (x + 1) ... (x + 9), by which the shift divides Gamma(x + 10).

    Above 1e20 it is 1: the shift is less than the rounding of x, and the product might overflow.
    """
    cdef double product = (x * (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0)
                           * (x + 5.0) * (x + 6.0) * (x + 7.0) * (x + 8.0) * (x + 9.0))
    return product if x < 1e20 else 1.0


cdef inline inlined_double stirling(double z) noexcept nogil:
    """Stirling's series of log Gamma(z): what is added to (z - 1/2) log z - z + log(2 pi) / 2."""
    cdef double r = 1.0 / (z * z)
    return (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r * (
        1.0 / 1188 - r * (691.0 / 360360 - r / 156)))))) / z


cdef inline inlined_double log_gamma_of_lane(double x) noexcept nogil:
    """log Gamma(x)."""
    cdef double z = x + 10.0
    return ((z - 0.5) * log_positive(z) - z + 0.5 * LOG_2PI + stirling(z)
            - log_positive(ten_factors(x)))


cdef inline inlined_double log_rising_of_lane(double x, double n) noexcept nogil:
    """log Gamma(x + n) - log Gamma(x)."""
    cdef double z = x + 10.0, y = z + n, part = n / z, sum = 1.0 + part
    # log1p(part): the factor corrects for the rounding of 1 + part.
    cdef double log1p = log_positive(sum) * (part / (sum - 1.0)) if sum > 1.0 else part
    return (n * log_positive(z) + (y - 0.5) * log1p - n + stirling(y) - stirling(z)
            - log_positive(ten_factors(x + n) / ten_factors(x)))


cdef inline inlined_double log_half_step_of_lane(double x, double factor) noexcept nogil:
    """log Gamma(x + 1/2) - log Gamma(x) + log(factor) / 2, with fewer logarithms."""
    cdef double z = x + 10.0
    return (0.5 * log_positive(factor * z) - half_step_series(z)
            + log_positive(ten_factors(x) / ten_factors(x + 0.5)))


cdef inline inlined_double half_step_series(double z) noexcept nogil:
    """log(z) / 2 minus what half a step adds to log Gamma(z), for large z."""
    cdef double r = 1.0 / (z * z)
    return (1.0 / 8 - r * (1.0 / 192 - r * (1.0 / 640 - r * (17.0 / 14336 - r * (
        31.0 / 18432 - r * (691.0 / 180224 - r * 5461.0 / 425984)))))) / z


cdef clones_void log_rising_of(double *x, const double *n, Py_ssize_t n_vectors) noexcept nogil
cdef double log_gamma_c(double x) noexcept nogil
cdef double log_rising_c(double x, double n) noexcept nogil
cdef double log_gamma_half_step_c(double x) noexcept nogil
cdef double digamma_c(double x) noexcept nogil
cdef double trigamma_c(double x) noexcept nogil
