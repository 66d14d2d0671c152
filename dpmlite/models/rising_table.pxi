"""Rising factorials of small whole counts, from a table.

While many small clusters are merged, evidence is asked of all their pairs, of counts that are small
and mostly whole. Its logarithms then come from a table that was made with the prior.
"""

cdef enum:
    MOST_TABLED = 256     # counts, if so few
    TABLED_CELLS = 16384  # times columns are no more than this


@cython.final
cdef class RisingTable:
    """log (a)_n, log (b)_n and log (a + b)_n in every column, for counts n up to `most`."""

    cdef Py_ssize_t n_columns, most
    cdef double[::1] values  # [column][a, b, a + b][n]

    def __init__(self, const double[::1] a, const double[::1] b):
        cdef Py_ssize_t d, width
        self.n_columns = a.shape[0]
        self.most = min(TABLED_CELLS // max(self.n_columns, 1), <Py_ssize_t> MOST_TABLED)
        width = self.most + 1
        self.values = double_array(3 * width * self.n_columns)
        cdef double[::1] count = array("d", range(width))
        for d in range(self.n_columns):
            add_log_rising(a[d], 0.0, 0.0, &count[0], 1.0, 0, width, &self.values[3 * d * width])
            add_log_rising(
                b[d], 0.0, 0.0, &count[0], 1.0, 0, width, &self.values[(3 * d + 1) * width])
            add_log_rising(
                a[d] + b[d], 0.0, 0.0, &count[0], 1.0, 0, width, &self.values[(3 * d + 2) * width])


cdef double tabled_evidence(RisingTable table, const double *ones, const double *zeros,
                            const double *other_ones, const double *other_zeros,
                            double part) noexcept nogil:
    """Log marginal of rows that are counted so, no more than `most`: NaN if not all is whole.

    Of both counts if `part` is 1 and not 0.
    """
    cdef Py_ssize_t width = table.most + 1, d, n1, n0
    cdef const double *value = &table.values[0]
    cdef double total = 0.0, rest = 0.0, x, z
    for d in range(table.n_columns):
        x, z = ones[d] + part * other_ones[d], zeros[d] + part * other_zeros[d]
        n1, n0 = <Py_ssize_t> x, <Py_ssize_t> z
        rest += (x + z) - (n1 + n0)
        total += value[n1] + value[width + n0] - value[2 * width + n1 + n0]
        value += 3 * width
    return NAN if rest > 0.0 else total
