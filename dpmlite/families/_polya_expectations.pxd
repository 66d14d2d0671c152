from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_void
from dpmlite.families._polya_terms cimport PolyaTerms

cdef void expected_logs(const PolyaTerms *u, Py_ssize_t n_slots, double *out) noexcept nogil
cdef clones_void expected_word_scores(const double *expected, Py_ssize_t capacity,
                                      Py_ssize_t n_slots, const Row *row,
                                      double *out) noexcept nogil
