# Empty slots, whose count is 0, are passed over.
cdef double log_prob_counts_c(const double *counts, Py_ssize_t n_counts, double alpha) noexcept nogil
# The larger of Gamma(n + R) / Gamma(n) and alpha^R, as a log.
cdef double log_best_completion_c(double n_largest, double n_left, double log_alpha) noexcept nogil
