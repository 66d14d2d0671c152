"""Costs of rows of bits in all slots, and rows that slots share, by cells that are not zero."""

from dpmlite.core._special cimport digamma_c
from dpmlite.families._slot_vectors cimport NARROW, WIDE, padded


cdef clones_void cell_costs(BetaBernoulliCounts self, const CellScores *scores, const Row *row,
                            const double *log_weight, double *out) noexcept nogil:
    """Write the costs of a row in every slot."""
    cdef Cells cells
    cdef Py_ssize_t k, first = 0, slot, n_slots = padded(self.n_slots)
    for k in range(n_slots):
        out[k] = -log_weight[k] - scores.base[k]
    while first < row.n_values:
        list_cells(row, first, &cells)
        slot = 0
        while slot + WIDE <= n_slots:
            cell_cost_block(self, scores, &cells, slot, WIDE, out)
            slot += WIDE
        if slot < n_slots:
            cell_cost_block(self, scores, &cells, slot, NARROW, out)
        first += CELL_CHUNK


cdef inline inlined_void cell_cost_block(
        BetaBernoulliCounts self, const CellScores *scores, const Cells *cells, Py_ssize_t first,
        int width, double *out) noexcept nogil:
    """Add to the costs of `width` slots from `first` what cells that are not zero cost more."""
    cdef double more[WIDE]
    cdef const double *at
    cdef Py_ssize_t i, j
    for j in range(width):
        more[j] = 0.0
    for i in range(cells.n_ones):
        at = scores.delta + cells.ones[i] * self.capacity + first
        for j in range(width):
            more[j] = more[j] - at[j]
    for i in range(cells.n_missing):
        at = scores.log_zero + cells.missing[i] * self.capacity + first
        for j in range(width):
            more[j] = more[j] + at[j]
    for j in range(width):
        out[first + j] += more[j]


cdef void expect_cells(BetaBernoulliCounts self, double *out) noexcept nogil:
    """E[log p(0)] = psi(b) - psi(a + b), and E[log p(1)] less that, of every column and slot."""
    cdef double *base = out + self.capacity
    cdef double *delta = base + self.capacity
    cdef double *log_zero = delta + self.n_columns * self.capacity
    cdef Py_ssize_t d, k
    cdef double a, b, of_b
    for k in range(2 * self.capacity):
        out[k] = 0.0
    for d in range(self.n_columns):
        for k in range(self.n_slots):  # counts, to vector order
            delta[k] = self.a[d] + self.ones[k * self.n_along + d]
            log_zero[k] = self.b[d] + self.zeros[k * self.n_along + d]
        for k in range(self.n_slots):
            a, b = delta[k], log_zero[k]
            of_b = digamma_c(b)
            delta[k] = digamma_c(a) - of_b
            log_zero[k] = of_b - digamma_c(a + b)
            base[k] += log_zero[k]
        delta += self.capacity
        log_zero += self.capacity


cdef clones_void share_cells(BetaBernoulliCounts self, const Row *row,
                             const double *responsibilities) noexcept nogil:
    """Add the parts of a row's ones and missing cells to the counts of every slot."""
    cdef Cells cells
    cdef double w = row.weight
    cdef Py_ssize_t first = 0, n_slots = padded(self.n_slots), i, k
    cdef double *count
    for k in range(n_slots):
        self.n[k] += w * responsibilities[k]
    while first < row.n_values:
        list_cells(row, first, &cells)
        for i in range(cells.n_ones + cells.n_missing):
            if i < cells.n_ones:
                count = self.delta + cells.ones[i] * self.capacity
            else:
                count = self.log_zero + cells.missing[i - cells.n_ones] * self.capacity
            for k in range(n_slots):
                count[k] += w * responsibilities[k]
        first += CELL_CHUNK
