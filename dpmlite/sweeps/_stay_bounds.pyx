"""How long rows are known to stay: until clusters have drifted too far.

Where few rows move, clusters change little, and a row that was far from moving stays. Hamerly
(2010) uses this for k-means, with distances; here a row has costs, and a cluster drifts as in
_slot_drift.pyx. When a row is screened, the gap between its cost to stay and its costs elsewhere
tells how much drift it allows. `stay_until` is that plus the drift so far, minus the drift back to
the beginning of the stage (_drifting_slots.pyx). The row is known to stay while stay_until is above
the sum of the largest drift of any slot and the drift of its own slot.

When clusters have drifted much, a new stage begins, and what they drifted before does not count for
rows that are screened later. Where a slot is new when a sweep begins, or has drifted far since the
last one, all rows are screened again.
"""

cimport cython
from libc.stdlib cimport free
from libc.string cimport memset

from dpmlite.core._constants cimport (
    DRIFT_ROUNDING, MAX_ALLOWED_DRIFT, STAGE_DRIFT, SWEEP_DRIFT, UNPLACED)
from dpmlite.core._memory cimport zeroed_memory
from dpmlite.sweeps._drifting_slots cimport DRIFT_LIMIT
from dpmlite.sweeps._screening cimport take_rows
from dpmlite.sweeps._screening_bounds cimport CHUNK, allowed_drifts

cdef enum:
    STAGE_ROWS = 2048          # rows of a stage at least, for its beginning takes time
    ROWS_PER_TEST = 8          # rows that are tested at once for being known to stay
    ROWS_PER_MOVE = 64         # rows per row that moves; with fewer, slots are not tracked


