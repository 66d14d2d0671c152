from dpmlite.partition._listener cimport PartitionListener
from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._slot_drift cimport SlotCosts

cdef struct SlotState:
    SlotCosts costs       # when the stage began
    double own_before     # drift for its own rows before the stage
    double own_back       # largest drift from a state in this stage back to its beginning
    double own_start      # own drift that counts for a row recorded now: own_before - own_back

cdef enum:
    DRIFT_LIMIT = 8       # drift at which all bounds are found anew
    SMALL_CLUSTER = 64    # rows of clusters that drift far whenever a row comes or goes


cdef class DriftingSlots(PartitionListener):
    cdef Py_ssize_t n_columns, n_slots
    cdef Py_ssize_t *previous_slot  # [slot] its number when the last sweep began, or -1
    cdef Py_ssize_t capacity        # slots that `previous_slot` has memory for
    cdef SlotState *slot        # [slot], and the memory of what follows:
    cdef double *slope          # [slot][2 columns] slopes, then shifts, when the stage began
    cdef float *own_drift       # [slot] drift for its own rows so far, rounded up
    # The largest drift of any slot for rows of the others:
    cdef double drift_before    # summed over the stages that have ended,
    cdef double drift_since     # since this stage began,
    cdef double drift_back      # from a state in this stage back to its beginning
    cdef float reference        # h: drift is relative to how far costs are above it
    cdef float cost_cap         # lower bounds of costs above this count as this

    cdef int renumber_slots(self, Partition partition) except -1
    cdef int allocate_slots(self, Py_ssize_t n_slots) except -1
    cdef void restart_drift(self, Partition partition) noexcept nogil
    cdef void restart_own_drift(self, Py_ssize_t k) noexcept nogil
    cdef double begin_stage(self, Partition partition) noexcept nogil
    cdef double begin_stage_of_slot(self, Partition partition, Py_ssize_t k) noexcept nogil
    cdef void track_slot(self, Partition partition, Py_ssize_t k) noexcept nogil
