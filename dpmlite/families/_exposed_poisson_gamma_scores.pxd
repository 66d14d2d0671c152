from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_double, clones_void
from dpmlite.families._exposed_poisson_gamma_statistics cimport ExposedPoissonGammaStatistics

cdef clones_void exposed_costs(ExposedPoissonGammaStatistics self, const Row *row,
                               const double *log_weight, double *out) noexcept nogil
cdef clones_double score_exposed(ExposedPoissonGammaStatistics self, const Row *row, Py_ssize_t k,
                                 double taken) noexcept nogil
cdef void expected_counts(ExposedPoissonGammaStatistics self, const double *expected,
                          const Row *row, double *out) noexcept nogil
