from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_double, clones_void
from dpmlite.families._categorical_counts cimport CategoricalCounts

cdef clones_double sum_lines(CategoricalCounts self, const Row *row,
                             const double *score) noexcept nogil
cdef clones_void line_costs(CategoricalCounts self, const Row *row, const double *base,
                            const double *line_score, const double *log_weight,
                            double *out) noexcept nogil
cdef clones_double score_copies(CategoricalCounts self, const Row *row, Py_ssize_t k,
                                double taken, double more) noexcept nogil
cdef clones_double log_marginal(CategoricalCounts self, Py_ssize_t j, Py_ssize_t k,
                                double part) noexcept nogil
cdef void expected_lines(CategoricalCounts self, double *out) noexcept nogil
