"""Kernel of merges.py: clusters merged while that lowers the joint."""

from libc.math cimport INFINITY, log
from libc.string cimport memcpy

from dpmlite.core._constants cimport TIE
from dpmlite.core._memory cimport double_array
from dpmlite.core._special cimport log_gamma_c, log_gamma_of_lane
from dpmlite.families._component cimport Component
from dpmlite.families._slot_vectors cimport padded
from dpmlite.partition._partition cimport Partition

cdef enum:
    MAX_TABLE_SLOTS = 256  # slots of which the changes of all pairs are kept, in half a MiB


def merge(Partition partition):
    cdef Pairs pairs = Pairs(partition)
    cdef Py_ssize_t merges = 0
    pairs.make_table()
    with nogil:
        pairs.start()
        while pairs.merge_best():
            merges += 1
        if merges > 0:
            partition.tidy_slots()
    return merges


def merge_change(Partition partition, Py_ssize_t j, Py_ssize_t k):
    partition.component._check_slot(j)
    partition.component._check_slot(k)
    if j == k or partition.component.n[j] == 0.0 or partition.component.n[k] == 0.0:
        raise ValueError(f"slots must be different and hold rows, got {j} and {k}")
    cdef Pairs pairs = Pairs(partition)
    pairs.load()
    pairs.score(j, k)
    return pairs.change[k]


cdef double log_founding(Partition partition) noexcept nogil:
    """Log of what the last of the clusters adds to eq. (1) besides log Gamma(n - discount)."""
    cdef double log_new = log(partition.alpha * partition.component.power)
    if partition.discount == 0.0:
        return log_new
    log_new = log(partition.alpha + (partition.count_clusters() - 1) * partition.discount)
    return log_new - log_gamma_c(1.0 - partition.discount)


def nearest(Partition partition, Py_ssize_t n_nearest):
    cdef Pairs pairs = Pairs(partition)
    pairs.make_table()
    with nogil:
        if pairs.has_table:
            pairs.start()
        else:
            pairs.load()
    return {j: pairs.nearest(j, n_nearest) for j in used_slots(partition)}


def used_slots(Partition partition):
    cdef Py_ssize_t k
    return [k for k in range(partition.component.n_slots) if partition.component.n[k] > 0.0]


