"""Kernel of split_merge.py: moves of whole clusters that lower the joint."""

from array import array

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, log

from dpmlite.inference._map_dpm cimport converge_rows
from dpmlite.models._component cimport Component, padded
from dpmlite.models._crp cimport log_prob_counts_c
from dpmlite.models._partition cimport TIE, UNPLACED, Partition
from dpmlite.models._special cimport log_gamma_c

from dpmlite.models._partition import index_array

cdef enum:
    SETTLE_SWEEPS = 10
    TRIAL_ROWS = 1000

ATYPICAL_PARTS = (0.5, 0.1)


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
        cdef double least
        while True:
            least = INFINITY
            for i in range(self.n_slots):
                least = self.best[i] if self.best[i] < least else least
            if not least < -self.partition.least_gain:
                return False
            j = 0
            while self.best[j] > least + TIE:
                j += 1
            self.find(j)  # anew: what came from the partner's side may be rounded otherwise
            if self.best[j] < -self.partition.least_gain:
                break
        k = j + 1
        while self.change[k] > self.best[j] + TIE:
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

    def nearest(self, Py_ssize_t j, Py_ssize_t n_neighbours):
        """Up to so many slots whose merge with slot j is best for the joint, the best first."""
        cdef Py_ssize_t k
        cdef double least
        found = []
        self.load()
        self.score(j)
        while len(found) < n_neighbours:
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


def split(Partition partition, const double[:, :, ::1] uniforms):
    cdef Py_ssize_t k, splits = 0, n_slots = partition.component.n_slots
    check_uniforms(partition, uniforms.shape[0], uniforms.shape[2])
    for k in range(n_slots):
        if partition.touched[k] and partition.size[k] > 1:
            members = members_of(partition, [k])
            trial = members[::step_of(len(members))]
            starts = [seeded(uniforms[k, i, 0], uniforms[k, i, 1], len(trial))
                      for i in range(uniforms.shape[1])]
            starts += atypical(partition, trial)
            if divide(partition, [k], members, starts):
                splits += 1
            else:
                partition.touched[k] = False
    if splits:
        partition.tidy_slots()
    return splits


def exchange(Partition partition, const double[:, :, :, ::1] uniforms):
    check_uniforms(partition, uniforms.shape[0], uniforms.shape[3])
    cdef Pairs pairs
    cdef Py_ssize_t j, k, exchanges = 0, n_slots = partition.component.n_slots
    done, tried = set(), set()
    for j in [k for k in range(n_slots) if partition.component.n[k] > 0.0]:
        if j in done:
            continue
        pairs = Pairs(partition)
        for rank, k in enumerate(pairs.nearest(j, uniforms.shape[1])):
            if k in done or (k, j) in tried:
                continue
            tried.add((j, k))
            members = members_of(partition, [j, k])
            n_trial = len(members[::step_of(len(members))])
            starts = [seeded(uniforms[j, rank, i, 0], uniforms[j, rank, i, 1], n_trial)
                      for i in range(uniforms.shape[2])]
            if divide(partition, [j, k], members, starts):
                done |= {j, k}
                exchanges += 1
                break
    if exchanges:
        partition.tidy_slots()
    return exchanges


cpdef members_of(Partition partition, slots):
    cdef Py_ssize_t i, found = 0, j = slots[0], k = slots[len(slots) - 1]
    partition.component._check_slot(j)
    partition.component._check_slot(k)
    members = index_array(partition.size[j] + (partition.size[k] if k != j else 0))
    cdef Py_ssize_t[::1] member = members
    for i in range(partition.n_rows):
        if partition.label[i] == j or partition.label[i] == k:
            member[found] = i
            found += 1
    return members


cpdef double joint_of(Partition partition, slots) except? -1.0:
    cdef Py_ssize_t k
    for k in slots:
        partition.component._check_slot(k)
    cdef double[::1] counts = array("d", [partition.component.n[k] for k in slots])
    cdef double total = -log_prob_counts_c(&counts[0], counts.shape[0], partition.alpha)
    for k in slots:
        total -= partition.component.marginal(k)
    return total


cpdef two_of(Py_ssize_t n, double u, double v):
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    if not (0.0 <= u < 1.0 and 0.0 <= v < 1.0):
        raise ValueError(f"uniforms must be in [0, 1), got {u} and {v}")
    cdef Py_ssize_t first = <Py_ssize_t> (u * n), second = <Py_ssize_t> (v * (n - 1))
    return first, second + (second >= first)


cdef int check_uniforms(Partition partition, Py_ssize_t n, Py_ssize_t n_seeds) except -1:
    if n != partition.component.n_slots:
        raise ValueError(
            f"uniforms must be given for {partition.component.n_slots} slots, got {n}")
    if n_seeds != 2:
        raise ValueError(f"uniforms must come in pairs, got {n_seeds} together")
    return 0


cdef bint divide(Partition partition, slots, members, starts) except -1:
    """Divide the rows of some slots anew from the best of several starts, if that is better.

    The starts are labels of every step_of()-th member.
    """
    cdef Py_ssize_t step = step_of(len(members))
    cdef Partition best = None, division
    for labels in starts:
        division = settled(partition, members[::step], labels)
        if best is None or division.neg_log_joint < best.neg_log_joint - TIE:
            best = division
    if best is None:
        return False
    if step > 1:
        everyone = index_array(len(members))
        place_some(everyone, best.labels, step)
        best = settled(partition, members, everyone)
    cdef double change = best.neg_log_joint - joint_of(partition, slots)
    if not change < -partition.least_gain:
        return False
    partition.replace(slots, members, best, change)
    return True


cdef Py_ssize_t step_of(Py_ssize_t n):
    return (n + TRIAL_ROWS - 1) // TRIAL_ROWS


cdef Partition settled(Partition partition, members, labels):
    PyErr_CheckSignals()
    cdef Partition division = partition.part(members, labels)
    with nogil:
        converge_rows(division, SETTLE_SWEEPS)
    return division


cdef int place_some(Py_ssize_t[::1] labels, const Py_ssize_t[::1] some, Py_ssize_t step) except -1:
    """Every step-th label from `some`; the others have none yet."""
    cdef Py_ssize_t i
    labels[:] = UNPLACED
    for i in range(some.shape[0]):
        labels[i * step] = some[i]
    return 0


cdef seeded(double u, double v, Py_ssize_t n):
    """Labels with two random rows in clusters 0 and 1 and the others unplaced."""
    labels = index_array(n)
    cdef Py_ssize_t[::1] label = labels
    first, second = two_of(n, u, v)
    label[:] = UNPLACED
    label[first], label[second] = 0, 1
    return labels


cdef atypical(Partition partition, const Py_ssize_t[::1] members):
    """Labels with the least typical rows of a cluster in cluster 1, one for each part."""
    cdef Py_ssize_t i, n = members.shape[0]
    scores = array("d", bytes(8 * n))
    cdef double[::1] typical = scores
    cdef double cut
    cdef Py_ssize_t[::1] label
    for i in range(n):
        typical[i] = -partition.stay_cost(members[i])
    ranked = sorted(scores)
    starts = []
    for part in ATYPICAL_PARTS:
        cut = ranked[int(part * n)] + TIE
        labels = index_array(n)
        label = labels
        for i in range(n):
            label[i] = typical[i] <= cut
        starts.append(labels)
    return starts
