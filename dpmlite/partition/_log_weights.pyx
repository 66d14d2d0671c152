"""Prior weights of clusters for one more row, from a table.

Where the likelihood counts with a power, clusters weigh as in `crp.log_prob_counts`, and their log
weights are divided by the power. With power 1 they are the logs of counts and of alpha.
"""

from functools import lru_cache

from dpmlite.core._special cimport log_gamma_c

cdef enum:
    N_TABLES = 16  # powers whose tables are kept


cdef class LogWeights:

    def __cinit__(self, double power):
        cdef int n
        self.power = power
        for n in range(1, N_TABLED_COUNTS):
            self.table[n] = log_weight(n, power)

    cdef double of_new(self, double alpha) noexcept nogil:
        """Log weight of a new cluster."""
        if self.power == 1.0:
            return log(alpha)
        return (log(alpha * self.power) + log_gamma_c(self.power)) / self.power


cdef LogWeights OF_WHOLE_ROWS = LogWeights(1.0)


cdef LogWeights log_weights_of(double power):
    return OF_WHOLE_ROWS if power == 1.0 else log_weights_of_part(power)


log_weights_of_part = lru_cache(N_TABLES)(LogWeights)
