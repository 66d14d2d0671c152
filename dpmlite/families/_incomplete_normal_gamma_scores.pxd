from dpmlite.core._simd cimport clones_double
from dpmlite.families._incomplete_normal_gamma_statistics cimport IncompleteStatistics

cdef clones_double weighted_score(IncompleteStatistics self, double w, Py_ssize_t k) noexcept nogil
cdef double score_without(IncompleteStatistics self, double w, Py_ssize_t k) noexcept nogil
cdef clones_double log_marginal(IncompleteStatistics self, Py_ssize_t k) noexcept nogil
cdef clones_double merged_log_marginal(IncompleteStatistics self, Py_ssize_t j,
                                       Py_ssize_t k) noexcept nogil
