"""Gains of prefix search: what the next row of a prefix adds to the log joint in each cluster.

The gain in a cluster is the same for every clustering that shares it. It is computed once for each
slot and row: for all slots at once where many of them are asked for, else slot by slot.
"""

from libc.stdlib cimport free
from libc.math cimport INFINITY

from dpmlite.core._constants cimport EMPTY_SLOT
from dpmlite.core._memory cimport resized

cdef enum:
    NO_ROW = -1
    SLOTS_PER_CALL = 16  # slots that are scored together in the time of one that is scored alone


cdef class PrefixGains:
    """Gains of one row after another of the heuristic's order, in the slots of a component."""

    def __cinit__(self, SearchHeuristic heuristic):
        self.heuristic, self.component = heuristic, heuristic.component
        self.row_of = NULL
        self.gain = self.cost = self.log_factor = NULL

    def __init__(self, SearchHeuristic heuristic):
        self.allocate()

    def __dealloc__(self):
        free(self.row_of)
        free(self.gain)
        free(self.cost)
        free(self.log_factor)

    cdef int allocate(self) except -1 nogil:
        """Make room for all slots of the component."""
        cdef Py_ssize_t slot, capacity = self.component.capacity
        if capacity == self.capacity:
            return 0
        self.row_of = <Py_ssize_t *> resized(self.row_of, capacity * sizeof(Py_ssize_t))
        self.gain = <double *> resized(self.gain, capacity * sizeof(double))
        self.cost = <double *> resized(self.cost, capacity * sizeof(double))
        self.log_factor = <double *> resized(self.log_factor, capacity * sizeof(double))
        for slot in range(self.capacity, capacity):
            self.row_of[slot] = NO_ROW
            self.log_factor[slot] = self.heuristic.log_alpha  # EMPTY_SLOT keeps it
        self.capacity = capacity
        return 0

    cdef int update_slot(self, Py_ssize_t slot) except -1 nogil:
        """Forget the gain in a slot whose cluster has changed."""
        self.allocate()
        self.row_of[slot] = NO_ROW
        self.log_factor[slot] = self.heuristic.log_factor(self.component.n[slot], 1.0)
        return 0

    cdef void find(self, const Py_ssize_t *slots, Py_ssize_t n_clusters,
                   Py_ssize_t d) noexcept nogil:
        """Find the gains of row d in these slots and in EMPTY_SLOT."""
        cdef Py_ssize_t k, n_unknown = self.row_of[EMPTY_SLOT] != d
        cdef Row row = self.heuristic.row(d)
        for k in range(n_clusters):
            n_unknown += self.row_of[slots[k]] != d
        if n_unknown * SLOTS_PER_CALL >= self.component.n_slots and self.heuristic.unit_weights:
            self.component.costs_below(&row, self.log_factor, INFINITY, self.cost)
            for k in range(self.component.n_slots):
                self.gain[k], self.row_of[k] = -self.cost[k], d
        elif n_unknown > 0:
            self.find_in_slot(&row, EMPTY_SLOT, d)
            for k in range(n_clusters):
                self.find_in_slot(&row, slots[k], d)

    cdef void find_in_slot(self, const Row *row, Py_ssize_t slot, Py_ssize_t d) noexcept nogil:
        """Find the gain of row d in one slot, if it is not known."""
        if self.row_of[slot] != d:
            self.row_of[slot] = d
            self.gain[slot] = self.component.score_slot(row, slot) + (
                self.log_factor[slot] if self.heuristic.unit_weights
                else self.heuristic.log_factor(self.component.n[slot], row.weight))
