cdef double log_prob_counts_c(const double *counts, Py_ssize_t n_counts, double alpha,
                              double power, double discount) noexcept nogil
cdef double log_best_completion_c(double n_largest, double n_left,
                                  double log_alpha) noexcept nogil
cdef double log_best_growth_c(double n_largest, double n_left, double log_new) noexcept nogil
