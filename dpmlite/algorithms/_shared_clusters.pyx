"""Kernel of shared_clusters.py: clusterings that share the statistics of their clusters.

The last holder of a clustering needs no copy: the list of slots passes to the grown clustering, and
a slot that no other clustering has is changed in place. A search with one clustering copies
nothing.
"""

from libc.stdlib cimport free
from libc.string cimport memcpy

from dpmlite.core._constants cimport EMPTY_SLOT
from dpmlite.core._memory cimport resized


cdef class SharedClusters:

    def __cinit__(self):
        self.clusterings = NULL
        self.users = self.next_free = NULL

    def __dealloc__(self):
        cdef Py_ssize_t c
        for c in range(self.n_made):
            free(self.clusterings[c].slots)
        free(self.clusterings)
        free(self.users)
        free(self.next_free)

    def __init__(self, Component component):
        self.component = component
        component.make_slots(0)
        self.unused = self.free_slot = NONE
        self.take_slot()
        self.take_slot()

    def first(self):
        return self.make(0)

    def slots(self, Py_ssize_t c):
        self._check(c)
        cdef Clustering *clustering = &self.clusterings[c]
        return [clustering.slots[k] for k in range(clustering.n)]

    def hold(self, Py_ssize_t c):
        self._check(c)
        self.keep(c)

    def release(self, Py_ssize_t c):
        self._check(c)
        self.let_go(c)

    def grow(self, Py_ssize_t c, Py_ssize_t k, const double[::1] row, double weight=1.0):
        self._check(c)
        if not 0 <= k <= self.clusterings[c].n:
            raise IndexError(f"cluster must be in 0..{self.clusterings[c].n}, got {k}")
        cdef Row checked = self.component.checked_row(row, weight)
        return self.grown(c, k, &checked)

    def _check(self, Py_ssize_t c):
        if not 0 <= c < self.n_made or self.clusterings[c].holders == 0:
            raise IndexError(f"there is no clustering {c}")

    cdef Py_ssize_t make(self, Py_ssize_t n) except -1 nogil:
        """Make a clustering of no row, with one holder and room for n clusters; return it."""
        cdef Py_ssize_t c = self.unused, capacity
        if c != NONE:
            self.make_room(c, n)
            self.unused = self.clusterings[c].next_unused
        else:
            c = self.n_made
            if c == self.capacity:
                capacity = 2 * self.capacity if self.capacity > 0 else 64
                self.clusterings = <Clustering *> resized(
                    self.clusterings, capacity * sizeof(Clustering))
                self.capacity = capacity
            self.clusterings[c].slots, self.clusterings[c].capacity = NULL, 0
            self.n_made += 1
            self.clusterings[c].holders = 0
            self.make_room(c, n)
        self.clusterings[c].n, self.clusterings[c].holders = 0, 1
        self.n_clusterings += 1
        return c

    cdef int make_room(self, Py_ssize_t c, Py_ssize_t n) except -1 nogil:
        """Make room for n clusters in clustering c."""
        cdef Clustering *clustering = &self.clusterings[c]
        cdef Py_ssize_t capacity = clustering.capacity if clustering.capacity > 0 else 8
        while capacity < n:
            capacity *= 2
        if capacity > clustering.capacity:
            clustering.slots = <Py_ssize_t *> resized(
                clustering.slots, capacity * sizeof(Py_ssize_t))
            clustering.capacity = capacity
        return 0

    cdef int let_go(self, Py_ssize_t c) noexcept nogil:
        """Remove a holder of clustering c; without one, its slots lose a user."""
        cdef Clustering *clustering = &self.clusterings[c]
        cdef Py_ssize_t k
        clustering.holders -= 1
        if clustering.holders == 0:
            for k in range(clustering.n):
                self.give_back(clustering.slots[k])
            clustering.next_unused = self.unused
            self.unused = c
            self.n_clusterings -= 1
        return 0

    cdef int give_back(self, Py_ssize_t slot) noexcept nogil:
        """Remove a user of a slot; without one, the slot is free."""
        self.users[slot] -= 1
        if self.users[slot] == 0:
            self.next_free[slot] = self.free_slot
            self.free_slot = slot
        return 0

    cdef Py_ssize_t take_slot(self) except -1 nogil:
        """Return a slot with one user and arbitrary content."""
        cdef Py_ssize_t slot = self.free_slot, capacity
        if slot != NONE:
            self.free_slot = self.next_free[slot]
        else:
            slot = self.component.n_slots
            if slot == self.slot_capacity:
                capacity = 2 * self.slot_capacity if slot > 0 else 64
                self.users = <Py_ssize_t *> resized(self.users, capacity * sizeof(Py_ssize_t))
                self.next_free = <Py_ssize_t *> resized(
                    self.next_free, capacity * sizeof(Py_ssize_t))
                self.slot_capacity = capacity
            self.component.make_slots(slot + 1)
        self.users[slot] = 1
        return slot

    cdef Py_ssize_t grown(self, Py_ssize_t c, Py_ssize_t k, const Row *row) except -1 nogil:
        """Grow clustering c by a row that joins cluster k; return the new clustering's number."""
        if self.clusterings[c].holders > 1:
            return self.grown_copy(c, k, row)
        cdef bint is_new = k == self.clusterings[c].n
        cdef Py_ssize_t old, slot
        if is_new:
            self.make_room(c, k + 1)
        old = EMPTY_SLOT if is_new else self.clusterings[c].slots[k]
        slot = old
        if is_new or self.users[old] > 1:
            slot = self.take_slot()
            self.component.copy_slot(slot, self.component, old)
            self.users[old] -= not is_new
            self.clusterings[c].slots[k] = slot
            self.clusterings[c].n += is_new
        self.component.add_row(row, slot)
        return c

    cdef Py_ssize_t grown_copy(self, Py_ssize_t c, Py_ssize_t k, const Row *row) except -1 nogil:
        """As `grown`, for a clustering that keeps another holder: a new list of slots."""
        cdef Py_ssize_t j, n = self.clusterings[c].n, slot = self.take_slot()
        cdef Py_ssize_t copy = self.make(n + 1)
        cdef const Py_ssize_t *old = self.clusterings[c].slots
        cdef Py_ssize_t *slots = self.clusterings[copy].slots
        self.component.copy_slot(slot, self.component, old[k] if k < n else <Py_ssize_t> EMPTY_SLOT)
        self.component.add_row(row, slot)
        memcpy(slots, old, n * sizeof(Py_ssize_t))
        slots[k] = slot
        self.clusterings[copy].n = n if k < n else n + 1
        for j in range(n):
            if j != k:
                self.users[slots[j]] += 1
        self.let_go(c)
        return copy
