"""Kernel of exact.py: sums over all partitions of a few rows."""

from libc.math cimport INFINITY, exp, log, log1p

from dpmlite.core._constants cimport MAX_EXACT_ROWS, TIE
from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport Row, Rows
from dpmlite.core._special cimport log_gamma_c, log_rising_c
from dpmlite.families._component cimport Component

from dpmlite.core._rows import as_rows
from dpmlite.core.checks import check_discount, check_least_weight


def sum_over_partitions(X, Component component, double alpha, Py_ssize_t[::1] labels,
                        double[::1] n_clusters_proba, double[:, ::1] co_clustering,
                        double discount=0.0):
    cdef Rows rows = as_rows(X)
    if not 1 <= rows.n_rows <= MAX_EXACT_ROWS:
        raise ValueError(f"X must have from 1 to {MAX_EXACT_ROWS} rows, got {rows.n_rows}")
    component._check_rows(rows)
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {alpha}")
    check_discount(discount)
    check_least_weight(discount, rows.least_weight)
    check_shapes(rows.n_rows, labels, n_clusters_proba, co_clustering)
    cdef Sets sets = Sets(rows.n_rows, rows.n_rows if discount > 0.0 else 1)
    cdef double log_best, log_denominator, n = 0.0
    cdef Py_ssize_t i
    with nogil:
        for i in range(rows.n_rows):
            n += rows.weight_of(i)
        sets.weigh(rows, component, alpha, discount)
        sets.sum()
        for i in range(rows.n_rows):
            n_clusters_proba[i] = sets.proba[sets.everyone * (sets.n + 1) + i + 1]
        sets.co_cluster(co_clustering)
        log_best = sets.best_partition(labels)
    log_denominator = log_rising_c(alpha, n)
    return sets.log_z[sets.everyone] - log_denominator, log_denominator - log_best


