from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_void
from dpmlite.families._normal_gamma_statistics cimport NormalGammaStatistics

cdef double log_constant(NormalGammaStatistics self, double a, double c, double w,
                         double log_b) noexcept nogil
cdef double score_in_own_slot(NormalGammaStatistics self, const Row *row, Py_ssize_t k,
                              bint exact) noexcept nogil
cdef void score_batch(NormalGammaStatistics self, const Row *rows, const Py_ssize_t *slots,
                      Py_ssize_t n, double *out) noexcept nogil
cdef clones_void heavy_costs(NormalGammaStatistics self, const Row *row, const double *log_weight,
                             double *out) noexcept nogil
