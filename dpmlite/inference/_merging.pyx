"""Kernel of merging.py: whole clusters merged while that lowers the joint."""

from array import array

from libc.math cimport INFINITY, log

from dpmlite.models._component cimport Component, padded
from dpmlite.models._partition cimport TIE, Partition
from dpmlite.models._special cimport log_gamma_c

from dpmlite.models._partition import index_array


def merge(Partition partition):
    cdef Pairs pairs = Pairs(partition)
    cdef Py_ssize_t merges = 0
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
    pairs.score(j)
    return pairs.change[k]


def nearest(Partition partition, Py_ssize_t j, Py_ssize_t n_nearest):
    partition.component._check_slot(j)
    cdef Pairs pairs = Pairs(partition)
    cdef Py_ssize_t k
    cdef double least
    found = []
    pairs.load()
    pairs.score(j)
    while len(found) < n_nearest:
        least = INFINITY
        for k in range(pairs.n_slots):
            least = pairs.change[k] if pairs.change[k] < least else least
        if least == INFINITY:
            break
        k = 0
        while pairs.change[k] > least + TIE:
            k += 1
        found.append(k)
        pairs.change[k] = INFINITY
    return found


def used_slots(Partition partition):
    cdef Py_ssize_t k
    return [k for k in range(partition.component.n_slots) if partition.component.n[k] > 0.0]


cdef class Pairs:
    """The best merge partner of each slot among the slots above it, kept up to date."""

    cdef Partition partition
    cdef Component component
    cdef double[::1] change, base, best
    cdef Py_ssize_t[::1] partner
    cdef Py_ssize_t n_slots

    def __init__(self, Partition partition):
        self.partition = partition
        self.component = partition.component
        self.n_slots = partition.component.n_slots
        room = bytes(8 * padded(self.n_slots))
        self.change = array("d", room)  # of the slot that was scored last, by partner
        self.base = array("d", room)    # what a slot brings in: marginal and log Gamma(n)
        self.best = array("d", room)
        self.partner = index_array(self.n_slots)

    cdef void load(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            if self.component.n[k] > 0.0:
                self.base[k] = self.component.marginal(k) + log_gamma_c(self.component.n[k])

    cdef void start(self) noexcept nogil:
        cdef Py_ssize_t j
        self.load()
        for j in range(self.n_slots):
            self.find(j)

    cdef void score(self, Py_ssize_t j) noexcept nogil:
        """change[k] = what a merge of j and k adds to the joint, for every k."""
        cdef double own = self.base[j] + log(self.partition.alpha)
        cdef Py_ssize_t k
        self.component.marginal_merged_all(j, &self.change[0])
        for k in range(self.n_slots):
            if self.component.n[k] > 0.0 and k != j:
                self.change[k] = (own + self.base[k] - self.change[k]
                                  - log_gamma_c(self.component.n[j] + self.component.n[k]))
            else:
                self.change[k] = INFINITY

    cdef void find(self, Py_ssize_t j) noexcept nogil:
        self.best[j] = INFINITY
        self.partner[j] = -1
        if self.component.n[j] > 0.0:
            self.score(j)
            self.choose(j)

    cdef void choose(self, Py_ssize_t j) noexcept nogil:
        cdef Py_ssize_t k
        self.best[j] = INFINITY
        self.partner[j] = -1
        for k in range(j + 1, self.n_slots):
            if self.change[k] < self.best[j]:
                self.best[j] = self.change[k]
                self.partner[j] = k

    cdef bint merge_best(self) noexcept nogil:
        """Merge the best pair, the first of equals. False if no merge lowers the joint."""
        cdef Py_ssize_t i, j = 0, k
        cdef double least, kept
        while True:
            least = INFINITY
            for i in range(self.n_slots):
                least = self.best[i] if self.best[i] < least else least
            if not least < -self.partition.least_gain:
                return False
            j = 0
            while self.best[j] > least + TIE:
                j += 1
            kept = self.best[j]
            self.find(j)  # anew: what came from the partner's side may be rounded otherwise
            if self.best[j] == kept:
                break
        k = j + 1
        while self.change[k] > least + TIE:
            k += 1
        self.partition.join(j, k, self.change[k])
        self.update(j, k)
        return True

    cdef void update(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        """After k went into j: only pairs with one of them changed."""
        cdef Py_ssize_t i
        self.base[j] = self.component.marginal(j) + log_gamma_c(self.component.n[j])
        self.best[k] = INFINITY
        self.partner[k] = -1
        self.score(j)
        self.choose(j)
        for i in range(j):
            if self.change[i] < self.best[i]:
                self.best[i] = self.change[i]
                self.partner[i] = j
            elif self.partner[i] == j:
                self.partner[i] = k  # to be found anew
        for i in range(k):
            if self.partner[i] == k:
                self.find(i)
