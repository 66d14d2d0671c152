from dpmlite.core._simd cimport clones_void, inlined_double, log_positive


# The functions below always shift their argument by ten, so that a loop over them has no branch
# and is vectorised. Above 1e20 ten is nothing, and the products would overflow.
cdef inline inlined_double ten_factors(double x) noexcept nogil:
    cdef double product = (x * (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0)
                           * (x + 5.0) * (x + 6.0) * (x + 7.0) * (x + 8.0) * (x + 9.0))
    return product if x < 1e20 else 1.0


cdef inline inlined_double stirling(double z) noexcept nogil:
    cdef double r = 1.0 / (z * z)
    return (1.0 / 12 - r * (1.0 / 360 - r * (1.0 / 1260 - r * (1.0 / 1680 - r * (
        1.0 / 1188 - r * (691.0 / 360360 - r / 156)))))) / z


# Of lanes: inlined into loops over several, which become vectors; a single one is a call.
cdef inline inlined_double log_gamma_of_lane(double x) noexcept nogil:
    cdef double z = x + 10.0
    return ((z - 0.5) * log_positive(z) - z + 0.918938533204672741780 + stirling(z)
            - log_positive(ten_factors(x)))


cdef inline inlined_double log_rising_of_lane(double x, double n) noexcept nogil:
    cdef double z = x + 10.0, y = z + n, part = n / z, sum = 1.0 + part
    # log1p: what rounding took from 1 + part is put back as a factor.
    cdef double log1p = log_positive(sum) * (part / (sum - 1.0)) if sum > 1.0 else part
    return (n * log_positive(z) + (y - 0.5) * log1p - n + stirling(y) - stirling(z)
            - log_positive(ten_factors(x + n) / ten_factors(x)))

cdef clones_void log_rising_of(double *x, const double *n, Py_ssize_t n_lanes) noexcept nogil
cdef double log_gamma_c(double x) noexcept nogil
cdef double log_rising_c(double x, double n) noexcept nogil
cdef double log_gamma_half_step_c(double x) noexcept nogil
cdef double digamma_c(double x) noexcept nogil
cdef double trigamma_c(double x) noexcept nogil
