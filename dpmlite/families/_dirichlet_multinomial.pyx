"""Kernel of dirichlet_multinomial.py: its statistics; _polya_terms.pyx scores rows by them.

Where a row's costs matter only below a limit, as in sweeps, the bounds of _log_counts.pyx rule out
most slots.
"""

from array import array

from libc.math cimport INFINITY, NAN

from dpmlite.core._constants cimport MAX_POLYA_TERM, MIN_KEPT_FRACTION, MIN_POLYA_TERM
from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport Row, Rows, column_of
from dpmlite.core._simd cimport clones_void, inlined_double
from dpmlite.core._special cimport log_rising_c
from dpmlite.families._component cimport Component
from dpmlite.families._family cimport left_of_c
from dpmlite.families._log_counts cimport LogCounts, cost_bounds, free_logs, mark_stale, renew_row
from dpmlite.families._polya_bound cimport add_factors, max_gain
from dpmlite.families._polya_expectations cimport expected_logs, expected_word_scores
from dpmlite.families._polya_terms cimport (
    PolyaTerms, log_rising_table, marginals_by_table, marginals_by_words, polya_costs, score_one)
from dpmlite.families._slot_vectors cimport count_below, least_of, padded
from dpmlite.families._slots cimport Slots
from dpmlite.families._soft_component cimport SoftComponent

from dpmlite.core.checks import check_positive, require_bound
from dpmlite.core.statistics_checks import WEIGHT, WORDS, check_statistics

cdef enum:
    MAX_SLOTS_ONE_BY_ONE = 6  # to score more slots one by one takes longer than all at once
    MIN_COLUMNS_PER_WORD = 2  # with fewer, marginals_by_words takes longer than marginals_by_table


