from dpmlite.core._simd cimport inlined_double, larger
from dpmlite.families._normal_columns cimport NormalPrior


cdef inline inlined_double merged_rate(double c0, double cj, double ck, double mj, double mk,
                                       double bj, double bk) noexcept nogil:
    """b of two slots' rows together, eq. (13)."""
    cdef double between = cj * ck * (mj - mk) * (mj - mk) - c0 * (cj * mj * mj + ck * mk * mk)
    return larger(bj + bk - 1.0 + 0.5 * between / (cj + ck - c0), 1.0)


cdef class NormalGammaPrior:
    cdef Py_ssize_t n_columns
    cdef double power              # zeta of the likelihood
    cdef double c0, a0             # divided by zeta, as c and a of the posteriors are
    cdef double log_scale
    cdef list m0, b0
    cdef double[::1] origin, unit  # [column] m0 and 1 / sqrt(b0 / zeta)
    cdef double[::1] log_scales    # [column] log sqrt(b0), padded
    cdef double[::1] cached        # [n] values of at_mean that were found, or NaN
    cdef double given_c0, given_a0
    cdef dict by_power             # priors that differ in their power

    cdef NormalGammaPrior with_power(self, double power)
    cdef NormalPrior columns(self, bint has_gaps) noexcept nogil
    cdef double at_mean(self, double n) noexcept nogil
