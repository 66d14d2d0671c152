from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_double, clones_void
from dpmlite.families._beta_bernoulli_counts cimport BetaBernoulliCounts

cdef clones_double score_copies(BetaBernoulliCounts self, const Row *row, Py_ssize_t k,
                                double taken) noexcept nogil
cdef clones_void lower_bounds(BetaBernoulliCounts self, const Row *row, const double *log_weight,
                              double limit, double *out) noexcept nogil
