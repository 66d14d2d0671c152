from dpmlite.core._constants cimport MAX_PRIOR_UNITS
from dpmlite.core._simd cimport inlined_void, padded_columns, within
from dpmlite.core._triangular cimport residuals_c

cdef struct Units:
    Py_ssize_t n_columns
    bint diagonal         # R is
    const double *m0
    const double *R       # [column][row]


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
        u[d] = within(u[d], MAX_PRIOR_UNITS)

cdef void restore_c(const Units *units, double *x) noexcept nogil
cdef void restore_square(const Units *units, double *A, double *room) noexcept nogil
cdef double[::1] whitening_columns(psi0)
cdef Units units_of(const double[::1] m0, const double[::1] R)