cdef class DirichletMultinomial(SoftComponent):
    cdef readonly list beta0
    cdef double[::1] beta      # [word] beta0
    cdef double total          # B
    cdef const double[::1] log_rising  # what terms.log_rising points to
    cdef double longest        # words of the longest row that `bound_over` was given

    cdef double *size          # [slot] N, the number of words
    cdef double *kept          # [slot] part that removals left
    cdef double *cached_marginal      # [slot] log marginal; NaN until it is asked for
    cdef double *count         # [word][slot]
    cdef PolyaTerms terms             # these for _polya_terms.pyx
    cdef LogCounts logs
    cdef bint has_bounds       # whether they serve

    cdef double[::1] own_counts  # a slot's words as one sparse row
    cdef Py_ssize_t[::1] own_words

    def __cinit__(self):
        self.reads_sparse = self.is_discrete = True
        self.logs.memory = self.terms.log_rising = NULL

    def __dealloc__(self):
        free_logs(&self.logs)

    def __init__(self, beta0):
        check_positive("beta0", beta0)
        values = array("d", beta0).tolist()
        self.set_up(values, array("d", values))
        if len(set(values)) == 1:
            self.use(log_rising_table(values[0]))

    cdef int use(self, const double[::1] log_rising) except -1:
        self.log_rising, self.terms.log_rising = log_rising, &log_rising[0]
        return 0

    cdef int set_up(self, list beta0, double[::1] beta) except -1:
        """Set what follows from the prior, whose parameters are checked."""
        cdef Py_ssize_t w, n_words = beta.shape[0]
        Component.__init__(self, n_words)
        self.beta0, self.beta = beta0, beta
        for w in range(n_words):
            self.total += beta[w]
            self.terms.largest_beta = max(self.terms.largest_beta, beta[w])
        self.terms.total, self.terms.beta, self.terms.n_words = self.total, &beta[0], n_words
        self.has_bounds = all([MIN_POLYA_TERM <= b <= MAX_POLYA_TERM for b in beta0])
        self.own_counts = double_array(n_words)
        self.own_words = array(
            "q" if sizeof(Py_ssize_t) == 8 else "i", bytes(n_words * sizeof(Py_ssize_t)))
        self.longest = NAN
        return self.start(6 + n_words, 0)

    cdef void lay_out(self) noexcept nogil:
        self.size, self.kept = self.n + self.capacity, self.n + 2 * self.capacity
        self.cached_marginal = self.n + 3 * self.capacity
        self.count = self.n + 6 * self.capacity
        self.terms.product, self.terms.exponent = (
            self.n + 4 * self.capacity, self.n + 5 * self.capacity)
        self.terms.count, self.terms.size = self.count, self.size
        self.terms.capacity = self.capacity
        free_logs(&self.logs)
        self.logs.n_words, self.logs.capacity = self.n_columns, self.capacity
        self.logs.beta, self.logs.count = &self.beta[0], self.count

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t w
        if self.n[k] != 0.0 or self.size[k] != 0.0:  # else its counts are 0 already
            for w in range(self.n_columns):
                self.count[w * self.capacity + k] = 0.0
        self.n[k] = self.size[k] = self.cached_marginal[k] = 0.0
        self.kept[k] = 1.0
        mark_stale(&self.logs, k)

    cdef void copy_slot(self, Py_ssize_t k, Slots other, Py_ssize_t j) noexcept nogil:
        Component.copy_slot(self, k, other, j)
        mark_stale(&self.logs, k)

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i
        cdef double x
        for i in range(row.n_values):
            x = row.values[i] * row.weight
            if x != 0.0:
                self.count[column_of(row, i) * self.capacity + k] += x
                self.size[k] += x
        self.n[k] += row.weight
        renew_row(&self.logs, row, k)

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        self.cached_marginal[k] = NAN if self.size[k] > 0.0 else 0.0

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double left = self.n[k] - row.weight, n_words = 0.0, part, x
        cdef double *count
        cdef Py_ssize_t i
        if left <= 0.0:
            self.clear_slot(k)
            return True
        for i in range(row.n_values):
            n_words += row.values[i] * row.weight
        part = part_left(self, k, row.weight, n_words)
        if self.kept[k] * part < MIN_KEPT_FRACTION:
            return False
        for i in range(row.n_values):
            x = row.values[i] * row.weight
            if x != 0.0:
                count = self.count + column_of(row, i) * self.capacity + k
                count[0] = left_of_c(count[0], x)
        self.n[k] = left
        self.size[k] = size_without(self, k, n_words)
        self.kept[k] *= part
        renew_row(&self.logs, row, k)
        self.refresh(k)
        return True

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t w
        cdef double *count = self.count
        for w in range(self.n_columns):
            count[j] += count[k]
            count += self.capacity
        self.n[j] += self.n[k]
        self.size[j] += self.size[k]
        self.kept[j] = self.kept[k] if self.kept[k] < self.kept[j] else self.kept[j]
        mark_stale(&self.logs, j)
        self.refresh(j)
        self.clear_slot(k)

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        if (limit < INFINITY and self.has_bounds
                and cost_bounds(&self.logs, row, self.total, self.size, self.n_slots, log_weight,
                                out)
                and count_below(out, self.n_slots, limit) <= MAX_SLOTS_ONE_BY_ONE):
            return self.score_below(row, log_weight, limit, out)
        polya_costs(&self.terms, self.n_slots, row, log_weight, out)
        return least_of(out, self.n_slots, limit)

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double n_words = 0.0
        return score_one(&self.terms, row, k, False, &n_words)

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double n_words = 0.0, score = score_one(&self.terms, row, k, True, &n_words)
        if (self.n[k] > row.weight
                and self.kept[k] * part_left(self, k, row.weight, n_words) < MIN_KEPT_FRACTION):
            return NAN
        return score

    cdef int expect(self) except -1:
        self.expect_values(self.n_columns)
        expected_logs(&self.terms, self.n_slots, &self.expected[0])
        return 0

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        expected_word_scores(&self.expected[0], self.capacity, self.n_slots, row, out)

    cdef void share(self, const Row *row, const double *responsibilities) noexcept nogil:
        share_words(self, row, responsibilities)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        cdef Row row
        cdef double n_words = 0.0
        if self.cached_marginal[k] != self.cached_marginal[k]:
            row = self.row_of_slot(k)
            self.cached_marginal[k] = score_one(&self.terms, &row, k, True, &n_words)
        return self.cached_marginal[k]

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            self.marginal(k)
        cdef Row row = self.row_of_slot(j)
        if self.terms.log_rising == NULL:
            self.costs_below(&row, self.cached_marginal, INFINITY, out)
            for k in range(first, self.n_slots):
                out[k] = -out[k]
        elif MIN_COLUMNS_PER_WORD * row.n_values < self.n_columns:
            marginals_by_words(&self.terms, self.n_slots, &row, self.cached_marginal, first, out)
        else:
            marginals_by_table(&self.terms, self.n_slots, j, first, out)

    cdef double score_bound(self, const Row *row, Py_ssize_t k, double more) noexcept nogil:
        cdef double total = 0.0, n_words = 0.0, extra = more * self.longest
        cdef double x, sum_of_inverses = 0.0
        cdef double *base = &self.own_counts[0]
        cdef Py_ssize_t i, w
        for i in range(row.n_values):
            x, w = row.values[i] * row.weight, column_of(row, i)
            total += add_factors(
                self.beta[w] + self.count[w * self.capacity + k], x, &sum_of_inverses)
            base[i] = x / sum_of_inverses if x != 0.0 else INFINITY
            n_words += x
        total += max_gain(row, base, extra)
        return total - log_rising_c(self.total + self.size[k] + extra, n_words)

    cdef Row row_of_slot(self, Py_ssize_t k) noexcept nogil:
        """All words of slot k as one row, which lasts until the next call."""
        cdef Row row
        cdef Py_ssize_t w, found = 0
        cdef double *values = &self.own_counts[0]
        cdef Py_ssize_t *words = &self.own_words[0]
        for w in range(self.n_columns):
            values[found] = self.count[w * self.capacity + k]
            words[found] = w
            found += values[found] != 0.0
        row.values, row.columns, row.n_values, row.weight = values, words, found, 1.0
        return row

    def bound_over(self, Rows X):
        cdef Py_ssize_t i, j
        cdef Row row
        cdef double n_words
        self.longest = 0.0
        for i in range(X.n_rows):
            row, n_words = X.row(i), 0.0
            for j in range(row.n_values):
                n_words += row.values[j]
            self.longest = max(self.longest, n_words)

    def log_bound(self, const double[::1] row, Py_ssize_t k, double more, double weight=1.0):
        require_bound(self.longest == self.longest)
        return Component.log_bound(self, row, k, more, weight)

    def like(self):
        cdef DirichletMultinomial other = DirichletMultinomial.__new__(DirichletMultinomial)
        other.set_up(self.beta0, self.beta)
        other.longest = self.longest
        if self.terms.log_rising != NULL:
            other.use(self.log_rising)
        return other

    def posterior(self, Py_ssize_t k):
        n, *counts = self.statistics(k)
        return {"n": n, "beta": [b + count for b, count in zip(self.beta0, counts)]}

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        at = range(k, self.n_columns * self.capacity, self.capacity)
        return [self.n[k], *[self.count[i] for i in at]]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t w
        cdef double *count = self.count + k
        check_statistics(statistics, (WEIGHT, 1), (WORDS, self.n_columns))
        self.n[k], self.size[k], self.kept[k] = statistics[0], 0.0, 1.0
        for w in range(self.n_columns):
            count[w * self.capacity] = statistics[1 + w]
            self.size[k] += count[w * self.capacity]
        mark_stale(&self.logs, k)
        self.refresh(k)


