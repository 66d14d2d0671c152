# Make z what no missing cell can change, and return log det of A^T diag(reciprocal) A. A has
# n_columns columns of n values, at a stride in `columns`, which is overwritten.
cdef double project_out_c(double *z, const double *reciprocal, double *columns, Py_ssize_t n_columns,
                          Py_ssize_t stride, Py_ssize_t n) noexcept nogil
