"""Kernel of search_heuristic.py: what the rows to come add to the log joint.

For "tight" scores, each row to come keeps its two greatest bounds in any cluster: when row d joins
the best one, which changes it, the second is the greatest of the others.
"""

from array import array

from libc.math cimport INFINITY, log, log1p

from dpmlite.core._constants cimport EMPTY_SLOT, SPARE_SLOT
from dpmlite.core._memory cimport double_array, index_array
from dpmlite.core._special cimport log_gamma_c, log_rising_c
from dpmlite.partition._crp cimport log_best_completion_c, log_best_growth_c

from dpmlite.core._rows import as_rows
from dpmlite.partition._crp import log_best_sizes


cdef class SearchHeuristic:

    def __init__(self, X, Component component, double alpha, const Py_ssize_t[::1] order, scoring,
                 prior_score="partition"):
        self.X, self.component, self.order = as_rows(X), component, order
        self.n_rows, self.alpha, self.log_alpha = order.shape[0], alpha, log(alpha)
        self.of_sizes, self.log_new = prior_score == "sizes", log_best_sizes(self.n_rows, alpha)
        self.tight = scoring == "tight"
        if self.tight:
            component.bound_over(self.X)
        self.allocate()
        self.sum_from_the_end(scoring == "inadmissible", getattr(component, "m0", None))

    cdef int allocate(self) except -1:
        cdef Py_ssize_t n = self.n_rows + 1
        self.before, self.data_left, self.alone_left = (
            double_array(n), double_array(n), double_array(n))
        self.alone, self.score = double_array(n), double_array(n)
        self.best, self.second, self.best_slot = double_array(n), double_array(n), index_array(n)
        return 0

    cdef int sum_from_the_end(self, bint inadmissible, means) except -1:
        """Find `before`, `data_left`, `alone_left` and `alone`."""
        cdef Py_ssize_t j
        cdef double w, gain
        cdef Row row
        self.unit_weights = True
        for j in range(self.n_rows):
            w = self.weight(j)
            self.before[j + 1] = self.before[j] + w
            self.unit_weights = self.unit_weights and w == 1.0
        self.total_weight = self.before[self.n_rows]
        for j in reversed(range(self.n_rows)):
            row = self.row(j)
            gain = self.log_factor(0.0, row.weight) - log_rising_c(self.weight(0), row.weight)
            self.alone_left[j] = self.alone_left[j + 1] + (gain if gain > 0.0 else 0.0)
            self.data_left[j] = self.data_left[j + 1]
            if self.tight:
                self.alone[j] = self.log_factor(0.0, row.weight) + (
                    self.component.score_slot(&row, EMPTY_SLOT))
            elif inadmissible:
                self.data_left[j] += self.component.score_slot(&row, EMPTY_SLOT)
            elif means is not None:
                self.data_left[j] += self.greatest_density(j, means)
        return 0

    cdef double greatest_density(self, Py_ssize_t j, means) except *:
        """Log density of row j at the prior's mean, in a cluster whose rows all lie there."""
        values = self.X.values(self.order[j])
        cdef double[::1] centre = array("d", [m if x == x else x for x, m in zip(values, means)])
        self.component.clear(SPARE_SLOT)
        if j > 0:
            self.component.add(centre, SPARE_SLOT, self.before[j])
        return self.component.log_predictive(centre, SPARE_SLOT, self.weight(j))

    cpdef double log_factor(self, double n, double weight) noexcept nogil:
        if self.of_sizes:
            return -log1p(1.0 / n) if n > 0.0 else self.log_alpha
        return log_rising_c(n, weight) if n > 0.0 else self.log_alpha + log_gamma_c(weight)

    cpdef double log_denominator(self) noexcept nogil:
        cdef double rising = log_rising_c(self.alpha, self.total_weight)
        return rising - log_gamma_c(self.total_weight + 1.0) if self.of_sizes else rising

    def log_repeats(self, sizes):
        if not self.of_sizes:
            return 0.0
        return sum(log_gamma_c(list(sizes).count(n) + 1.0) for n in set(sizes))

    cdef double log_repeats_in(self, const Py_ssize_t *slots, Py_ssize_t n_clusters) noexcept nogil:
        """`log_repeats` of the clusters in some slots."""
        cdef Py_ssize_t k
        cdef double total = 0.0
        for k in range(n_clusters if self.of_sizes else 0):
            total += log(1.0 + self.n_equal(slots, k, self.component.n[slots[k]]))
        return total

    cdef double log_repeats_gained(self, const Py_ssize_t *slots, Py_ssize_t n_clusters,
                                   Py_ssize_t slot) noexcept nogil:
        """What one more row in a slot adds to it; an empty slot is a new cluster."""
        cdef double n = self.component.n[slot], gained
        if not self.of_sizes:
            return 0.0
        gained = log(1.0 + self.n_equal(slots, n_clusters, n + 1.0))
        return gained - log(self.n_equal(slots, n_clusters, n)) if n > 0.0 else gained

    cdef double n_equal(self, const Py_ssize_t *slots, Py_ssize_t n_clusters,
                        double n) noexcept nogil:
        """Number of clusters of n rows in some slots."""
        cdef Py_ssize_t k, total = 0
        for k in range(n_clusters):
            total += self.component.n[slots[k]] == n
        return total

    def scores(self, slots, Py_ssize_t d, double n_largest):
        cdef Py_ssize_t k, n_clusters = len(slots)
        cdef Py_ssize_t[::1] clusters = index_array(n_clusters + 1)
        for k in range(n_clusters):
            clusters[k] = slots[k]
        self.find_scores(&clusters[0], n_clusters, d, n_largest)
        return [self.score[k] for k in range(n_clusters + 1)]

    cdef void find_scores(self, const Py_ssize_t *slots, Py_ssize_t n_clusters, Py_ssize_t d,
                          double n_largest) noexcept nogil:
        """Set score[k] to what `scores` returns for cluster k."""
        cdef Py_ssize_t k, slot
        cdef double n, prior_left
        if self.tight:
            self.find_tight_scores(slots, n_clusters, d)
            return
        prior_left = self.prior_left(n_largest, d + 1)
        for k in range(n_clusters + 1):
            slot = slots[k] if k < n_clusters else <Py_ssize_t> EMPTY_SLOT
            n = self.component.n[slot] + self.weight(d)
            self.score[k] = self.data_left[d + 1] + (
                prior_left if n <= n_largest else self.prior_left(n, d + 1))

    cdef double prior_left(self, double n_largest, Py_ssize_t d) noexcept nogil:
        """Log of what the rows from d on multiply the prior by, at most; 0 without a cluster."""
        cdef double n_left = self.total_weight - self.before[d]
        if n_largest == 0.0:
            return 0.0
        if self.of_sizes:
            return log_best_growth_c(n_largest, n_left, self.log_new)
        if self.unit_weights:
            return log_best_completion_c(n_largest, n_left, self.log_alpha)
        return log_rising_c(n_largest, n_left) + self.alone_left[d]

    cdef void find_tight_scores(self, const Py_ssize_t *slots, Py_ssize_t n_clusters,
                                Py_ssize_t d) noexcept nogil:
        cdef Py_ssize_t j, k, slot
        cdef double bound, total
        cdef Row row = self.row(d)
        for j in range(d + 1, self.n_rows):
            self.best[j] = self.bound(j, EMPTY_SLOT, d)
            self.best_slot[j], self.second[j] = EMPTY_SLOT, -INFINITY
            for k in range(n_clusters):
                self.record_bound(j, slots[k], self.bound(j, slots[k], d))
        for k in range(n_clusters + 1):
            slot = slots[k] if k < n_clusters else <Py_ssize_t> EMPTY_SLOT
            self.component.copy_slot(SPARE_SLOT, self.component, slot)
            self.component.add_row(&row, SPARE_SLOT)
            total = 0.0
            for j in range(d + 1, self.n_rows):
                bound = self.best[j]
                if self.best_slot[j] == slot and slot != EMPTY_SLOT:  # row d has changed it
                    bound = self.second[j]
                total += max(bound, self.bound(j, SPARE_SLOT, d))
            self.score[k] = total

    cdef double bound(self, Py_ssize_t j, Py_ssize_t slot, Py_ssize_t d) noexcept nogil:
        """Bound what row j adds in the slot's cluster, if rows between d and j may be there."""
        cdef Row row = self.row(j)
        cdef double between = self.before[j] - self.before[d + 1]
        cdef double n = self.component.n[slot] + between, bound
        if n == 0.0:
            return self.alone[j]
        bound = self.log_factor(n, row.weight) + self.component.score_bound(&row, slot, between)
        return bound if slot != EMPTY_SLOT or bound > self.alone[j] else self.alone[j]

    cdef void record_bound(self, Py_ssize_t j, Py_ssize_t slot, double bound) noexcept nogil:
        """Keep a bound of row j if it is one of the two greatest."""
        if bound > self.best[j]:
            self.second[j] = self.best[j]
            self.best[j], self.best_slot[j] = bound, slot
        elif bound > self.second[j]:
            self.second[j] = bound
