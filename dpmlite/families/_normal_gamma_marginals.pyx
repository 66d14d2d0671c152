"""Log marginals of normal-gamma clusters, and of each of them merged with one."""

from dpmlite.core._constants cimport LOG_2, LOG_2PI
from dpmlite.core._simd cimport inlined_double, inlined_void, log_positive, split_exponent
from dpmlite.core._special cimport log_rising_of_lane
from dpmlite.families._normal_gamma_prior cimport merged_rate
from dpmlite.families._slot_vectors cimport NARROW, padded
from dpmlite.families._student_t cimport FACTOR_GROUP


cdef double log_marginal(NormalGammaStatistics self, Py_ssize_t k) noexcept nogil:
    return log_evidence(
        self.a0, self.c0, self.n_columns, self.log_scale, self.power, self.n[k], self.log_b[k])


cdef clones_void merged_marginals(NormalGammaStatistics self, Py_ssize_t j, Py_ssize_t first,
                                  double *out) noexcept nogil:
    cdef Py_ssize_t block = first - first % NARROW, end = padded(self.n_slots)
    while block < end:
        merged_block(self, j, block, out)
        block += NARROW


cdef inline inlined_void merged_block(NormalGammaStatistics self, Py_ssize_t j, Py_ssize_t first,
                                      double *out) noexcept nogil:
    """Log marginals of slot j with each of NARROW slots from `first`."""
    cdef double product[NARROW]
    cdef double exponent[NARROW]
    # Copies, for the compiler cannot know that `out` is none of these.
    cdef double a0 = self.a0, c0 = self.c0, n_columns = self.n_columns, log_scale = self.log_scale
    cdef double power = self.power
    cdef double nj = self.n[j], cj = self.c0 + self.n[j], mj, bj, e = 0.0
    cdef const double *m = self.across_m + first
    cdef const double *b = self.across_b + first
    cdef const double *n = self.n + first
    cdef Py_ssize_t d
    cdef int i
    for i in range(NARROW):
        product[i] = 1.0
        exponent[i] = 0.0
    for d in range(self.n_columns):
        mj = self.m[j * self.n_along + d]
        bj = self.b[j * self.n_along + d]
        for i in range(NARROW):
            product[i] *= merged_rate(c0, cj, c0 + n[i], mj, m[i], bj, b[i])
        m += self.capacity
        b += self.capacity
        if d % FACTOR_GROUP == FACTOR_GROUP - 1:
            for i in range(NARROW):
                product[i] = split_exponent(product[i], &e)
                exponent[i] += e
    for i in range(NARROW):
        out[first + i] = log_evidence(a0, c0, n_columns, log_scale, power, nj + n[i],
                                      exponent[i] * LOG_2 + log_positive(product[i]))


cdef inline inlined_double log_evidence(double a0, double c0, double n_columns, double log_scale,
                                        double power, double n, double log_b) noexcept nogil:
    """Log marginal of n rows, from the log of the product of their rates."""
    cdef double counts = (log_rising_of_lane(power * a0, power * 0.5 * n)
                          + 0.5 * log_positive(c0 / (c0 + n)))
    return (n_columns * (counts / power - 0.5 * n * LOG_2PI)
            - (a0 + 0.5 * n) * log_b - n * log_scale)
