"""Counts of levels in Dirichlet-categorical clusters, and the scores of cells.

A cell scores log(beta_l + n_l) - log(B + n), if the likelihood has no power: the first is kept for
each level of each cluster, the second for each column. `base` is the score of a row whose levels
score nothing, so that a row takes one addition a column. A missing cell adds its column's line,
which is in the base with the other sign. A row that comes or goes changes the lines of its cells
alone, and the base.

Members have a base and scores of their own, with one cell less.
"""

from libc.string cimport memset

from dpmlite.core._constants cimport MIN_KEPT_FRACTION
from dpmlite.core._simd cimport LANES, inlined_void, padded_columns, sum_of
from dpmlite.families._categorical_prior cimport read_lines, score_counts
from dpmlite.families._family cimport left_of_c


cdef class CategoricalCounts(SoftComponent):

    cdef int begin(self, CategoricalPrior prior) except -1:
        """Set what follows from the prior, and allocate slots."""
        self.prior, self.power, self.n_columns = prior, prior.power, prior.n_columns
        return self.start(3 + prior.n_lines, 3 * prior.width)

    cdef void lay_out(self) noexcept nogil:
        self.base, self.member_base = self.n + self.capacity, self.n + 2 * self.capacity
        self.line_score = self.n + 3 * self.capacity
        self.count, self.score = self.along, self.along + self.prior.width
        self.member_score = self.along + 2 * self.prior.width

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        self.n[k] = 0.0
        memset(self.count + k * self.n_along, 0, self.prior.width * sizeof(double))
        self.refresh(k)

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        add_cells(self, row, k)
        self.n[k] += row.weight

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        renew_all_lines(self, k)
        renew_base(self, k)

    cdef void add_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        self.accumulate(row, k)
        renew_lines_of(self, row, k)

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double left = self.n[k] - row.weight
        if left <= 0.0:
            self.clear_slot(k)
            return True
        if left < MIN_KEPT_FRACTION * self.n[k]:
            return False
        take_cells(self, row, k)
        self.n[k] = left
        renew_lines_of(self, row, k)
        return True

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.prior.n_lines):
            self.count[j * self.n_along + i] += self.count[k * self.n_along + i]
        self.n[j] += self.n[k]
        self.refresh(j)
        self.clear_slot(k)


cdef clones_void add_cells(CategoricalCounts self, const Row *row, Py_ssize_t k) noexcept nogil:
    """Add a row's cells to the counts of their levels and columns."""
    cdef int[LINE_CHUNK] lines
    cdef double[LINE_CHUNK] known
    cdef double *count = self.count + k * self.n_along
    cdef double *of_column = count + self.prior.n_levels
    cdef Py_ssize_t first = 0, n, i
    while first < self.n_columns:
        n = min(self.n_columns - first, <Py_ssize_t> LINE_CHUNK)
        read_lines(&self.prior.lines, row.values, first, n, lines)
        weigh_cells(row, first, n, known)
        for i in range(n):
            of_column[first + i] += known[i]
        for i in range(n):
            count[lines[i]] += known[i]
        first += n


cdef clones_void take_cells(CategoricalCounts self, const Row *row, Py_ssize_t k) noexcept nogil:
    """Take a row's cells out of the counts of their levels and columns."""
    cdef int[LINE_CHUNK] lines
    cdef double[LINE_CHUNK] known
    cdef double *count = self.count + k * self.n_along
    cdef double *of_column = count + self.prior.n_levels
    cdef Py_ssize_t first = 0, n, i
    while first < self.n_columns:
        n = min(self.n_columns - first, <Py_ssize_t> LINE_CHUNK)
        read_lines(&self.prior.lines, row.values, first, n, lines)
        weigh_cells(row, first, n, known)
        for i in range(n):
            of_column[first + i] = left_of_c(of_column[first + i], known[i])
        for i in range(n):
            count[lines[i]] = left_of_c(count[lines[i]], known[i])
        first += n


cdef inline inlined_void weigh_cells(const Row *row, Py_ssize_t first, Py_ssize_t n,
                                     double *known) noexcept nogil:
    """Write the weights of n cells from column `first`: 0 of those that are missing."""
    cdef const double *values = row.values + first
    cdef double w = row.weight
    cdef Py_ssize_t i
    for i in range(n):
        known[i] = w if values[i] == values[i] else 0.0


