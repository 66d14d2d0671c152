from dpmlite.core._simd cimport clones_void
from dpmlite.families._normal_gamma_statistics cimport NormalGammaStatistics

cdef double log_marginal(NormalGammaStatistics self, Py_ssize_t k) noexcept nogil
cdef clones_void merged_marginals(NormalGammaStatistics self, Py_ssize_t j, Py_ssize_t first,
                                  double *out) noexcept nogil
