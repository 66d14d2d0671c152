# How long rows are known to stay.

from dpmlite.inference._bounds cimport CHUNK, Chunk
from dpmlite.inference._screening cimport Screen
from dpmlite.models._partition cimport Partition
from dpmlite.models._special cimport inlined_bint, inlined_ssize, inlined_void

cdef struct Shape:              # of what rows cost in a slot, but for slopes and shifts
    double power, fixed         # if it is not theirs: fixed + power sum log(1 + z^2)
    double member_power, stay   # if it is: stay - member_power sum log(1 - ratio z^2)
    double ratio

cdef struct Known:              # of a slot
    Shape shape                 # when the stage began
    double own_before           # drift of what it costs to stay, until the stage began
    double own_back             # most of it from a state in this stage to that when it began
    double noted                # what a row begins with that is noted now: own_before - own_back

cdef enum:
    LEAST_POWER = 8  # m of clusters that rows may be known to stay in
    FEW_MOVE = 64    # one row in so many: else it is not known which stay in the next sweep

cdef Py_ssize_t pass_known(const float *until, const Py_ssize_t *label, const float *own,
                           double drift, Py_ssize_t first, Py_ssize_t last) noexcept nogil


cdef class Drift:
    cdef float *until           # [row] the drift until which it is known to stay; 0: not at all
    cdef Py_ssize_t n_rows, n_columns
    cdef Py_ssize_t n_slots     # that are known
    cdef Known *known           # [slot], and the memory of what follows:
    cdef double *slope          # [slot][2 columns] slopes, then shifts, when the stage began
    cdef float *own             # [slot] drift of what it costs to stay in all, or a little more
    cdef Py_ssize_t *apart      # slots that drifted far, of which rows known to stay know nothing
    cdef Py_ssize_t n_apart
    # The most that any slot drifted, of what it costs elsewhere:
    cdef double before          # the sum of that over stages that have ended,
    cdef double before_sweep    # and what that was when this sweep began,
    cdef double forth           # since this stage began,
    cdef double back            # from a state in this stage to that when it began
    cdef Py_ssize_t stage_row   # where this stage began
    cdef int stage              # how many began so far
    cdef float reference        # of the costs that drift is in proportion to
    cdef float cap              # bounds of costs above it count as this
    cdef bint blank             # nothing was noted when the sweep began, or
    cdef bint lost              # slots have changed that were not followed
    cdef readonly Py_ssize_t n_in_turn  # rows that threads visited in turn in this sweep (_relay.pyx)
    cdef bint busy              # so many rows moved in the last sweep that it was in vain

    # Whether row i is known to stay, as things stand.
    cdef inline inlined_bint knows(self, Partition partition, Py_ssize_t i) noexcept nogil:
        return self.until[i] > self.before + self.forth + self.own[partition.label[i]]

    # So many of the rows before `first` moved: where that is more than few, slots are not followed.
    cdef inline inlined_void lose_if_busy(self, Py_ssize_t moves, Py_ssize_t first) noexcept nogil:
        if moves > first // FEW_MOVE + CHUNK:
            self.lose()

    # The row to go on from: those of first..last-1 before it are known to stay.
    cdef inline inlined_ssize pass_known(self, Partition partition, Py_ssize_t first,
                                         Py_ssize_t last) noexcept nogil:
        if first >= last:
            return first
        return pass_known(self.until, &partition.label[0], self.own, self.before + self.forth,
                          first, last)

    cdef int begin(self, Partition partition) except -1
    cdef int renumber(self, Partition partition) except -1
    cdef int make_slots(self, Py_ssize_t n_slots) except -1
    cdef void forget(self, Partition partition) noexcept nogil
    cdef double start_all(self, Partition partition, double far) noexcept nogil
    cdef double start(self, Partition partition, Py_ssize_t k) noexcept nogil
    cdef void follow(self, Partition partition, Py_ssize_t k) noexcept nogil
    cdef void lose(self) noexcept nogil
    cdef void start_counting(self, Partition partition) noexcept nogil
    cdef void begin_anew(self, Py_ssize_t k) noexcept nogil
    cdef void meet(self, Partition partition, const Screen *screen, Chunk *chunk,
                   Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void gather(self, Partition partition, Chunk *chunk, Py_ssize_t first,
                     Py_ssize_t last) noexcept nogil
    cdef void row_moved(self, Partition partition, const Chunk *chunk,
                        Py_ssize_t j) noexcept nogil
    cdef bint may_begin_stage(self, Py_ssize_t i) noexcept nogil
    cdef bint still_known(self, Partition partition, Chunk *chunk, Py_ssize_t first,
                          Py_ssize_t last) noexcept nogil
    cdef void note(self, Partition partition, const Chunk *chunk, float most) noexcept nogil


cdef Drift remembered(Partition partition)
