# Columns that are independent normals of unknown mean and precision.

from dpmlite.core._constants cimport MAX_PRIOR_UNITS
from dpmlite.core._simd cimport inlined_double, within

cdef struct NormalPrior:
    double c0, a0
    const double *origin   # [column] m0
    const double *unit     # [column] 1 / sqrt(b0)
    bint has_gaps          # whether cells may be missing

cdef struct NormalColumn:  # of a slot's cells in one column, in units of the prior
    double n               # their weight
    double mean, variance
    double rate            # b of the posterior


cdef inline inlined_double standardise(double x, double origin, double unit) noexcept nogil:
    """A value in units of the prior."""
    return within((x - origin) * unit, MAX_PRIOR_UNITS)


cdef inline NormalColumn normal_column_of(double c0, double n, double m, double b) noexcept nogil:
    """The cells' moments: the posterior, eq. (13), without the prior."""
    cdef NormalColumn column
    column.n, column.mean, column.variance, column.rate = n, 0.0, 1.0, b
    if n > 0.0:
        column.mean = m * (c0 + n) / n
        column.variance = 2.0 * (b - 1.0) / n - c0 / (c0 + n) * column.mean * column.mean
    return column