cdef inline inlined_double size_without(DirichletMultinomial self, Py_ssize_t k,
                                        double n_words) noexcept nogil:
    return left_of_c(self.size[k], n_words)


cdef inline inlined_double part_left(DirichletMultinomial self, Py_ssize_t k, double weight,
                                     double n_words) noexcept nogil:
    """Return the fraction left of n or of B + N, the lesser, without a row of slot k."""
    cdef double of_weight = (self.n[k] - weight) / self.n[k]
    cdef double of_words = (self.total + size_without(self, k, n_words)) / (
        self.total + self.size[k])
    return of_words if of_words < of_weight else of_weight


cdef clones_void share_words(DirichletMultinomial self, const Row *row,
                             const double *responsibilities) noexcept nogil:
    """Put a row into every slot, a part in each."""
    cdef double *count
    cdef double x, n_words = 0.0
    cdef Py_ssize_t i, k, end = padded(self.n_slots)
    for i in range(row.n_values):
        x = row.values[i] * row.weight
        if x != 0.0:
            n_words += x
            count = self.count + column_of(row, i) * self.capacity
            for k in range(end):
                count[k] += x * responsibilities[k]
    for k in range(end):
        self.size[k] += n_words * responsibilities[k]
        self.n[k] += row.weight * responsibilities[k]
