"""Kernel of dirichlet_multinomial.py: its statistics; `_urns.pyx` scores rows by them.

Where a row's costs matter only below a limit, as in sweeps, the bounds of `_log_counts.pyx` rule out
most slots.
"""

from array import array

from libc.math cimport INFINITY, NAN, floor, log, log1p

from dpmlite.core._constants cimport (
    FEW_FACTORS, LARGEST_URN, LEAST_KEPT, LEAST_URN, SINGLE_ROUNDING)
from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport Row, Rows, column_of
from dpmlite.core._simd cimport clones_void, inlined_double
from dpmlite.core._special cimport digamma_c, log_rising_c, log_rising_of_lane
from dpmlite.families._component cimport Component, left_of_c
from dpmlite.families._log_counts cimport (
    LogCounts, catch_up, drop_logs, make_logs, note_row, note_slot, reach_of, score_bounds)
from dpmlite.families._polya_terms cimport (
    Urns, growths, marginals_by_growth, marginals_by_words, score_one, urn_costs)
from dpmlite.families._slot_vectors cimport least_of, padded

from dpmlite.core.checks import check_positive, require_bound

cdef enum:
    FEW_URNS = 6           # slots that are scored one by one: more take longer than all at once
    FEW_WORDS = 2     # one in so many: a word takes longer in `marginals_by_words`