@cython.final  # its methods are called directly, not through a table
cdef class StayBounds(DriftingSlots):
    """What sweeps remember of a partition's rows, whatever else changes it in between."""

    def __cinit__(self, Partition partition):
        self.n_rows, self.n_columns = partition.n_rows, partition.component.n_columns
        self.stay_until = <float *> zeroed_memory(self.n_rows * sizeof(float))
        self.is_empty = self.is_lost = True

    def __dealloc__(self):
        free(self.stay_until)

    def known_to_stay(self, Partition partition):
        """Return for each row whether a sweep that begins now would pass over it."""
        self.begin_sweep(partition)
        return [bool(self.knows(partition, i)) for i in range(self.n_rows)]

    cdef void row_moved(self, Py_ssize_t i, Py_ssize_t left, Py_ssize_t joined) noexcept nogil:
        self.stay_until[i] = 0.0

    cdef void rebuilt(self) noexcept nogil:
        self.forget_rows()

    cdef void forget_rows(self) noexcept nogil:
        if not self.is_empty:
            memset(self.stay_until, 0, self.n_rows * sizeof(float))
        self.is_empty = True

    cdef int begin_sweep(self, Partition partition) except -1:
        """Find how far the slots have drifted since the last sweep."""
        cdef double drift
        self.n_rows_shared = self.n_rows_by_slot = 0
        if self.is_busy:
            self.lose()
            return 0
        self.renumber_slots(partition)
        drift = self.begin_stage(partition)
        self.drift_before += drift
        self.is_blank = (self.is_lost or not drift < MAX_ALLOWED_DRIFT
                         or not self.drift_before < DRIFT_LIMIT)
        if self.is_blank:
            self.restart(partition)
        else:
            self.restart_drifted_slots(partition)
        self.before_sweep, self.stage_row = self.drift_before, 0
        self.is_empty = self.is_lost = False
        return 0

    cdef void end_sweep(self, Py_ssize_t n_moves) noexcept nogil:
        self.is_busy = n_moves > self.n_rows // ROWS_PER_MOVE

    cdef void restart(self, Partition partition) noexcept nogil:
        """Forget all rows, and count drift from here."""
        self.forget_rows()
        self.restart_drift(partition)

    cdef void restart_drifted_slots(self, Partition partition) noexcept nogil:
        """Forget the rows of slots that have drifted far for their own rows."""
        cdef Py_ssize_t i, k
        cdef bint any_drifted = False
        for k in range(self.n_slots):
            any_drifted = any_drifted or not self.own_drift[k] < DRIFT_LIMIT
        for i in range(self.n_rows if any_drifted else 0):
            if not self.own_drift[partition.label[i]] < DRIFT_LIMIT:
                self.stay_until[i] = 0.0
        for k in range(self.n_slots):
            if not self.own_drift[k] < DRIFT_LIMIT:
                self.restart_own_drift(k)

    cdef void track_move(self, Partition partition, const Chunk *chunk,
                         Py_ssize_t j) noexcept nogil:
        """Row j of a chunk has moved: track its slots; begin another stage if they drifted much."""
        if self.is_lost:
            return
        cdef Py_ssize_t joined = partition.label[chunk.index[j]]
        if joined >= self.n_slots:  # a slot that is new in this sweep
            self.lose()
            return
        self.version += 1
        if chunk.label[j] != UNPLACED:
            self.track_slot(partition, chunk.label[j])
        self.track_slot(partition, joined)
        cdef double drift = self.drift_since + self.drift_back
        if drift >= STAGE_DRIFT and self.may_begin_stage(chunk.index[j]):
            self.drift_before += self.begin_stage(partition)
        elif drift >= MAX_ALLOWED_DRIFT:
            self.lose()  # no row that is recorded now would be known to stay

    cdef bint may_begin_stage(self, Py_ssize_t i) noexcept nogil:
        """Return whether a stage may begin at row i: not too soon, nor after too much drift."""
        if (i < self.stage_row + STAGE_ROWS
                or self.drift_before - self.before_sweep >= SWEEP_DRIFT):
            return False
        self.stage_row = i
        return True

    cdef void lose(self) noexcept nogil:
        """Slots will change without being tracked: no row is known to stay."""
        self.is_lost = self.is_blank = True
        self.drift_since = DRIFT_LIMIT
        self.version += 1

    cdef void lose_if_busy(self, Py_ssize_t n_moves, Py_ssize_t first) noexcept nogil:
        """Stop tracking slots if many of the rows before `first` moved: it takes too long."""
        if n_moves > first // ROWS_PER_MOVE + CHUNK and not self.is_lost:
            self.lose()

    cdef void record(self, Partition partition, const Chunk *chunk) noexcept nogil:
        """Record how long the rows of a chunk, whose bounds are up to date, are known to stay."""
        cdef float[CHUNK] allowed
        cdef double drift = self.drift_before - self.drift_back - DRIFT_ROUNDING
        cdef Py_ssize_t i, j, k
        if self.is_lost:
            return
        allowed_drifts(chunk, self.reference, self.cost_cap, allowed)
        for j in range(chunk.n_rows):
            i, k = chunk.index[j], chunk.label[j]
            if k != UNPLACED and partition.label[i] == k:
                self.stay_until[i] = <float> (drift + self.slot[k].own_start + allowed[j])

    cdef void take_unknown_rows(self, Partition partition, Chunk *chunk, Py_ssize_t first,
                                Py_ssize_t last) noexcept nogil:
        """Fill a chunk with those of rows first..last-1 that are not known to stay."""
        chunk.version = self.version
        if self.is_blank:
            take_rows(chunk, first, last)
        else:
            self.pass_over_known(partition, chunk, first, last)

    cdef void pass_over_known(self, Partition partition, Chunk *chunk, Py_ssize_t first,
                              Py_ssize_t last) noexcept nogil:
        """Fill a chunk with the next rows of first..last-1 that are not known to stay."""
        cdef Py_ssize_t n = 0, n_before, i
        while first < last and n < CHUNK:
            first = self.skip_known(partition, first, last)
            n_before = n
            for i in range(first, min(first + ROWS_PER_TEST, last)):
                chunk.index[n] = first
                n += not self.knows(partition, first)
                first += 1
                if n == CHUNK:
                    break
            for i in range(n_before, n):  # these rows may lie far apart
                partition.X.prefetch(partition.in_use(chunk.index[i]))
        chunk.n_rows, chunk.end = n, first

    cdef bint still_knows(self, Partition partition, Chunk *chunk, Py_ssize_t first,
                          Py_ssize_t last) noexcept nogil:
        """Return whether rows first..last-1, passed over, still stay; else end the chunk there."""
        cdef Py_ssize_t i
        if chunk.version == self.version:
            return True
        for i in range(self.skip_known(partition, first, last), last):
            if not self.knows(partition, i):
                chunk.end = i
                return False
        return True


cpdef StayBounds stay_bounds_of(Partition partition):
    """Return the stay bounds that listen to a partition, new ones if there are none."""
    for listener in partition.listener_list.listeners:
        if isinstance(listener, StayBounds):
            return listener
    cdef StayBounds bounds = StayBounds(partition)
    partition.add_listener(bounds)
    return bounds


cdef Py_ssize_t skip_known_rows(const float *stay_until, const Py_ssize_t *label,
                                const float *own_drift, double drift, Py_ssize_t first,
                                Py_ssize_t last) noexcept nogil:
    """Return the first row, by whole groups of ROWS_PER_TEST, that may not be known to stay.

    A scalar loop takes half the time of the gather instructions of AVX-512.
    """
    cdef float least = <float> drift + <float> (2 * DRIFT_ROUNDING)
    cdef Py_ssize_t i
    cdef bint known
    while first + ROWS_PER_TEST <= last:
        known = True
        for i in range(first, first + ROWS_PER_TEST):
            known &= stay_until[i] - least > own_drift[label[i]]
        if not known:
            break
        first += ROWS_PER_TEST
    return first
