from dpmlite.core._constants cimport LOG_2PI
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_double, clones_ssize, clones_void, inlined_double
from dpmlite.families._normal_known_variance_statistics cimport KnownVarianceStatistics


cdef inline inlined_double log_evidence(KnownVarianceStatistics self, double n,
                                        double loss) noexcept nogil:
    """Log marginal of n rows, from what their squares and determinants cost."""
    return -0.5 * (n * self.n_columns * LOG_2PI + loss) - n * self.log_scale


cdef double log_constant(KnownVarianceStatistics self, double n, double w) noexcept nogil
cdef double score_new(KnownVarianceStatistics self, const Row *row) noexcept nogil
cdef clones_double scaled_distance(KnownVarianceStatistics self, const Row *row, Py_ssize_t k,
                                   double other) noexcept nogil
cdef clones_ssize costs_in_all_slots(KnownVarianceStatistics self, const double *row,
                                     const double *log_weight, double limit,
                                     double *out) noexcept nogil
cdef clones_void merged_marginals(KnownVarianceStatistics self, Py_ssize_t j, Py_ssize_t first,
                                  double *out) noexcept nogil
