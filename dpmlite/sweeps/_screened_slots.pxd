from dpmlite.families._student_t cimport Densities
from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._screening_bounds cimport Chunk, SlotBound
from dpmlite.sweeps._screening_gaps cimport GapSlot
from dpmlite.sweeps._screening_weights cimport WeightedSlot, Weights

cdef struct Screen:
    const Densities *t         # NULL if the rows cannot be screened
    void *part                 # the component whose they are: the partition's, or a part of it
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

cdef bint can_be_screened(Partition partition) noexcept nogil
cdef bint rows_have_bounds(Partition partition) noexcept nogil
cdef void begin_screen(Screen *s, Partition partition) noexcept nogil
cdef void end_screen(Screen *s) noexcept nogil
cdef int load_slots_if_needed(Screen *s, Partition partition) except -1 nogil
cdef Py_ssize_t list_open_slots(Screen *s, Partition partition) noexcept nogil
cdef void load_slot(Screen *s, Partition partition, Py_ssize_t k) noexcept nogil
