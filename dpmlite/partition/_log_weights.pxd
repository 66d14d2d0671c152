cimport cython
from libc.math cimport log

from dpmlite.core._simd cimport inlined_double
from dpmlite.core._special cimport log_rising_c

cdef enum:
    N_TABLED_COUNTS = 4096  # counts from 0 on whose log weights are in a table


@cython.final  # its methods are called directly, not through a table
cdef class LogWeights:
    cdef double power
    cdef double[N_TABLED_COUNTS] table

    # Log weight of a cluster of n > 0 rows for one more row.
    cdef inline inlined_double of(self, double n) noexcept nogil:
        if 1.0 <= n < N_TABLED_COUNTS and <int> n == n:
            return self.table[<int> n]
        return log_weight(n, self.power)

    cdef double of_new(self, double alpha) noexcept nogil

# Log of Gamma(power n + power) / Gamma(power n), divided by the power.
cdef inline inlined_double log_weight(double n, double power) noexcept nogil:
    return log(n) if power == 1.0 else log_rising_c(power * n, power) / power

cdef LogWeights log_weights_of(double power)
