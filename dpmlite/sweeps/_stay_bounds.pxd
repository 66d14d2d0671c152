cimport cython
from dpmlite.core._simd cimport inlined_bint, inlined_ssize
from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._drifting_slots cimport DriftingSlots
from dpmlite.sweeps._screening_bounds cimport Chunk


@cython.final  # its methods are called directly, not through a table
cdef class StayBounds(DriftingSlots):
    cdef float *stay_until      # [row] drift until which it is known to stay; 0: not at all
    cdef Py_ssize_t n_rows
    cdef double before_sweep    # `drift_before` when this sweep began
    cdef Py_ssize_t stage_row   # row at which this stage began
    cdef Py_ssize_t version     # number of changes of what is known
    cdef bint is_empty          # stay_until is 0 for all rows, and no sweep records any
    cdef bint is_blank          # nothing is known of any row that this sweep has still to visit
    cdef bint is_lost           # slots have changed without being tracked
    cdef bint is_busy           # too many rows moved in the last sweep for it to be of use
    cdef readonly Py_ssize_t n_rows_shared   # rows that several threads visited in this sweep
    cdef readonly Py_ssize_t n_rows_by_slot  # rows that were screened by slot in this sweep

    # Whether row i is known to stay.
    cdef inline inlined_bint knows(self, Partition partition, Py_ssize_t i) noexcept nogil:
        return self.stay_until[i] > (
            self.drift_before + self.drift_since + self.own_drift[partition.label[i]])

    # The first row of first..last-1 that may not be known to stay, or `last`.
    cdef inline inlined_ssize skip_known(self, Partition partition, Py_ssize_t first,
                                         Py_ssize_t last) noexcept nogil:
        if first >= last:
            return first
        return skip_known_rows(self.stay_until, &partition.label[0], self.own_drift,
                               self.drift_before + self.drift_since, first, last)

    cdef int begin_sweep(self, Partition partition) except -1
    cdef void end_sweep(self, Py_ssize_t n_moves) noexcept nogil
    cdef void forget_rows(self) noexcept nogil
    cdef void restart(self, Partition partition) noexcept nogil
    cdef void restart_drifted_slots(self, Partition partition) noexcept nogil
    cdef void track_move(self, Partition partition, const Chunk *chunk,
                         Py_ssize_t j) noexcept nogil
    cdef bint may_begin_stage(self, Py_ssize_t i) noexcept nogil
    cdef void lose(self) noexcept nogil
    cdef void lose_if_busy(self, Py_ssize_t n_moves, Py_ssize_t first) noexcept nogil
    cdef void record(self, Partition partition, const Chunk *chunk) noexcept nogil
    cdef void take_unknown_rows(self, Partition partition, Chunk *chunk, Py_ssize_t first,
                                Py_ssize_t last) noexcept nogil
    cdef void pass_over_known(self, Partition partition, Chunk *chunk, Py_ssize_t first,
                              Py_ssize_t last) noexcept nogil
    cdef bint still_knows(self, Partition partition, Chunk *chunk, Py_ssize_t first,
                          Py_ssize_t last) noexcept nogil

cpdef StayBounds stay_bounds_of(Partition partition)
cdef Py_ssize_t skip_known_rows(const float *stay_until, const Py_ssize_t *label,
                                const float *own_drift, double drift, Py_ssize_t first,
                                Py_ssize_t last) noexcept nogil
