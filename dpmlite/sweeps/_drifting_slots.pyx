"""How far the slots of a partition have drifted, in the stages of sweeps.

Rows come and go, and most of them come back. So a sweep has stages. In a stage, a slot's drift is
the difference between its state when the stage began and its state now, not the length of its way.
For rows that are screened during a stage, the drift back from a state in it to its beginning counts
too.

Small clusters drift far whenever a row moves. But E >= 0 (_slot_drift.pyx): slots with f above
`cost_cap` may change freely if no lower bound of a row counts for more than that.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free
from libc.string cimport memcpy

from dpmlite.core._constants cimport DRIFT_ROUNDING, UNPLACED
from dpmlite.core._memory cimport resized, zeroed_memory
from dpmlite.core._simd cimport larger
from dpmlite.families._screenable cimport Screenable
from dpmlite.families._student_t cimport Densities
from dpmlite.sweeps._slot_drift cimport (
    MIN_MEMBER_POWER, SlotChange, change_of_slot, costs_of_slot, drift_elsewhere, drift_of_own,
    reversed_change)


cdef class DriftingSlots(PartitionListener):

    def __dealloc__(self):
        free(self.slot)
        free(self.previous_slot)

    cdef int slots_made(self, Py_ssize_t first, Py_ssize_t n_slots) except -1 nogil:
        cdef Py_ssize_t k
        if self.capacity < n_slots:
            self.previous_slot = <Py_ssize_t *> resized(
                self.previous_slot, 2 * n_slots * sizeof(Py_ssize_t))
            self.capacity = 2 * n_slots
        for k in range(first, n_slots):
            self.previous_slot[k] = -1
        return 0

    cdef void slots_renumbered(self, const Py_ssize_t *new_slot, Py_ssize_t n_slots) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(n_slots):
            if new_slot[k] != UNPLACED:
                self.previous_slot[new_slot[k]] = self.previous_slot[k]

    cdef int renumber_slots(self, Partition partition) except -1:
        """Slots may have come, gone, or got other numbers since the last sweep began."""
        cdef SlotState *states = self.slot
        cdef const double *slope = self.slope
        cdef Py_ssize_t k, previous, n_slots = partition.component.n_slots
        cdef bint same = n_slots == self.n_slots
        for k in range(n_slots):
            same = same and self.previous_slot[k] == k
        if same:
            return 0
        self.allocate_slots(n_slots)
        for k in range(n_slots):
            previous = self.previous_slot[k]
            self.previous_slot[k] = k
            if previous < 0:
                self.slot[k].costs.fixed[0] = INFINITY  # a new slot has drifted too far
                continue
            self.slot[k] = states[previous]
            memcpy(self.slope + 2 * k * self.n_columns, slope + 2 * previous * self.n_columns,
                   2 * self.n_columns * sizeof(double))
        free(states)
        return 0

    cdef int allocate_slots(self, Py_ssize_t n_slots) except -1:
        """Allocate memory for n_slots; the caller frees the old one."""
        self.slot = <SlotState *> zeroed_memory(
            n_slots * (sizeof(SlotState) + 2 * self.n_columns * sizeof(double))
            + (n_slots - UNPLACED) * sizeof(float))
        self.slope = <double *> (self.slot + n_slots)
        self.own_drift = <float *> (self.slope + 2 * self.n_columns * n_slots)
        self.own_drift -= UNPLACED  # for rows without a label, too
        self.n_slots = n_slots
        return 0

    cdef void restart_drift(self, Partition partition) noexcept nogil:
        """Count drift from here, relative to costs of now."""
        cdef const double *n = partition.component.n
        cdef double total = 0.0, weight = 0.0, least = INFINITY
        cdef const SlotCosts *costs
        cdef Py_ssize_t k
        self.drift_before = 0.0
        for k in range(self.n_slots):
            self.restart_own_drift(k)
            costs = &self.slot[k].costs
            weight += n[k]
            total += n[k] * (0.5 * (costs.fixed[0] + costs.fixed[1]))
            if n[k] < SMALL_CLUSTER * costs.weight[1]:
                least = min(least, min(costs.fixed[0], costs.fixed[1]))
        self.reference = <float> (total / weight)
        # F is about D / 2, so few rows cost more to stay than the second number.
        self.cost_cap = <float> max(least - 1.0, self.reference + self.n_columns + 4.0)

    cdef void restart_own_drift(self, Py_ssize_t k) noexcept nogil:
        self.slot[k].own_before = self.own_drift[k] = 0.0
        self.slot[k].own_start = own_start_of(&self.slot[k])

    cdef double begin_stage(self, Partition partition) noexcept nogil:
        """Compare slots with the last stage; return the largest drift."""
        cdef Py_ssize_t k, empty = partition.first_empty()
        cdef double drift, largest = 0.0
        self.drift_since = self.drift_back = 0.0
        for k in range(self.n_slots):
            drift = self.begin_stage_of_slot(partition, k)
            if partition.component.n[k] > 0.0 or k == empty:  # no row goes to other empty slots
                largest = larger(largest, drift)
        return largest

    cdef double begin_stage_of_slot(self, Partition partition, Py_ssize_t k) noexcept nogil:
        """Keep the state of slot k; return its drift in the last stage for rows of other slots."""
        cdef SlotState *slot = &self.slot[k]
        cdef SlotCosts now = costs_of_slot(partition, k)
        cdef const Densities *t = &(<Screenable> partition.component).t
        cdef Py_ssize_t n = self.n_columns
        cdef double *slope = self.slope + 2 * k * n
        cdef SlotChange change = change_of_slot(partition, slope, k)
        cdef double drift = drift_elsewhere(
            &slot.costs, &now, &change, self.reference, self.cost_cap)
        slot.own_before += drift_of_own(&slot.costs, &now, &change, self.reference)
        slot.own_back, slot.costs = 0.0, now
        self.own_drift[k] = rounded_up(slot.own_before)
        slot.own_start = own_start_of(slot)
        memcpy(slope, t.slot_slope + k * t.n_along, n * sizeof(double))
        memcpy(slope + n, t.slot_shift + k * t.n_along, n * sizeof(double))
        return drift

    cdef void track_slot(self, Partition partition, Py_ssize_t k) noexcept nogil:
        """Slot k has changed: find its drift since the stage began, and back."""
        cdef SlotState *slot = &self.slot[k]
        cdef SlotCosts then = slot.costs, now = costs_of_slot(partition, k)
        cdef SlotChange change = change_of_slot(partition, self.slope + 2 * k * self.n_columns, k)
        cdef SlotChange back = reversed_change(&change)
        cdef double elsewhere = drift_elsewhere(
            &now, &then, &back, self.reference, self.cost_cap)
        cdef double own = drift_of_own(&now, &then, &back, self.reference)
        self.drift_back = larger(self.drift_back, elsewhere)
        slot.own_back = larger(slot.own_back, own)
        slot.own_start = own_start_of(slot)
        elsewhere = drift_elsewhere(&then, &now, &change, self.reference, self.cost_cap)
        own = slot.own_before + drift_of_own(&then, &now, &change, self.reference)
        self.drift_since = larger(self.drift_since, elsewhere)
        self.own_drift[k] = <float> larger(self.own_drift[k], rounded_up(own))


cdef double rounded_up(double drift) noexcept nogil:
    """Return a number that is not below `drift` in single precision."""
    return <float> (drift + DRIFT_ROUNDING)


cdef double own_start_of(const SlotState *slot) noexcept nogil:
    """Return own_before - own_back; -inf if no row of the slot can be known to stay."""
    if slot.costs.member_power[1] < MIN_MEMBER_POWER or not slot.own_before < DRIFT_LIMIT:
        return -INFINITY
    return slot.own_before - slot.own_back
