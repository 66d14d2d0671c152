# Inline twins of whitening.py for other kernels; R and vectors as in _triangular.pxd.

from dpmlite.models._special cimport inlined_void, within
from dpmlite.models._student_t cimport REACH
from dpmlite.models._triangular cimport padded_columns, residuals_c

cdef struct Units:
    Py_ssize_t n_columns
    bint diagonal         # R is
    const double *m0
    const double *R       # [column][row]


cdef Units units_of(const double[::1] m0, const double[::1] R)
cdef double[::1] whitening_columns(psi0)


cdef inline inlined_void whiten_c(const Units *units, const double *row, double *shift,
                                  double *u) noexcept nogil:
    """`shift` becomes row - m0."""
    cdef Py_ssize_t d, D = units.n_columns, width = padded_columns(D)
    for d in range(D):
        shift[d] = row[d] - units.m0[d]
    if units.diagonal:
        for d in range(D):
            u[d] = shift[d] * units.R[d * width + d]
    else:
        residuals_c(units.R, shift, D, u)
    for d in range(D):
        u[d] = within(u[d], REACH)


cdef inline inlined_void restore_c(const Units *units, double *x) noexcept nogil:
    """In place."""
    cdef Py_ssize_t i, j, width = padded_columns(units.n_columns)
    for i in range(units.n_columns):
        for j in range(i):
            x[i] -= units.R[j * width + i] * x[j]
        x[i] /= units.R[i * width + i]


cdef inline inlined_void restore_square(const Units *units, double *A, double *room) noexcept nogil:
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