cdef class Sets:
    """Sums over the partitions of every set of rows; row i is bit n - 1 - i of a set's number.

    With a discount they depend on how many blocks were split off before.
    """

    cdef double[::1] log_f     # [set] of the set as one block
    cdef double[::1] gain      # [blocks before] log of 1 + j d / alpha
    cdef double[::1] log_z     # [blocks before][set] sum over its partitions
    cdef double[::1] log_best  # [blocks before][set] the largest term of that sum
    cdef double[::1] proba     # [blocks before][set][n + 1] probabilities of 0, 1, ... blocks
    cdef double[::1] terms     # [set] scratch: the first row's block without the first row
    cdef Py_ssize_t n, everyone  # number of rows; the set of all of them
    cdef Py_ssize_t n_sets, n_levels  # the latter of `blocks before`: 1 without a discount

    def __init__(self, Py_ssize_t n, Py_ssize_t n_levels):
        self.n, self.everyone = n, (1 << n) - 1
        self.n_sets, self.n_levels = <Py_ssize_t> 1 << n, n_levels
        self.log_f, self.terms = double_array(self.n_sets), double_array(self.n_sets)
        self.log_z = double_array(n_levels * self.n_sets)
        self.log_best = double_array(n_levels * self.n_sets)
        self.proba = double_array(n_levels * self.n_sets * (n + 1))
        self.gain = double_array(n_levels)

    cdef Py_ssize_t level(self, Py_ssize_t n_before) noexcept nogil:
        """Where the sums of sets begin from which so many blocks were split off."""
        return min(n_before, self.n_levels - 1) * self.n_sets

    cdef int weigh(self, Rows X, Component component, double alpha,
                   double discount) except -1 nogil:
        """Set log_f of every set, as `_log_blocks` of the plain twin, and the gains."""
        cdef Py_ssize_t block, others, low
        cdef double log_alpha = log(alpha)
        cdef double of_one = log_gamma_c(1.0 - discount) if discount > 0.0 else 0.0
        cdef Row row
        for low in range(self.n_levels):
            self.gain[low] = log1p(low * discount / alpha)
        component.make_slots(0)
        component.make_slots(self.n)
        for block in range(1, self.everyone + 1):
            low, others = lowest_bit(block), block & (block - 1)
            if others:
                component.copy_slot(low, component, lowest_bit(others))
            else:
                component.clear_slot(low)
            row = X.row(self.n - 1 - low)
            component.add_row(&row, low)
            self.log_f[block] = (log_alpha + log_gamma_c(component.n[low] - discount) - of_one
                                 + component.marginal(low))
        return 0

    cdef void sum(self) noexcept nogil:
        """Set log_z, log_best and proba of every set, those with most blocks before first."""
        cdef Py_ssize_t rows, first, n_before = self.n_levels
        while n_before > 0:
            n_before -= 1
            first = 1
            self.proba[self.level(n_before) * (self.n + 1)] = 1.0
            for rows in range(1, self.everyone + 1):
                if rows >= 2 * first:
                    first *= 2
                if n_before == 0 or n_rows_of(rows) <= self.n - n_before:
                    self.sum_of(n_before, rows, first)

    cdef void sum_of(self, Py_ssize_t n_before, Py_ssize_t rows, Py_ssize_t first) noexcept nogil:
        """Set those of the set `rows`: sums over its blocks that hold its first row."""
        cdef Py_ssize_t others = rows ^ first, chosen = others, k
        cdef Py_ssize_t now = self.level(n_before), after = self.level(n_before + 1)
        cdef double most = -INFINITY, best = -INFINITY, total = 0.0, term, weight
        cdef double gain = self.gain[n_before]
        cdef const double *left
        cdef double *proba = &self.proba[(now + rows) * (self.n + 1)]
        while True:
            term = gain + self.log_f[first | chosen] + self.log_z[after + (others ^ chosen)]
            self.terms[chosen] = term
            most = term if term > most else most
            term = gain + self.log_f[first | chosen] + self.log_best[after + (others ^ chosen)]
            best = term if term > best else best
            if chosen == 0:
                break
            chosen = (chosen - 1) & others
        chosen = others
        while True:
            weight = exp(self.terms[chosen] - most)
            left = &self.proba[(after + (others ^ chosen)) * (self.n + 1)]
            total += weight
            for k in range(self.n):
                proba[k + 1] += weight * left[k]
            if chosen == 0:
                break
            chosen = (chosen - 1) & others
        for k in range(1, self.n + 1):
            proba[k] /= total
        self.log_z[now + rows] = most + log(total)
        self.log_best[now + rows] = best

    cdef void co_cluster(self, double[:, ::1] out) noexcept nogil:
        """Set out[i, j] to P(z_i = z_j | x)."""
        cdef Py_ssize_t block, i, j, after = self.level(1)
        cdef double p
        out[:, :] = 0.0
        for block in range(1, self.everyone + 1):
            p = exp(self.log_f[block] + self.log_z[after + (self.everyone ^ block)]
                    - self.log_z[self.everyone])
            for i in range(self.n):
                if block >> (self.n - 1 - i) & 1:
                    for j in range(self.n):
                        if block >> (self.n - 1 - j) & 1:
                            out[i, j] += p

    cdef double best_partition(self, Py_ssize_t[::1] labels) noexcept nogil:
        """Write the most probable partition to `labels`; return the sum of its log f and gains."""
        cdef Py_ssize_t rows = self.everyone, block, i, k = 0
        cdef double total = 0.0
        while rows:
            block = self.best_block(k, rows)
            for i in range(self.n):
                if block >> (self.n - 1 - i) & 1:
                    labels[i] = k
            total += self.gain[min(k, self.n_levels - 1)] + self.log_f[block]
            rows, k = rows ^ block, k + 1
        return total

    cdef Py_ssize_t best_block(self, Py_ssize_t n_before, Py_ssize_t rows) noexcept nogil:
        """The first row's block in the most probable partition of `rows`; early rows first."""
        cdef Py_ssize_t first = 1, others, chosen
        cdef Py_ssize_t now = self.level(n_before), after = self.level(n_before + 1)
        cdef double gain = self.gain[min(n_before, self.n_levels - 1)]
        while 2 * first <= rows:
            first *= 2
        others = chosen = rows ^ first
        while (gain + self.log_f[first | chosen] + self.log_best[after + (others ^ chosen)]
               < self.log_best[now + rows] - TIE):
            chosen = (chosen - 1) & others
        return first | chosen


cdef Py_ssize_t n_rows_of(Py_ssize_t rows) noexcept nogil:
    cdef Py_ssize_t n = 0
    while rows:
        rows &= rows - 1
        n += 1
    return n


cdef Py_ssize_t lowest_bit(Py_ssize_t rows) noexcept nogil:
    cdef Py_ssize_t bit = 0
    while not rows >> bit & 1:
        bit += 1
    return bit


cdef int check_shapes(Py_ssize_t n, const Py_ssize_t[::1] labels,
                      const double[::1] n_clusters_proba,
                      const double[:, ::1] co_clustering) except -1:
    if labels.shape[0] != n:
        raise ValueError(f"labels must have {n} values, got {labels.shape[0]}")
    if n_clusters_proba.shape[0] != n:
        raise ValueError(
            f"n_clusters_proba must have {n} values, got {n_clusters_proba.shape[0]}")
    if co_clustering.shape[0] != n or co_clustering.shape[1] != n:
        raise ValueError(f"co_clustering must have shape ({n}, {n}), "
                         f"got ({co_clustering.shape[0]}, {co_clustering.shape[1]})")
    return 0
