# Empty slots, whose count is 0, are passed over.
cdef double log_prob_counts_c(const double *counts, Py_ssize_t n_counts, double alpha) noexcept nogil