cdef class Pairs:
    """Changes of the joint by merges of two slots, and of each slot the best with a higher one.

    When a slot's best partner is merged away, what it was worth stays as a bound: the change with
    any other partner is no less. The slot is scored anew if it is ever the best of all.
    """

    cdef Partition partition
    cdef Component component
    cdef double[::1] change, base, best
    cdef double[::1] table    # [slot][partner] changes of all pairs; empty if there are too many
    cdef Py_ssize_t n_slots
    cdef bint has_table
    cdef double log_founding  # of the last of the clusters that there were at the start

    def __init__(self, Partition partition):
        self.partition = partition
        self.component = partition.component
        self.component.begin_merging()
        self.n_slots = partition.component.n_slots
        self.log_founding = log_founding(partition)
        cdef Py_ssize_t n = padded(self.n_slots)
        self.change = double_array(n)  # [partner] of the slot that was scored last
        self.base = double_array(n)    # [slot] log marginal + log Gamma(n); see `based`
        self.best = double_array(n)    # [slot] the change with its best partner, or a bound below

    cdef int make_table(self) except -1:
        """Allocate the changes of all pairs, unless there are too many."""
        cdef Py_ssize_t n = self.n_slots
        self.has_table = n <= MAX_TABLE_SLOTS
        self.table = double_array(n * n if self.has_table else 0)
        return 0

    cdef void load(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            if self.component.n[k] > 0.0:
                self.base[k] = self.based(k)

    cdef double based(self, Py_ssize_t k) noexcept nogil:
        """Log marginal of slot k, and what its number of rows adds to log p(z)."""
        cdef double power = self.component.power, n = self.component.n[k]
        return (self.component.marginal(k)
                + log_gamma_c(power * n - self.partition.discount) / power)

    cdef nearest(self, Py_ssize_t j, Py_ssize_t n_nearest):
        """At most `n_nearest` slots by the change of a merge with slot j, least first."""
        cdef Py_ssize_t k
        cdef double least
        found = []
        self.recall_all(j)
        while len(found) < n_nearest:
            least = INFINITY
            for k in range(self.n_slots):
                least = self.change[k] if self.change[k] < least else least
            if least == INFINITY:
                break
            k = 0
            while self.change[k] > least + TIE:
                k += 1
            found.append(k)
            self.change[k] = INFINITY
        return found

    cdef void start(self) noexcept nogil:
        cdef Py_ssize_t j
        self.load()
        for j in range(self.n_slots):
            if self.component.n[j] > 0.0:
                self.score(j, j + 1)
                self.record(j)
            else:
                self.best[j] = INFINITY

    cdef void score(self, Py_ssize_t j, Py_ssize_t first) noexcept nogil:
        """Set change[k] to that of a merge of j and k, for every k from `first` on."""
        cdef double power = self.component.power, n = self.component.n[j]
        cdef double discount = self.partition.discount
        cdef double own = self.base[j] + self.log_founding / power
        cdef Py_ssize_t k
        self.component.marginals_merged(j, first, &self.change[0])
        for k in range(first, self.n_slots):
            if self.component.n[k] > 0.0 and k != j:
                self.change[k] = (own + self.base[k] - self.change[k]
                                  - log_gamma_of_lane(power * (n + self.component.n[k]) - discount)
                                  / power)
            else:
                self.change[k] = INFINITY

    cdef const double *changes(self, Py_ssize_t j) noexcept nogil:
        """The changes by merges of j with each higher slot."""
        if self.has_table:
            return &self.table[j * self.n_slots]
        self.score(j, j + 1)
        return &self.change[0]

    cdef void recall_all(self, Py_ssize_t j) noexcept nogil:
        """Set change[k] to that of a merge of j and k, for every k, after `start`."""
        cdef Py_ssize_t k
        if not self.has_table:
            self.score(j, 0)
            return
        memcpy(&self.change[0], &self.table[j * self.n_slots], self.n_slots * sizeof(double))
        for k in range(j + 1):
            self.change[k] = INFINITY
            if k < j and self.component.n[k] > 0.0:
                self.change[k] = self.table[k * self.n_slots + j]

    cdef void record(self, Py_ssize_t j) noexcept nogil:
        """Keep the changes of slot j, which has just been scored, and find the best."""
        if self.has_table:
            memcpy(&self.table[j * self.n_slots], &self.change[0], self.n_slots * sizeof(double))
        self.find_best(j, &self.change[0])

    cdef void find_best(self, Py_ssize_t j, const double *change) noexcept nogil:
        """Find the best change of slot j with a higher slot."""
        cdef Py_ssize_t k
        self.best[j] = INFINITY
        for k in range(j + 1, self.n_slots):
            self.best[j] = change[k] if change[k] < self.best[j] else self.best[j]

    cdef bint merge_best(self) noexcept nogil:
        """Merge the best pair, of equal pairs the first. False if no merge lowers the joint."""
        cdef Py_ssize_t i, j = 0, k
        cdef double least, known
        cdef double fewer = self.change_by_fewer_clusters()
        cdef const double *change
        while True:
            least = INFINITY
            for i in range(self.n_slots):
                least = self.best[i] if self.best[i] < least else least
            if not least + fewer < -self.partition.least_gain:
                return False
            j = 0
            while self.best[j] > least + TIE:
                j += 1
            known = self.best[j]
            change = self.changes(j)
            self.find_best(j, change)
            if self.best[j] == known:  # else it was a bound, or the other side rounded otherwise
                break
        k = j + 1
        while change[k] > least + TIE:
            k += 1
        self.partition.join(j, k, change[k] + fewer)
        self.update(j, k)
        return True

    cdef double change_by_fewer_clusters(self) noexcept nogil:
        """What to add to the changes because there are fewer clusters than at the start."""
        if self.partition.discount == 0.0:
            return 0.0
        return log_founding(self.partition) - self.log_founding

    cdef void update(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        """Score the pairs of slot j anew, after k was merged into it."""
        cdef Py_ssize_t i
        self.base[j] = self.based(j)
        self.best[k] = INFINITY
        self.score(j, 0)
        self.record(j)
        for i in range(k):
            if self.has_table:
                self.table[i * self.n_slots + j] = self.change[i]
                self.table[i * self.n_slots + k] = INFINITY
            if i < j and self.change[i] < self.best[i]:
                self.best[i] = self.change[i]
