# Bounds of what rows cost in every slot, found for many rows at once.


from libc.math cimport fabs

from dpmlite.models._partition cimport Partition
from dpmlite.models._student_t cimport Densities

cdef enum:
    CHUNK = 64  # rows that are screened together: their sums stay in registers

cdef struct Chunk:
    Py_ssize_t first, n_rows   # rows of the partition
    long long screened_at      # of the screen's clock
    float reach                # largest of the standardised values, without its sign
    double *row                # [column] room for a row
    float *u                   # [column][row] standardised values
    float *bound               # [slot][row] of the cost, from below; huge for a row's own slot,
    float own[CHUNK]           # whose bound is here
    int label[CHUNK]           # slot of each row when the chunk was screened
    char stays[CHUNK]          # rows that are known to stay

cdef struct Slot:
    double power, floor, reach        # bound: power log2 (a bound of P) + floor - reach max |u|
    double per_power                  # from such a bound back to log P, and a little more
    double error, error_reach         # of log P, by itself and for every unit of max |u|
    double stay                       # cost of a member at the mean,
    double member_power, member_ratio # and - member_power log (1 - member_ratio (P - 1)) is added
    long long changed_at

cdef struct Screen:
    const Densities *t         # NULL: the family has no quick look
    Py_ssize_t n_slots, room   # slots that are known, and that memory is there for
    Py_ssize_t n_threads, n_chunks
    long long clock            # ticks when slots change
    void *memory
    Slot *slot
    float *slope               # [slot][2 columns] slopes, then shifts
    Chunk *chunk

cdef void begin_screen(Screen *s, Partition partition, Py_ssize_t n_threads) noexcept nogil
cdef void end_screen(Screen *s) noexcept nogil
cdef int screen_chunks(Screen *s, Partition partition, Py_ssize_t first) except -1 nogil
cdef void catch_up(Screen *s, Chunk *chunk) noexcept nogil
cdef int note_change(Screen *s, Partition partition, Py_ssize_t k) except -1 nogil
cdef void decide(const Screen *s, Chunk *chunk, Py_ssize_t first) noexcept nogil




# Whether a cost may be below a limit; the bound is rounded.
cdef inline bint may_cost_less(double bound, double limit) noexcept nogil:
    return not bound >= limit + 2e-6 * fabs(limit)