cdef class DirichletMultinomial(Component):
    cdef readonly list beta0
    cdef double[::1] beta      # [word] beta0
    cdef double total          # B
    cdef const double[::1] growth  # what urns.growth points to
    cdef double longest        # words of the longest row that `bound_over` was given

    cdef double *size          # [slot] N, the number of words
    cdef double *kept          # [slot] part that removals left
    cdef double *evidence      # [slot] log marginal; NaN until it is asked for
    cdef double *count         # [word][slot]
    cdef Urns urns             # the same for those who score
    cdef LogCounts logs
    cdef bint has_bounds       # whether they serve

    cdef double[::1] own_counts  # a slot's words as one sparse row
    cdef Py_ssize_t[::1] own_words

    def __cinit__(self):
        self.reads_sparse = True
        self.logs.memory = self.urns.growth = NULL

    def __dealloc__(self):
        drop_logs(&self.logs)

    def __init__(self, beta0):
        check_positive("beta0", beta0)
        values = array("d", beta0).tolist()
        self.set_up(values, array("d", values))
        if len(set(values)) == 1:
            self.use(growths(values[0]))

    cdef int use(self, const double[::1] growth) except -1:
        self.growth, self.urns.growth = growth, &growth[0]
        return 0

    cdef int set_up(self, list beta0, double[::1] beta) except -1:
        """What __init__ does with parameters that are checked."""
        cdef Py_ssize_t w, n_words = beta.shape[0]
        Component.__init__(self, n_words)
        self.beta0, self.beta = beta0, beta
        for w in range(n_words):
            self.total += beta[w]
            self.urns.largest_beta = max(self.urns.largest_beta, beta[w])
        self.urns.total, self.urns.beta, self.urns.n_words = self.total, &beta[0], n_words
        self.has_bounds = all([LEAST_URN <= b <= LARGEST_URN for b in beta0])
        self.own_counts = double_array(n_words)
        self.own_words = array(
            "q" if sizeof(Py_ssize_t) == 8 else "i", bytes(n_words * sizeof(Py_ssize_t)))
        self.longest = NAN
        return self.start(6 + n_words, 0)

    cdef void lay_out(self) noexcept nogil:
        self.size, self.kept = self.n + self.capacity, self.n + 2 * self.capacity
        self.evidence = self.n + 3 * self.capacity
        self.count = self.n + 6 * self.capacity
        self.urns.product, self.urns.exponent = (
            self.n + 4 * self.capacity, self.n + 5 * self.capacity)
        self.urns.count, self.urns.size, self.urns.capacity = self.count, self.size, self.capacity
        drop_logs(&self.logs)
        self.logs.n_words, self.logs.capacity = self.n_columns, self.capacity
        self.logs.beta, self.logs.count = &self.beta[0], self.count

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t w
        if self.n[k] != 0.0 or self.size[k] != 0.0:  # else its counts are 0 already
            for w in range(self.n_columns):
                self.count[w * self.capacity + k] = 0.0
        self.n[k] = self.size[k] = self.evidence[k] = 0.0
        self.kept[k] = 1.0
        note_slot(&self.logs, k)

    cdef void copy_slot(self, Py_ssize_t k, Component other, Py_ssize_t j) noexcept nogil:
        Component.copy_slot(self, k, other, j)
        note_slot(&self.logs, k)

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t i
        cdef double x
        for i in range(row.n_values):
            x = row.values[i] * row.weight
            if x != 0.0:
                self.count[column_of(row, i) * self.capacity + k] += x
                self.size[k] += x
        self.n[k] += row.weight
        note_row(&self.logs, row, k)

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        self.evidence[k] = NAN if self.size[k] > 0.0 else 0.0

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
        if self.kept[k] * part < LEAST_KEPT:
            return False
        for i in range(row.n_values):
            x = row.values[i] * row.weight
            if x != 0.0:
                count = self.count + column_of(row, i) * self.capacity + k
                count[0] = left_of_c(count[0], x)
        self.n[k] = left
        self.size[k] = size_without(self, k, n_words)
        self.kept[k] *= part
        note_row(&self.logs, row, k)
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
        note_slot(&self.logs, j)
        self.refresh(j)
        self.clear_slot(k)

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        if limit < INFINITY and look(self, row, log_weight, out) and few_below(
                out, self.n_slots, limit):
            return self.score_below(row, log_weight, limit, out)
        urn_costs(&self.urns, self.n_slots, row, log_weight, out)
        return least_of(out, self.n_slots, limit)

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double n_words = 0.0
        return score_one(&self.urns, row, k, False, &n_words)

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double n_words = 0.0, score = score_one(&self.urns, row, k, True, &n_words)
        if (self.n[k] > row.weight
                and self.kept[k] * part_left(self, k, row.weight, n_words) < LEAST_KEPT):
            return NAN
        return score

    cdef int expect(self) except -1:
        self.expect_values(self.n_columns)
        expect_words(self, &self.expected[0])
        return 0

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        dirichlet_expected_scores(self, row, out)

    cdef void share(self, const Row *row, const double *shares) noexcept nogil:
        dirichlet_share(self, row, shares)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        cdef Row row
        cdef double n_words = 0.0
        if self.evidence[k] != self.evidence[k]:
            row = self.row_of_slot(k)
            self.evidence[k] = score_one(&self.urns, &row, k, True, &n_words)
        return self.evidence[k]

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            self.marginal(k)
        cdef Row row = self.row_of_slot(j)
        if self.urns.growth == NULL:
            self.costs_below(&row, self.evidence, INFINITY, out)
            for k in range(first, self.n_slots):
                out[k] = -out[k]
        elif FEW_WORDS * row.n_values < self.n_columns:
            marginals_by_words(&self.urns, self.n_slots, &row, self.evidence, first, out)
        else:
            marginals_by_growth(&self.urns, self.n_slots, j, first, out)

    cdef double score_bound(self, const Row *row, Py_ssize_t k, double more) noexcept nogil:
        cdef double total = 0.0, n_words = 0.0, extra = more * self.longest, x, sum_of_inverses = 0.0
        cdef double *base = &self.own_counts[0]
        cdef Py_ssize_t i, w
        for i in range(row.n_values):
            x, w = row.values[i] * row.weight, column_of(row, i)
            total += add_factors(
                self.beta[w] + self.count[w * self.capacity + k], x, &sum_of_inverses)
            base[i] = x / sum_of_inverses if x != 0.0 else INFINITY
            n_words += x
        total += best_growth(row, base, extra)
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
        if self.urns.growth != NULL:
            other.use(self.growth)
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
        self._check_statistics(statistics, 1 + self.n_columns)
        self.n[k], self.size[k], self.kept[k] = statistics[0], 0.0, 1.0
        for w in range(self.n_columns):
            count[w * self.capacity] = statistics[1 + w]
            self.size[k] += count[w * self.capacity]
        note_slot(&self.logs, k)
        self.refresh(k)


cdef inline inlined_double size_without(DirichletMultinomial self, Py_ssize_t k,
                                        double n_words) noexcept nogil:
    return left_of_c(self.size[k], n_words)


cdef inline inlined_double part_left(DirichletMultinomial self, Py_ssize_t k, double weight,
                                     double n_words) noexcept nogil:
    """What part of n or of B + N, whichever loses more, is left without a row of slot k."""
    cdef double of_weight = (self.n[k] - weight) / self.n[k]
    cdef double of_words = (self.total + size_without(self, k, n_words)) / (
        self.total + self.size[k])
    return of_words if of_words < of_weight else of_weight


# Means of logarithms, and rows that lie in all slots at once.


