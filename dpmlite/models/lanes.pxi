"""Sums and products over columns, eight at a time: one lane does not wait for another."""

cdef enum:
    LANES = 8

cdef struct Products:
    double factor[LANES]  # the product of a lane is its factor times 2^exponent
    double exponent[LANES]


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


cdef inline inlined_double least_lane(const double *lane) noexcept nogil:
    return smaller(smaller(smaller(lane[0], lane[4]), smaller(lane[2], lane[6])),
                   smaller(smaller(lane[1], lane[5]), smaller(lane[3], lane[7])))


cdef inline inlined_void begin_products(Products *products) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(LANES):
        products.factor[i], products.exponent[i] = 1.0, 0.0


cdef inline inlined_void multiply_by(Products *products, const double *factor) noexcept nogil:
    cdef double e = 0.0
    cdef Py_ssize_t i
    for i in range(LANES):
        products.factor[i] = split_exponent(products.factor[i] * factor[i], &e)
        products.exponent[i] += e


cdef inline inlined_double log_of_products(const Products *products) noexcept nogil:
    """Log of the product of all lanes."""
    return sum_of(products.exponent) * LOG_2 + log_positive(product_of(products.factor))
