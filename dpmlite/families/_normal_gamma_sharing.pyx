"""Normal-gamma clusters for variational inference: expected scores, and rows that they share."""

from dpmlite.core._constants cimport LOG_2PI
from dpmlite.core._simd cimport inlined_void
from dpmlite.core._special cimport digamma_c
from dpmlite.families._normal_columns cimport standardise
from dpmlite.families._slot_vectors cimport NARROW, padded


cdef void find_expectations(NormalGammaStatistics self) noexcept nogil:
    """Write, for all slots, E[log precision] / 2 and the factor of the squares, to `expected`."""
    cdef double c, a, d = self.n_columns
    cdef Py_ssize_t k
    for k in range(self.n_slots):
        c, a = self.c0 + self.n[k], self.a0 + 0.5 * self.n[k]
        self.expected[k] = (0.5 * d * (digamma_c(a) - 1.0 / c - LOG_2PI)
                            - 0.5 * self.log_b[k] - self.log_scale)
        # a e^2 / (2 b), from the squares c e^2 / (2 b (c + 1)) that slopes and shifts give
        self.expected[self.capacity + k] = a * (c + 1.0) / c


cdef clones_void expected_scores(NormalGammaStatistics self, const Row *row,
                                 double *out) noexcept nogil:
    cdef Py_ssize_t first = 0, end = padded(self.n_slots)
    while first < end:
        expected_block(self, row, first, out)
        first += NARROW


cdef inline inlined_void expected_block(NormalGammaStatistics self, const Row *row,
                                        Py_ssize_t first, double *out) noexcept nogil:
    """Expected log densities of NARROW slots from `first`."""
    cdef double square[NARROW]
    cdef const double *slope = self.t.slope + first
    cdef const double *shift = self.t.shift + first
    cdef const double *constant = &self.expected[first]
    cdef const double *ratio = &self.expected[self.capacity + first]
    cdef double w = row.weight, u, z
    cdef Py_ssize_t d
    cdef int j
    for j in range(NARROW):
        square[j] = 0.0
    for d in range(self.n_columns):
        u = standardise(row.values[d], self.t.origin[d], self.t.unit[d])
        for j in range(NARROW):
            z = u * slope[j] - shift[j]
            square[j] = square[j] + z * z
        slope += self.capacity
        shift += self.capacity
    for j in range(NARROW):
        out[first + j] = w * (constant[j] - ratio[j] * square[j])


cdef clones_void share_row(NormalGammaStatistics self, const Row *row,
                           const double *responsibilities) noexcept nogil:
    cdef Py_ssize_t first = 0, end = padded(self.n_slots)
    while first < end:
        share_block(self, row, responsibilities, first)
        first += NARROW


cdef inline inlined_void share_block(NormalGammaStatistics self, const Row *row,
                                     const double *responsibilities,
                                     Py_ssize_t first) noexcept nogil:
    """Put a row into NARROW slots from `first`, a part in each."""
    cdef double part[NARROW]
    cdef double half[NARROW]
    cdef double *n = self.n + first
    cdef double *m = self.across_m + first
    cdef double *b = self.across_b + first
    cdef double w, c, u, e
    cdef Py_ssize_t d
    cdef int j
    for j in range(NARROW):
        w, c = row.weight * responsibilities[first + j], self.c0 + n[j]
        part[j] = w / (c + w)
        half[j] = 0.5 * c * part[j]
        n[j] = n[j] + w
    for d in range(self.n_columns):
        u = standardise(row.values[d], self.t.origin[d], self.t.unit[d])
        for j in range(NARROW):
            e = u - m[j]
            b[j] = b[j] + half[j] * e * e
            m[j] = m[j] + part[j] * e
        m += self.capacity
        b += self.capacity


cdef void end_rows(NormalGammaStatistics self) noexcept nogil:
    """Copy the statistics, which rows changed [column][slot], to [slot][column]."""
    cdef Py_ssize_t d, k
    for k in range(self.n_slots):
        for d in range(self.n_columns):
            self.m[k * self.n_along + d] = self.across_m[d * self.capacity + k]
            self.b[k * self.n_along + d] = self.across_b[d * self.capacity + k]
        self.refresh(k)
