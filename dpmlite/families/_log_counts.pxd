from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_void, inlined_void

cdef struct LogCounts:
    Py_ssize_t n_words, capacity
    const double *beta   # [word]
    const double *count  # [word][slot]
    void *memory         # NULL: there are none
    double span          # none is larger, without its sign
    float *log_count     # [word][slot][2] log a and log(a + 1) of a = beta + count
    char *stale          # [slot] whether a column is out of date


cdef inline inlined_void note_slot(LogCounts *logs, Py_ssize_t k) noexcept nogil:
    """Slot k has changed in many words."""
    if logs.memory != NULL:
        logs.stale[k] = True


cdef inline inlined_void note_row(LogCounts *logs, const Row *row, Py_ssize_t k) noexcept nogil:
    """Slot k has changed in the row's words."""
    if logs.memory != NULL and not logs.stale[k]:
        note_words(logs, row, k)

cdef bint make_logs(LogCounts *logs) noexcept nogil
cdef void drop_logs(LogCounts *logs) noexcept nogil
cdef void catch_up(LogCounts *logs, Py_ssize_t n_slots) noexcept nogil
cdef clones_void note_words(LogCounts *logs, const Row *row, Py_ssize_t k) noexcept nogil
cdef double reach_of(const Row *row, double *n_words) noexcept nogil
cdef clones_void score_bounds(const LogCounts *logs, const Row *row, Py_ssize_t n_slots,
                              double *out) noexcept nogil
