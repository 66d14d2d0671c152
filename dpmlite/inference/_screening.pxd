# Bounds of what rows cost in every slot, found for many rows at once.


from libc.math cimport fabs

from dpmlite.models._partition cimport Partition
from dpmlite.models._student_t cimport Densities

cdef enum:
    CHUNK = 64  # rows that are screened together: their sums stay in registers

# For log P, from the bound of a row's own slot as if it were new: base + per_power bound; then the
# cost to stay is stay - power log (1 - ratio (P - 1)). Each a little more, not less.
cdef struct Stay:
    float base[CHUNK]
    float per_power[CHUNK]
    float stay[CHUNK]
    float power[CHUNK]
    float ratio[CHUNK]

cdef struct Chunk:
    Py_ssize_t first, n_rows   # rows of the partition
    long long screened_at      # of the screen's clock
    float reach                # largest of the standardised values, without its sign
    double *row                # [column] room for a row
    float *u                   # [column][row] standardised values
    float *bound               # [slot][row] of the cost, from below; huge for a row's own slot,
    float own[CHUNK]           # whose bound is here,
    Stay stay                  # and what else it costs to stay there
    float least[CHUNK]         # not above any bound of a row,
    float ceiling[CHUNK]       # not below what it costs to stay: huge without a label
    int label[CHUNK]           # slot of each row when the chunk was screened
    int stays[CHUNK]           # rows that are known to stay

cdef struct Slot:
    double power, floor, reach        # bound: power log2 (a bound of P) + floor - reach max |u|
    double base, base_reach           # of Stay: base + base_reach max |u|
    double per_power, stay, member_power, member_ratio
    long long changed_at

cdef struct Screen:
    const Densities *t         # NULL: the family has no quick look
    Py_ssize_t n_slots, room   # slots that are known, and that memory is there for
    Py_ssize_t n_open          # slots that a row may go to,
    Py_ssize_t *open           # ascending: all that hold rows, and the first that is empty
    Py_ssize_t n_threads, n_chunks
    long long clock            # ticks when slots change
    void *memory
    Slot *slot
    float *slope               # [slot][2 columns] slopes, then shifts
    Chunk *chunk

cdef void begin_screen(Screen *s, Partition partition, Py_ssize_t n_threads) noexcept nogil
cdef void end_screen(Screen *s) noexcept nogil
cdef int screen_chunks(Screen *s, Partition partition, Py_ssize_t first,
                       Py_ssize_t n_chunks) except -1 nogil
cdef void catch_up(Screen *s, Chunk *chunk) noexcept nogil
cdef void note_change(Screen *s, Partition partition, Py_ssize_t k) noexcept nogil
cdef Py_ssize_t list_open(Screen *s, Partition partition) noexcept nogil
cdef void renew(const Screen *s, Chunk *chunk, Py_ssize_t k) noexcept nogil


# A cost may be below a limit where its bound, which is rounded, is below this.
cdef inline double roughly(double limit) noexcept nogil:
    return limit + 2e-6 * fabs(limit)
