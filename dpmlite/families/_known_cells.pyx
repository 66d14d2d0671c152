"""Kernel of known_cells.py: what a row's missing cells leave of its residuals."""

from array import array

from libc.math cimport log


cdef double project_out_c(double *z, const double *reciprocal, double *columns, Py_ssize_t n_columns,
                          Py_ssize_t stride, Py_ssize_t n) noexcept nogil:
    cdef double log_det = 0.0, square
    cdef const double *a
    cdef Py_ssize_t c, j = n_columns - 1
    while j >= 0:
        a = columns + j * stride
        square = product(a, a, reciprocal, n)
        log_det += log(square)
        for c in range(j):
            subtract(columns + c * stride, a, reciprocal, square, n)
        subtract(z, a, reciprocal, square, n)
        j -= 1
    return log_det


cdef double product(const double *x, const double *y, const double *reciprocal,
                    Py_ssize_t n) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        total += x[i] * y[i] * reciprocal[i]
    return total


cdef void subtract(double *x, const double *a, const double *reciprocal, double square,
                   Py_ssize_t n) noexcept nogil:
    """Take the part along a, whose square is given, out of x."""
    cdef double share = product(a, x, reciprocal, n) / square
    cdef Py_ssize_t i
    for i in range(n):
        x[i] -= share * a[i]


def project_out(z, d, columns):
    cdef double[::1] left = array("d", z)
    cdef double[::1] reciprocal = array("d", [1.0 / d_i for d_i in d])
    cdef double[::1] rest = array("d", [x for column in columns for x in column] or [0.0])
    cdef Py_ssize_t n = left.shape[0]
    cdef double log_det = project_out_c(&left[0], &reciprocal[0], &rest[0], len(columns), n, n)
    return list(left), log_det
