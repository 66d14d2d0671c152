# Bounds of what rows cost in every slot, kept up to date while rows move.

from libc.math cimport fabs

from dpmlite.inference._bounds cimport Chunk
from dpmlite.models._partition cimport Partition
from dpmlite.models._rows cimport Row
from dpmlite.models._special cimport inlined_double
from dpmlite.models._student_t cimport Densities

cdef struct Slot:
    double power, floor, reach        # bound: power log2 (a bound of P) + floor - reach max |u|,
    double line, line_end             # or with line min(a bound of P - 1, line_end), if line > 0
    double base, base_reach           # of Stay: base + base_reach max |u|
    double per_power, stay, member_power, member_ratio, most

cdef struct Screen:
    const Densities *t         # NULL: the family has no quick look
    Py_ssize_t n_slots, room   # slots that are known, and that memory is there for
    Py_ssize_t n_open          # slots that a row may go to,
    Py_ssize_t *open           # ascending: all that hold rows, and the first that is empty
    double level               # few rows pay more to stay
    Py_ssize_t n_chunks        # that memory is there for
    void *memory
    Slot *slot
    float *slope               # [slot][2 columns] slopes, then shifts
    Chunk *chunk


cdef bint can_be_screened(Partition partition) noexcept nogil
cdef void begin_screen(Screen *s, Partition partition, Py_ssize_t n_chunks) noexcept nogil
cdef void end_screen(Screen *s) noexcept nogil
cdef int prepare(Screen *s, Partition partition) except -1 nogil
cdef void next_rows(Chunk *chunk, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef void screen_chunk(const Screen *s, Partition partition, Chunk *chunk) noexcept nogil
cdef void screen_some(const Screen *s, Partition partition, Chunk *chunk, const Py_ssize_t *slots,
                      Py_ssize_t n) noexcept nogil
cdef void screen_against(const Screen *s, Partition partition, Chunk *chunk,
                         const Py_ssize_t *slots, Py_ssize_t n) noexcept nogil
cdef void note_change(Screen *s, Partition partition, Py_ssize_t k) noexcept nogil
cdef Py_ssize_t list_open(Screen *s, Partition partition) noexcept nogil
cdef void renew(const Screen *s, Chunk *chunk, Py_ssize_t k) noexcept nogil
cdef void find_join_ceilings(const Screen *s, Partition partition, Chunk *chunk,
                             const int *slots) noexcept nogil
cdef void take_ceiling(const Screen *s, Chunk *chunk, Py_ssize_t j, double ceiling) noexcept nogil
cdef void take_costs(const Screen *s, Chunk *chunk, Py_ssize_t j, double stay,
                     double elsewhere) noexcept nogil
cdef void look_closely(const Screen *s, Partition partition, Chunk *chunk) noexcept nogil
cdef double score_some(Partition partition, const Row *row, const Screen *screen,
                       const float *bound, double stay, double *cost,
                       double *elsewhere) noexcept nogil


# A cost may be below a limit where its bound, which is rounded, is below this.
cdef inline inlined_double roughly(double limit) noexcept nogil:
    return limit + 2e-6 * fabs(limit)
