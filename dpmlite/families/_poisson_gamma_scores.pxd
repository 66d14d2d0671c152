from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_void
from dpmlite.families._poisson_gamma_statistics cimport PoissonGammaStatistics

cdef clones_void event_costs(PoissonGammaStatistics self, const Row *row, const double *log_weight,
                             double *out) noexcept nogil
cdef double score_events(PoissonGammaStatistics self, const Row *row, double log_factorials,
                         Py_ssize_t k, double taken) noexcept nogil
cdef void expected_events(PoissonGammaStatistics self, const double *expected, const Row *row,
                          double *out) noexcept nogil
