"""The prior NG(m0, c0, a0, b0) of every column, which components of the same prior share."""

from array import array

from libc.math cimport NAN, log, sqrt

from dpmlite.core._constants cimport LOG_2PI
from dpmlite.core._simd cimport padded_columns
from dpmlite.core._special cimport log_gamma_half_step_c, log_rising_c

from dpmlite.core.checks import check_positive, check_power, check_same_length

# Threads find the same number and remember it: it is there as a whole, or not at all.
cdef extern from "kernels.h":
    double recall "dpm_recall"(const double *x) noexcept nogil
    void remember "dpm_remember"(double *x, double y) noexcept nogil

cdef enum:
    N_CACHED_COUNTS = 4096  # counts of rows: a fit asks for the same again and again


cdef class NormalGammaPrior:

    def __init__(self, m0, double c0, double a0, b0, double power):
        check_same_length("m0", m0, "b0", b0)
        for name, values in (("c0", [c0]), ("a0", [a0]), ("b0", b0)):
            check_positive(name, values)
        check_power(power)
        self.given_c0, self.given_a0 = c0, a0
        self.power, self.c0, self.a0 = power, c0 / power, a0 / power
        self.by_power = {}
        self.m0 = array("d", m0).tolist()
        self.b0 = array("d", b0).tolist()
        self.n_columns = len(self.m0)
        self.origin = array("d", self.m0)
        self.unit = array("d", [1.0 / sqrt(b / power) for b in self.b0])
        log_scales = [0.5 * log(b) for b in self.b0]
        self.log_scale = sum(log_scales)
        spare = padded_columns(self.n_columns) - self.n_columns
        self.log_scales = array("d", log_scales + [0.0] * spare)
        self.cached = array("d", [NAN]) * N_CACHED_COUNTS

    cdef NormalGammaPrior with_power(self, double power):
        """Return the same prior with another power; trials ask for few, again and again."""
        if power == self.power:
            return self
        if power not in self.by_power:
            self.by_power[power] = NormalGammaPrior(
                self.m0, self.given_c0, self.given_a0, self.b0, power)
        return self.by_power[power]

    cdef NormalPrior columns(self, bint has_gaps) noexcept nogil:
        cdef NormalPrior prior
        prior.c0, prior.a0, prior.has_gaps = self.c0, self.a0, has_gaps
        prior.origin, prior.unit = &self.origin[0], &self.unit[0]
        return prior

    cdef double at_mean(self, double n) noexcept nogil:
        """Return the log predictive, for b of 1, of a row at the mean of n others."""
        cdef double found
        if n >= N_CACHED_COUNTS or <int> n != n:
            return find_at_mean(self, n)
        found = recall(&self.cached[<int> n])
        if found != found:
            found = find_at_mean(self, n)
            remember(&self.cached[<int> n], found)
        return found


cdef double find_at_mean(NormalGammaPrior self, double n) noexcept nogil:
    cdef double c = self.c0 + n, a = self.a0 + 0.5 * n, power = self.power
    if power == 1.0:
        return self.n_columns * (log_gamma_half_step_c(a) + 0.5 * (log(c / (c + 1.0)) - LOG_2PI))
    return self.n_columns * (
        (log_rising_c(power * a, 0.5 * power) + 0.5 * log(c / (c + 1.0))) / power - 0.5 * LOG_2PI)
