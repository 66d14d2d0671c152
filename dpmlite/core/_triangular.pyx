"""Kernel of triangular.py: W and d of a scatter matrix A, W A W^T = diag(d).

For other kernels, a vector has padded_columns(D) doubles, zero from D on, and a matrix D such
columns. Above its diagonal, a lower triangular matrix holds zeros, or finite numbers without
meaning where that is said.
"""

from array import array

from dpmlite.core._memory cimport double_array


def factorise(A, double least):
    cdef Py_ssize_t i, n = len(A)
    cdef double[::1] rest = columns_of(A), W = columns_of(identity(n))
    cdef double[::1] factor = double_array(padded_columns(n))
    if n:
        eliminate(&rest[0], least, n, &W[0], n, &factor[0])
    return rows_of(W, n), [rest[i * padded_columns(n) + i] for i in range(n)]


def residuals(W, x):
    cdef Py_ssize_t i, n = len(x)
    cdef double[::1] columns = columns_of(W), values = array("d", x)
    cdef double[::1] z = double_array(padded_columns(n))
    if n:
        residuals_c(&columns[0], &values[0], n, &z[0])
    return [z[i] for i in range(n)]


def update(W, d, z, double weight):
    cdef Py_ssize_t i, n = len(d)
    cdef double[::1] columns = columns_of(W), pivots = array("d", d), values = array("d", z)
    cdef double[::1] slope = double_array(n)
    if n:
        update_c(&columns[0], &pivots[0], &values[0], weight, n, &slope[0])
    W[:] = rows_of(columns, n)
    d[:] = [pivots[i] for i in range(n)]


def determinant_ratios(d, z, double weight):
    cdef double ratio = 1.0, z_i, d_i
    ratios = []
    for z_i, d_i in zip(z, d, strict=True):
        ratio += weight * z_i * z_i / d_i
        ratios.append(ratio)
    return ratios


def identity(Py_ssize_t n):
    return [[float(i == j) for j in range(n)] for i in range(n)]


cdef double[::1] columns_of(A):
    """The padded columns of a lower triangle, zero above the diagonal."""
    cdef Py_ssize_t i, j, n = len(A), width = padded_columns(n)
    cdef double[::1] columns = double_array(n * width)
    for i in range(n):
        for j in range(i + 1):
            columns[j * width + i] = A[i][j]
    return columns


cdef rows_of(const double[::1] columns, Py_ssize_t n):
    """The rows of a matrix that is held by its padded columns."""
    cdef Py_ssize_t i, j, width = padded_columns(n)
    return [[columns[j * width + i] for j in range(n)] for i in range(n)]