cdef clones_void renew_lines_of(CategoricalCounts self, const Row *row,
                                Py_ssize_t k) noexcept nogil:
    """Renew what a row's cells have changed in slot k: their levels, and all columns."""
    cdef int[2 * LINE_CHUNK] lines
    cdef Py_ssize_t first = 0, n, at, i
    while first < self.n_columns:
        n = min(self.n_columns - first, <Py_ssize_t> LINE_CHUNK)
        read_lines(&self.prior.lines, row.values, first, n, lines)
        for i in range(n):
            lines[n + i] = <int> (self.prior.n_levels + first + i)
        for i in range(2 * n, padded_columns(2 * n)):
            lines[i] = lines[0]  # a line more than once takes no longer than one that is left out
        at = 0
        while at < 2 * n:
            renew_some(self, lines + at, k)
            at += LANES
        first += n
    renew_base(self, k)


cdef clones_void renew_all_lines(CategoricalCounts self, Py_ssize_t k) noexcept nogil:
    """Renew the scores of slot k in all lines; most levels of many have no cells there."""
    cdef int[LANES] lines
    cdef const double *count = self.count + k * self.n_along
    cdef double cells
    cdef Py_ssize_t first = 0, i
    while first < self.prior.n_lines:
        cells = 0.0
        for i in range(LANES):
            cells += count[first + i]
        if cells == 0.0:
            copy_unseen(self, first, k)
        else:
            for i in range(LANES):
                lines[i] = <int> (first + i if first + i < self.prior.n_lines else first)
            renew_some(self, lines, k)
        first += LANES


cdef inline inlined_void copy_unseen(CategoricalCounts self, Py_ssize_t first,
                                     Py_ssize_t k) noexcept nogil:
    """Set the scores of slot k in the lines of a vector that have no cells."""
    cdef const double *unseen = &self.prior.unseen[first]
    cdef double *scores = self.score + k * self.n_along + first
    cdef double *member_scores = self.member_score + k * self.n_along + first
    cdef Py_ssize_t i
    for i in range(LANES):
        scores[i] = member_scores[i] = unseen[i]
    for i in range(min(self.prior.n_lines - first, <Py_ssize_t> LANES)):
        self.line_score[(first + i) * self.capacity + k] = unseen[i]


cdef inline inlined_void renew_some(CategoricalCounts self, const int *lines,
                                    Py_ssize_t k) noexcept nogil:
    """Renew the scores of slot k in some lines."""
    cdef double score[2 * LANES]  # of a row more, and of a member given the others
    cdef const double *count = self.count + k * self.n_along
    cdef double *scores = self.score + k * self.n_along
    cdef double *member_scores = self.member_score + k * self.n_along
    cdef const double *beta = &self.prior.beta[0]
    cdef double power = self.power
    cdef Py_ssize_t i
    for i in range(LANES):
        score[i] = beta[lines[i]] + power * count[lines[i]]
        score[LANES + i] = beta[lines[i]] + power * left_of_c(count[lines[i]], 1.0)
    score_counts(score, 2 * LANES, power)
    for i in range(LANES):
        scores[lines[i]] = self.line_score[lines[i] * self.capacity + k] = score[i]
        member_scores[lines[i]] = score[LANES + i]


cdef clones_void renew_base(CategoricalCounts self, Py_ssize_t k) noexcept nogil:
    """Renew both bases of slot k from the scores of its columns."""
    cdef double[LANES] base
    cdef double[LANES] member_base
    cdef const double *score = self.score + k * self.n_along + self.prior.n_levels
    cdef const double *member = self.member_score + k * self.n_along + self.prior.n_levels
    cdef Py_ssize_t first = 0, i, D = self.n_columns
    for i in range(LANES):
        base[i] = member_base[i] = 0.0
    while first < D:
        for i in range(min(D - first, <Py_ssize_t> LANES)):
            base[i] -= score[first + i]
            member_base[i] -= member[first + i]
        first += LANES
    self.base[k], self.member_base[k] = sum_of(base), sum_of(member_base)
