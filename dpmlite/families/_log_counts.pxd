from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_void, inlined_void

cdef struct LogCounts:
    Py_ssize_t n_words, capacity
    const double *beta   # [word]
    const double *count  # [word][slot]
    void *memory         # NULL: there are none
    double span          # bound of the absolute values of the logarithms
    float *log_count     # [word][slot][2] log a and log(a + 1) of a = beta + count
    char *stale          # [slot] whether a column is out of date


cdef inline inlined_void mark_stale(LogCounts *logs, Py_ssize_t k) noexcept nogil:
    """Slot k has changed in many words: renew_stale has to renew them all."""
    if logs.memory != NULL:
        logs.stale[k] = True


cdef inline inlined_void renew_row(LogCounts *logs, const Row *row, Py_ssize_t k) noexcept nogil:
    """Renew the logarithms of slot k in the row's words, which have changed."""
    if logs.memory != NULL and not logs.stale[k]:
        renew_words(logs, row, k)

cdef bint cost_bounds(LogCounts *logs, const Row *row, double total, const double *size,
                      Py_ssize_t n_slots, const double *log_weight, double *out) noexcept nogil
cdef void free_logs(LogCounts *logs) noexcept nogil
cdef clones_void renew_words(LogCounts *logs, const Row *row, Py_ssize_t k) noexcept nogil
