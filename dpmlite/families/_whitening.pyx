"""Kernel of whitening.py: units of a prior of columns that vary together.

For other kernels, R and vectors are as in _triangular.pyx.
"""

from array import array

from libc.math cimport sqrt

from dpmlite.core._constants cimport MIN_PIVOT
from dpmlite.core._memory cimport double_array
from dpmlite.core._triangular cimport columns_of, rows_of

from dpmlite.core._triangular import factorise


cdef void restore_c(const Units *units, double *x) noexcept nogil:
    """x becomes R^-1 x."""
    cdef Py_ssize_t i, j, width = padded_columns(units.n_columns)
    for i in range(units.n_columns):
        for j in range(i):
            x[i] -= units.R[j * width + i] * x[j]
        x[i] /= units.R[i * width + i]


cdef void restore_square(const Units *units, double *A, double *room) noexcept nogil:
    """A becomes R^-1 A R^-T; `room` is for a vector."""
    cdef Py_ssize_t i, j, D = units.n_columns, width = padded_columns(D)
    for j in range(D):
        restore_c(units, A + j * width)
    for i in range(D):
        for j in range(D):
            room[j] = A[j * width + i]
        restore_c(units, room)
        for j in range(D):
            A[j * width + i] = room[j]


def whitening(psi0):
    return rows_of(whitening_columns(psi0), len(psi0))


cdef double[::1] whitening_columns(psi0):
    """Columns of R."""
    cdef Py_ssize_t i, D = len(psi0)
    scale = [sqrt(row[i]) for i, row in enumerate(psi0)]
    W, d = factorise([[p / s / t for p, t in zip(row, scale)] for row, s in zip(psi0, scale)],
                     MIN_PIVOT)
    for i in range(D):
        if not d[i] > MIN_PIVOT:
            raise ValueError(
                f"psi0 must be positive definite, got {psi0[i][:i + 1]} at the start of row {i}")
    return columns_of([[w / s / sqrt(d_i) for w, s in zip(row, scale)] for row, d_i in zip(W, d)])


cdef Units units_of(const double[::1] m0, const double[::1] R):
    cdef Units units
    cdef Py_ssize_t i, j, width = padded_columns(m0.shape[0])
    units.n_columns, units.diagonal, units.m0, units.R = m0.shape[0], True, &m0[0], &R[0]
    for j in range(units.n_columns):
        for i in range(j + 1, units.n_columns):
            units.diagonal = units.diagonal and R[j * width + i] == 0.0
    return units


def whiten(R, m0, row):
    cdef double[::1] columns = columns_of(R), origin = array("d", m0), values = array("d", row)
    cdef double[::1] shift = double_array(padded_columns(len(R)))
    cdef double[::1] u = double_array(padded_columns(len(R)))
    cdef Units units = units_of(origin, columns)
    whiten_c(&units, &values[0], &shift[0], &u[0])
    return [u[d] for d in range(units.n_columns)]


def restore(R, u):
    cdef double[::1] columns = columns_of(R), x = array("d", u)
    cdef Units units = units_of(x, columns)
    restore_c(&units, &x[0])
    return list(x)
