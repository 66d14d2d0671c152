from dpmlite.families._normal_inverse_wishart_statistics cimport WishartStatistics


cdef inline bint has_missing(const double *values, Py_ssize_t n) noexcept nogil:
    """Return whether a cell of a row is NaN."""
    cdef bint found = False
    cdef Py_ssize_t i
    for i in range(n):
        found |= values[i] != values[i]
    return found

cdef double score_known_cells(WishartStatistics self, const double *values, Py_ssize_t k,
                              double w) noexcept nogil
