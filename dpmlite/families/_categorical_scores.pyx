"""Scores of rows of levels: one addition a column, or logarithms where rows stand for others."""

from dpmlite.core._simd cimport LANES, inlined_void, sum_of
from dpmlite.core._special cimport digamma_c, log_rising_of_lane
from dpmlite.families._categorical_counts cimport LINE_CHUNK
from dpmlite.families._categorical_prior cimport read_lines
from dpmlite.families._family cimport left_of_c
from dpmlite.families._slot_vectors cimport NARROW, WIDE, padded


cdef clones_double sum_lines(CategoricalCounts self, const Row *row,
                             const double *score) noexcept nogil:
    """Sum of the scores of a row's cells in one slot."""
    cdef int[LINE_CHUNK] lines
    cdef double[LANES] total
    cdef Py_ssize_t first = 0, n, at, i
    for i in range(LANES):
        total[i] = 0.0
    while first < self.n_columns:
        n = min(self.n_columns - first, <Py_ssize_t> LINE_CHUNK)
        read_lines(&self.prior.lines, row.values, first, n, lines)
        at = 0
        while at < n:
            for i in range(LANES):
                total[i] += score[lines[at + i]]
            at += LANES
        first += n
    return sum_of(total)


cdef clones_void line_costs(CategoricalCounts self, const Row *row, const double *base,
                            const double *line_score, const double *log_weight,
                            double *out) noexcept nogil:
    """Write the costs of a row in every slot, from scores [line][slot] and their base."""
    cdef int[LINE_CHUNK] lines
    cdef Py_ssize_t first = 0, n, slot, k, n_slots = padded(self.n_slots)
    for k in range(n_slots):
        out[k] = -log_weight[k] - base[k]
    while first < self.n_columns:
        n = min(self.n_columns - first, <Py_ssize_t> LINE_CHUNK)
        read_lines(&self.prior.lines, row.values, first, n, lines)
        slot = 0
        while slot + WIDE <= n_slots:
            subtract_lines(line_score + slot, self.capacity, lines, n, WIDE, out + slot)
            slot += WIDE
        if slot < n_slots:
            subtract_lines(line_score + slot, self.capacity, lines, n, NARROW, out + slot)
        first += n


cdef inline inlined_void subtract_lines(const double *line_score, Py_ssize_t capacity,
                                        const int *lines, Py_ssize_t n, int width,
                                        double *out) noexcept nogil:
    """Subtract n lines from the costs of `width` slots."""
    cdef double total[WIDE]
    cdef const double *at
    cdef Py_ssize_t i, j
    for j in range(width):
        total[j] = 0.0
    for i in range(n):
        at = line_score + lines[i] * capacity
        for j in range(width):
            total[j] = total[j] + at[j]
    for j in range(width):
        out[j] -= total[j]


cdef clones_double score_copies(CategoricalCounts self, const Row *row, Py_ssize_t k,
                                double taken, double more) noexcept nogil:
    """log p of all copies that a row stands for, in slot k.

    The weight `taken` of such rows is out of the slot, and the weight `more` is there besides.
    """
    cdef int[LANES] lines
    cdef double[LANES] own, both, there, total
    cdef const double *count = self.count + k * self.n_along
    cdef const double *of_column = count + self.prior.n_levels
    cdef const double *beta = &self.prior.beta[0]
    cdef const double *beta_of_column = beta + self.prior.n_levels
    cdef double power = self.power, w = row.weight, x
    cdef Py_ssize_t first = 0, n, i, d
    for i in range(LANES):
        own[i] = both[i] = 1.0
        there[i] = total[i] = 0.0
    while first < self.n_columns:
        n = min(self.n_columns - first, <Py_ssize_t> LANES)
        read_lines(&self.prior.lines, row.values, first, n, lines)
        for i in range(n):
            d, x = first + i, row.values[first + i]
            own[i] = beta[lines[i]] + power * (left_of_c(count[lines[i]], taken) + more)
            both[i] = beta_of_column[d] + power * (left_of_c(of_column[d], taken) + more)
            there[i] = 1.0 if x == x else 0.0
        for i in range(LANES):
            own[i] = log_rising_of_lane(own[i], power * w) - log_rising_of_lane(both[i], power * w)
        for i in range(n):
            total[i] += there[i] * own[i]
        first += LANES
    return sum_of(total) / power


cdef clones_double log_marginal(CategoricalCounts self, Py_ssize_t j, Py_ssize_t k,
                                double part) noexcept nogil:
    """Log marginal of the rows of slot j and, if `part` is 1 and not 0, of slot k.

    Levels without cells add nothing.
    """
    cdef double[LANES] total
    cdef double[LANES] cells
    cdef const double *count = self.count + j * self.n_along
    cdef const double *other = self.count + k * self.n_along
    cdef const double *beta = &self.prior.beta[0]
    cdef const double *sign = &self.prior.sign[0]
    cdef double power = self.power
    cdef Py_ssize_t first = 0, i
    for i in range(LANES):
        total[i] = 0.0
    while first < self.prior.width:
        for i in range(LANES):
            cells[i] = count[first + i] + part * other[first + i]
        if sum_of(cells) > 0.0:
            for i in range(LANES):
                total[i] += sign[first + i] * log_rising_of_lane(beta[first + i], power * cells[i])
        first += LANES
    return sum_of(total) / power


cdef void expected_lines(CategoricalCounts self, double *out) noexcept nogil:
    """Write expected scores as those of rows: the base, then every line, of every slot."""
    cdef double *base = out
    cdef double *line
    cdef Py_ssize_t i, k
    for k in range(self.capacity):
        base[k] = 0.0
    for i in range(self.prior.n_lines):
        line = out + (1 + i) * self.capacity
        for k in range(self.n_slots):
            line[k] = digamma_c(self.prior.beta[i] + self.count[k * self.n_along + i])
        if i >= self.prior.n_levels:
            for k in range(self.n_slots):
                base[k] -= line[k]
