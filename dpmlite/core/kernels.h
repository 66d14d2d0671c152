/* Macros and inline functions of the kernels. */
#ifndef DPMLITE_KERNELS_H
#define DPMLITE_KERNELS_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "constants.h"

/* For core/simd. */

/* One binary for every x86-64: the loader picks the widest clone that the processor runs.
   Elsewhere (clang, musl, ARM, Windows, macOS) the plain function is built. Cython repeats a
   function's attributes on variables, of its result and of its address in another module: gcc
   ignores them there, and clang stops with an error. */
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

/* A lower bound of log2(x) in single precision, at most 0.08 % below it; infinity counts as 3e38. */
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

/* For core/atomics. */

#if defined(__GNUC__)
#  include <sched.h>
#  define DPM_HAS_ATOMICS 1
#  define dpm_load(x) __atomic_load_n(x, __ATOMIC_ACQUIRE)
#  define dpm_store(x, value) __atomic_store_n(x, value, __ATOMIC_RELEASE)
#  define dpm_fetch_add(x, value) __atomic_fetch_add(x, value, __ATOMIC_RELAXED)
#  define dpm_yield_processor() sched_yield()
#else  /* for one thread only */
#  define DPM_HAS_ATOMICS 0
#  define dpm_load(x) (*(x))
#  define dpm_store(x, value) (*(x) = (value))
#  define dpm_fetch_add(x, value) ((*(x) += (value)) - (value))
#  define dpm_yield_processor()
#endif
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
#  define dpm_pause() __builtin_ia32_pause()
#elif defined(__GNUC__) && defined(__aarch64__)
#  define dpm_pause() __asm__ __volatile__("yield")
#else
#  define dpm_pause()
#endif

/* For core/rows. */

#if defined(__GNUC__)
#  define DPM_FETCH(address) __builtin_prefetch(address)
#else
#  define DPM_FETCH(address) (void) (address)
#endif

typedef struct {  /* named, so that functions that return it can be inlined ones */
    const double *values;
    const Py_ssize_t *columns;
    Py_ssize_t n_values;
    double weight;
} dpm_row;

/* For families/normal_gamma: numbers that threads store and load at once, never half of one. */

#if defined(__GNUC__) && __SIZEOF_POINTER__ >= 8
DPM_INLINE double dpm_recall(const double *x) {
    double y;
    __atomic_load(x, &y, __ATOMIC_RELAXED);
    return y;
}
DPM_INLINE void dpm_remember(double *x, double y) { __atomic_store(x, &y, __ATOMIC_RELAXED); }
#elif defined(_WIN64)
DPM_INLINE double dpm_recall(const double *x) { return *(const volatile double *) x; }
DPM_INLINE void dpm_remember(double *x, double y) { *(volatile double *) x = y; }
#else  /* a double is stored in two halves: nothing is remembered */
DPM_INLINE double dpm_recall(const double *x) { (void) x; return NAN; }
DPM_INLINE void dpm_remember(double *x, double y) { (void) x; (void) y; }
#endif

/* For families/beta_bernoulli. */

/* Whether LANES values are all 0, of either sign. */
static inline int dpm_all_zero(const double *x) {
    uint64_t b[8];
    memcpy(b, x, sizeof b);
    return ((b[0] | b[1] | b[2] | b[3] | b[4] | b[5] | b[6] | b[7]) << 1) == 0;
}

/* For sweeps/screening_bounds. */

/* The bits of |x| as an integer. Their order is that of |x|, with NaN above infinity, and the
   larger of two is one vector instruction. */
DPM_INLINE int32_t dpm_magnitude_bits(float x) {
    int32_t bits;
    memcpy(&bits, &x, 4);
    return bits & 0x7FFFFFFF;
}

DPM_INLINE float dpm_from_bits(int32_t bits) {
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

/* For moves/normality_sums. */

/* The bin, of n < 16, that z lies in; n if z is missing. Vectors may lack conversions to integers, so
   the whole part of x is read off the mantissa of 16 + x. */
DPM_INLINE uint64_t dpm_bin_of(double z, double n) {
    uint64_t bits;
    double x = 2.0 * z + 0.5 * n;
    x = x > 0.0 ? x : 0.0;
    x = x < n - 1.0 ? x : n - 1.0;
    x = 16.0 + (z == z ? x : n);
    memcpy(&bits, &x, 8);
    return (bits >> 48) & 15;
}

#endif
