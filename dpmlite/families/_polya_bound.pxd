from dpmlite.core._rows cimport Row

cdef double add_factors(double first, double x, double *reciprocals) noexcept nogil
cdef double max_gain(const Row *row, double *base, double extra) noexcept nogil
