from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport LANES, clones_double, clones_void, inlined_void, larger
from dpmlite.families._poisson_gamma_statistics cimport PoissonGammaStatistics


cdef inline inlined_void read_lane(const Row *row, Py_ssize_t first, Py_ssize_t n, double *x,
                                   double *there) noexcept nogil:
    """Read n cells from column `first`: counts, 0 if there is none, and whether there is one."""
    cdef Py_ssize_t i
    for i in range(LANES):
        x[i] = there[i] = 0.0
    for i in range(n):
        there[i] = 1.0 if row.values[first + i] == row.values[first + i] else 0.0
        x[i] = larger(row.values[first + i], 0.0)

cdef clones_void event_costs(PoissonGammaStatistics self, const Row *row, const double *log_weight,
                             double *out) noexcept nogil
cdef double score_events(PoissonGammaStatistics self, const Row *row, double log_factorials,
                         Py_ssize_t k, double taken) noexcept nogil
cdef clones_double log_marginal(PoissonGammaStatistics self, Py_ssize_t j, Py_ssize_t k,
                                double part) noexcept nogil
cdef void find_expectations(PoissonGammaStatistics self, double *out) noexcept nogil
cdef void expected_events(PoissonGammaStatistics self, const double *expected, const Row *row,
                          double *out) noexcept nogil
