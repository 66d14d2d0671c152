from libc.math cimport fabs

from dpmlite.core._simd cimport inlined_double
from dpmlite.families._student_t cimport Densities
from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._screening_bounds cimport Chunk, SlotBound
from dpmlite.sweeps._screening_gaps cimport GapSlot
from dpmlite.sweeps._screening_weights cimport WeightedSlot, Weights

cdef struct Screen:
    const Densities *t         # NULL if the rows cannot be screened
    Py_ssize_t first_column    # of a row that they read
    bint is_part               # whether they are a part of a product, whose others are discrete
    bint has_weights           # whether rows have weights,
    bint has_gaps              # or may have gaps
    Py_ssize_t n_unscreened    # chunks that are not screened, where screening did not pay
    Py_ssize_t n_slots         # slots of the partition when the open ones were listed
    Py_ssize_t capacity        # slots that there is memory for; 0 if all bounds are out of date
    Py_ssize_t n_open          # slots that a row may go to,
    Py_ssize_t *open           # ascending: those that hold rows, and the first empty one
    double high_cost           # few rows pay more to stay
    void *memory
    SlotBound *slot
    WeightedSlot *weighted     # what stands for `slot` if rows have weights,
    GapSlot *with_gaps         # or gaps
    Weights weights
    Py_ssize_t n_terms         # that a slot has of each column
    float *slope               # [slot][term][column] slopes, shifts, and others for rows with gaps
    Chunk *chunk


# A lower bound must be below this, because of its rounding, where the cost may be below `limit`.
cdef inline inlined_double with_rounding(double limit) noexcept nogil:
    return limit + 2e-6 * fabs(limit)

cdef bint can_be_screened(Partition partition) noexcept nogil
cdef void begin_screen(Screen *s, Partition partition) noexcept nogil
cdef void end_screen(Screen *s) noexcept nogil
cdef int load_slots_if_needed(Screen *s, Partition partition) except -1 nogil
cdef Py_ssize_t list_open_slots(Screen *s, Partition partition) noexcept nogil
cdef void take_rows(Chunk *chunk, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef void screen_chunk(const Screen *s, Partition partition, Chunk *chunk) noexcept nogil
cdef void screen_near(const Screen *s, Partition partition, Chunk *chunk, const Py_ssize_t *slots,
                      Py_ssize_t n, float elsewhere) noexcept nogil
cdef void screen_against(const Screen *s, Partition partition, Chunk *chunk,
                         const Py_ssize_t *slots, Py_ssize_t n) noexcept nogil
cdef void rebound_slot(Screen *s, Partition partition, Chunk *chunk, Py_ssize_t k) noexcept nogil
cdef void find_join_ceilings(const Screen *s, Partition partition, Chunk *chunk,
                             const int *slots) noexcept nogil
