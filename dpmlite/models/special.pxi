"""Kernel of special.py: log-gamma and its relatives, for positive arguments.

What is inlined into other kernels is here, too, and what lets compilers make vectors of their loops.
"""

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    #define DPM_LOG_2 0.693147180559945309417
    #define DPM_LOG_PI 1.144729885849400174143
    #define DPM_LOG_2PI 1.837877066409345483561
    #define DPM_LEAST_LOG -700.0  /* e to less than this counts as nothing */
    #define DPM_HALF 0.5f  /* in single precision */

    /* One binary for every x86-64: the loader picks the widest clone that the processor runs.
       Elsewhere (clang, musl, ARM, Windows, macOS) the plain function is built. */
    #if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
    #  if __GNUC__ >= 12
    #    define DPM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
    #  endif
    #endif
    #ifndef DPM_CLONES
    #  define DPM_CLONES
    #endif
    /* What a clone calls must be inlined into it, or it is built for the oldest processor. */
    #if defined(__GNUC__)
    #  define DPM_ALWAYS_INLINE __attribute__((always_inline))
    #else
    #  define DPM_ALWAYS_INLINE
    #endif
    #define DPM_INLINE static inline DPM_ALWAYS_INLINE

    /* Splits a positive normal x into m in [sqrt(1/2), sqrt(2)) and *exponent with x = m 2^exponent.
       Integer steps that every vector width has: no 64-bit arithmetic shift, no conversion. */
    DPM_INLINE double dpm_split(double x, double *exponent) {
        uint64_t bits, biased;
        double m, e;
        memcpy(&bits, &x, 8);
        biased = (bits + (0x3FF0000000000000u - 0x3FE6A09E667F3BCDu)) >> 52;
        bits -= (biased << 52) - 0x3FF0000000000000u;
        biased |= 0x4330000000000000u;  /* 2^52 + biased, as a double */
        memcpy(&m, &bits, 8);
        memcpy(&e, &biased, 8);
        *exponent = e - (4503599627370496.0 + 1023.0);
        return m;
    }

    /* A lower bound of log2(x), x = (1 + f) 2^e positive and normal, at most 0.03 below it: the
       parabola through the ends of log2(1 + f) that is no steeper at f = 0 and no flatter at 1. */
    DPM_INLINE double dpm_log2_floor(double x) {
        uint64_t bits, biased;
        double m, e;
        memcpy(&bits, &x, 8);
        biased = (bits >> 52) | 0x4330000000000000u;
        bits = (bits & 0x000FFFFFFFFFFFFFu) | 0x3FF0000000000000u;
        memcpy(&m, &bits, 8);
        memcpy(&e, &biased, 8);
        m -= 1.0;
        return e - (4503599627370496.0 + 1023.0) + m * (1.2786 - 0.2786 * m);
    }

    /* The same in single precision, at most 0.08 % below; infinity counts as 3e38. */
    DPM_INLINE float dpm_log2_floor_single(float x) {
        uint32_t bits;
        float m, e;
        x = x < 3.0e38f ? x : 3.0e38f;
        memcpy(&bits, &x, 4);
        e = (float) ((int32_t) (bits >> 23) - 127);
        bits = (bits & 0x007FFFFFu) | 0x3F800000u;
        memcpy(&m, &bits, 4);
        m -= 1.0f;
        return e + m * (1.44155f + m * (-0.70147f + m * (0.36633f + m * -0.10722f)));
    }

    /* log(x) of a positive normal x, 2 atanh((m - 1) / (m + 1)) after the split; error below 2 ulp. */
    DPM_INLINE double dpm_log(double x) {
        double e, m = dpm_split(x, &e);
        double f = (m - 1.0) / (m + 1.0), g = f * f;
        double series = 1.0 + g * (1.0/3 + g * (1.0/5 + g * (1.0/7 + g * (1.0/9 + g * (1.0/11
            + g * (1.0/13 + g * (1.0/15 + g * (1.0/17 + g * (1.0/19)))))))));
        return e * DPM_LOG_2 + 2.0 * f * series;
    }

    /* exp(x) for -700 < x < 700, elsewhere anything; error below 2 ulp. x = n log 2 + r, and n in
       the lowest bits of t, from where it goes to the exponent. */
    DPM_INLINE double dpm_exp(double x) {
        double t = x * 1.44269504088896340736 + 6755399441055744.0;  /* 1.5 2^52 */
        double n = t - 6755399441055744.0, power;
        double r = x - n * 0.693147180369123816490 - n * 1.90821492927058770002e-10;
        double series = 1.0/3628800 + r * (1.0/39916800 + r * (1.0/479001600 + r * (1.0/6227020800.0)));
        uint64_t bits;
        series = 1.0/120 + r * (1.0/720 + r * (1.0/5040 + r * (1.0/40320 + r * (1.0/362880 + r * series))));
        series = 1.0 + r * (1.0 + r * (1.0/2 + r * (1.0/6 + r * (1.0/24 + r * series))));
        memcpy(&bits, &t, 8);
        bits = (bits << 52) + 0x3FF0000000000000u;
        memcpy(&power, &bits, 8);
        return series * power;
    }
    """
    ctypedef void clones_void "DPM_CLONES void"
    ctypedef double clones_double "DPM_CLONES double"
    ctypedef float clones_float "DPM_CLONES float"
    ctypedef Py_ssize_t clones_ssize "DPM_CLONES Py_ssize_t"
    ctypedef void inlined_void "DPM_ALWAYS_INLINE void"
    ctypedef Py_ssize_t inlined_ssize "DPM_ALWAYS_INLINE Py_ssize_t"
    ctypedef double inlined_double "DPM_ALWAYS_INLINE double"
    ctypedef bint inlined_bint "DPM_ALWAYS_INLINE int"
    double LOG_2 "DPM_LOG_2"
    double LOG_PI "DPM_LOG_PI"
    double LOG_2PI "DPM_LOG_2PI"
    double LEAST_LOG "DPM_LEAST_LOG"
    float HALF "DPM_HALF"
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


cdef clones_void log_rising_of(double *x, const double *n, Py_ssize_t n_lanes) noexcept nogil:
    """x[i] becomes log of Gamma(x[i] + n[i]) / Gamma(x[i]), for so many times LANES values."""
    cdef Py_ssize_t i
    for i in range(n_lanes * LANES):
        x[i] = log_rising_of_lane(x[i], n[i])


cdef double log_gamma_c(double x) noexcept nogil:
    return log_gamma_of_lane(x)


cdef double log_rising_c(double x, double n) noexcept nogil:
    return log_rising_of_lane(x, n)


cdef double SHIFTED = 10.0


cdef double log_gamma_half_step_c(double x) noexcept nogil:
    cdef double shift = 1.0, r, series
    while x < SHIFTED:
        shift *= x / (x + 0.5)
        x += 1.0
    r = 1.0 / (x * x)
    series = (1.0 / 8 - r * (1.0 / 192 - r * (1.0 / 640 - r * (17.0 / 14336 - r * (
        31.0 / 18432 - r * (691.0 / 180224 - r * 5461.0 / 425984)))))) / x
    return 0.5 * log(x) - series + log(shift)


cdef double digamma_c(double x) noexcept nogil:
    cdef double shift = 0.0, r, series
    while x < SHIFTED:
        shift += 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    series = r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (
        1.0 / 132 - r * (691.0 / 32760 - r / 12))))))
    return log(x) - 0.5 / x - series - shift


cdef double trigamma_c(double x) noexcept nogil:
    cdef double shift = 0.0, r, series
    while x < SHIFTED:
        shift += 1.0 / (x * x)
        x += 1.0
    r = 1.0 / (x * x)
    series = r * (1.0 / 6 - r * (1.0 / 30 - r * (1.0 / 42 - r * (1.0 / 30 - r * (
        5.0 / 66 - r * (691.0 / 2730 - r * 7.0 / 6))))))
    return (1.0 + 0.5 / x + series) / x + shift


def log_gamma(double x):
    require_positive(x)
    return log_gamma_c(x)


def log_gamma_half_step(double x):
    require_positive(x)
    return log_gamma_half_step_c(x)


def log_rising(double x, double n):
    require_positive(x)
    if not n >= 0.0:
        raise ValueError(f"n must not be negative, got {n}")
    return log_rising_c(x, n)


def digamma(double x):
    require_positive(x)
    return digamma_c(x)


def trigamma(double x):
    require_positive(x)
    return trigamma_c(x)


def multivariate_log_gamma(double x, Py_ssize_t p):
    if p < 1:
        raise ValueError(f"p must be at least 1, got {p}")
    if not x > 0.5 * (p - 1):
        raise ValueError(f"x must be above (p - 1) / 2 = {0.5 * (p - 1)}, got {x}")
    cdef double total = 0.25 * p * (p - 1) * LOG_PI
    cdef Py_ssize_t j
    for j in range(p):
        total += log_gamma_c(x - 0.5 * j)
    return total


cdef int require_positive(double x) except -1:
    if not x > 0.0:
        raise ValueError(f"x must be positive, got {x}")
    return 0
