"""Kernel of line_density.py: sums of normal kernels about values, in lanes."""

from dpmlite.core._constants cimport MIN_EXP_ARGUMENT
from dpmlite.core._memory cimport double_array
from dpmlite.core._simd cimport LANES, clones_void, exp_above, padded_columns, sum_of


def density_on_line(const double[:] values, const double[:] shares, const double[:] points,
                    double[:] density, double[:] squares):
    require_length("shares", shares.shape[0], values.shape[0])
    require_length("density", density.shape[0], points.shape[0])
    require_length("squares", squares.shape[0], points.shape[0])
    cdef Py_ssize_t p, n = values.shape[0], width = padded_columns(n)
    # A vector more than needed, so that there is one; padding has no weight.
    cdef double[::1] at = double_array(width + LANES), weight = double_array(width + LANES)
    at[:n] = values
    weight[:n] = shares
    with nogil:
        for p in range(points.shape[0]):
            add_kernels(&at[0], &weight[0], width, points[p], &density[p], &squares[p])


cdef clones_void add_kernels(const double *at, const double *weight, Py_ssize_t width,
                             double point, double *density, double *squares) noexcept nogil:
    """Set `density` and `squares` to the sums at one point."""
    cdef double total[LANES]
    cdef double square[LANES]
    cdef double gap, kernel
    cdef Py_ssize_t first = 0, i
    for i in range(LANES):
        total[i] = square[i] = 0.0
    while first < width:
        for i in range(LANES):
            gap = point - at[first + i]
            kernel = weight[first + i] * exp_above(MIN_EXP_ARGUMENT, -0.5 * gap * gap)
            total[i] += kernel
            square[i] += kernel * kernel
        first += LANES
    density[0], squares[0] = sum_of(total), sum_of(square)


cdef int require_length(str name, Py_ssize_t length, Py_ssize_t expected) except -1:
    if length != expected:
        raise ValueError(f"{name} must have {expected} values, got {length}")
    return 0