cdef void expect_words(DirichletMultinomial self, double *out) noexcept nogil:
    """E[log theta_w] = psi(beta_w + n_w) - psi(B + N), [word][slot]."""
    cdef double *common = self.urns.product  # scores write it anew
    cdef Py_ssize_t w, k
    for k in range(self.n_slots):
        common[k] = digamma_c(self.total + self.size[k])
    for w in range(self.n_columns):
        for k in range(self.n_slots):
            out[k] = digamma_c(self.beta[w] + self.count[w * self.capacity + k]) - common[k]
        out += self.capacity


cdef clones_void dirichlet_expected_scores(DirichletMultinomial self, const Row *row,
                                           double *out) noexcept nogil:
    cdef const double *mean
    cdef double x
    cdef Py_ssize_t i, k, end = padded(self.n_slots)
    for k in range(end):
        out[k] = 0.0
    for i in range(row.n_values):
        x = row.values[i] * row.weight
        if x != 0.0:
            mean = &self.expected[0] + column_of(row, i) * self.capacity
            for k in range(end):
                out[k] += x * mean[k]


cdef clones_void dirichlet_share(DirichletMultinomial self, const Row *row,
                                 const double *shares) noexcept nogil:
    """`accumulate` in every slot."""
    cdef double *count
    cdef double x, n_words = 0.0
    cdef Py_ssize_t i, k, end = padded(self.n_slots)
    for i in range(row.n_values):
        x = row.values[i] * row.weight
        if x != 0.0:
            n_words += x
            count = self.count + column_of(row, i) * self.capacity
            for k in range(end):
                count[k] += x * shares[k]
    for k in range(end):
        self.size[k] += n_words * shares[k]
        self.n[k] += row.weight * shares[k]


cdef double add_factors(double first, double x, double *reciprocals) noexcept nogil:
    """Sums of log, returned, and of reciprocals of `first`, `first` + 1, ..., `x` of them."""
    cdef double total = 0.0, rest, part
    cdef Py_ssize_t i, n = <Py_ssize_t> min(x, <double> FEW_FACTORS)
    reciprocals[0] = 0.0
    for i in range(n):
        total += log(first + i)
        reciprocals[0] += 1.0 / (first + i)
    rest = floor(x - n)
    if rest > 0.0:
        total += log_rising_c(first + n, rest)
        reciprocals[0] += log1p(rest / (first + n - 0.5))
    part = x - n - rest
    reciprocals[0] += part / (first + n + rest)
    return total + part * log(first + n + rest)


cdef double best_growth(const Row *row, double *base, double extra) noexcept nogil:
    """Greatest sum of x log((base + T) / base), the T adding up to `extra`; bases get lost."""
    cdef double level, x, n_words, sum_of_bases, total = 0.0
    cdef Py_ssize_t i, n_lost = 1
    while n_lost > 0:
        n_words = sum_of_bases = 0.0
        for i in range(row.n_values):
            if base[i] < INFINITY:
                n_words += row.values[i] * row.weight
                sum_of_bases += base[i]
        level = (extra + sum_of_bases) / n_words if n_words > 0.0 else 0.0
        n_lost = 0
        for i in range(row.n_values):
            if base[i] < INFINITY and base[i] > level * row.values[i] * row.weight:
                base[i] = INFINITY
                n_lost += 1
    for i in range(row.n_values):
        x = row.values[i] * row.weight
        if base[i] < INFINITY:
            total += x * log(level * x / base[i])
    return total


# Slots whose bounds are not below a limit need no scores.


cdef bint look(DirichletMultinomial self, const Row *row, const double *log_weight,
               double *out) noexcept nogil:
    """Bounds of the row's costs, if there are any."""
    cdef double n_words = 0.0, slack
    cdef double reach = reach_of(row, &n_words) if self.has_bounds else -1.0
    if reach < 0.0 or not make_logs(&self.logs):
        return False
    catch_up(&self.logs, self.n_slots)
    score_bounds(&self.logs, row, self.n_slots, out)
    slack = SINGLE_ROUNDING * (row.n_values + 2) * reach * self.logs.span
    finish_bounds(self, n_words, log_weight, slack, out)
    return True


cdef clones_void finish_bounds(DirichletMultinomial self, double n_words,
                               const double *log_weight, double slack, double *out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(padded(self.n_slots)):
        out[k] = (log_rising_of_lane(self.total + self.size[k], n_words) - log_weight[k] - slack
                  - out[k])


cdef bint few_below(const double *bound, Py_ssize_t n_slots, double limit) noexcept nogil:
    cdef Py_ssize_t k, n_below = 0
    for k in range(n_slots):
        n_below += bound[k] < limit
    return n_below <= FEW_URNS
