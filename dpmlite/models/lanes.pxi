"""Sums over columns, eight at a time: terms of one lane do not wait for those of another."""

cdef enum:
    LANES = 8


# Vectors of one value per column that are padded to a multiple of it need no loop for the rest.
cdef inline inlined_ssize padded_columns(Py_ssize_t n) noexcept nogil:
    return (n + LANES - 1) & ~(<Py_ssize_t> (LANES - 1))


cdef inline inlined_double sum_of(const double *lane) noexcept nogil:
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]))


cdef inline inlined_double product_of(const double *lane) noexcept nogil:
    return ((lane[0] * lane[4]) * (lane[2] * lane[6])) * ((lane[1] * lane[5]) * (lane[3] * lane[7]))


cdef inline inlined_double most_of(const double *lane) noexcept nogil:
    return larger(larger(larger(lane[0], lane[4]), larger(lane[2], lane[6])),
                  larger(larger(lane[1], lane[5]), larger(lane[3], lane[7])))
