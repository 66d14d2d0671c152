"""Bounds of what rows of counts score in all slots, in single precision.

With a = beta + n of a word in a slot, x of it add log a + log(a + 1) + ... + log(a + x - 1). Beyond
a + 1 the logarithm is below the line through its values at a and a + 1, so that this is at most

    (x - e) log a + e log(a + 1),    e = 0 + 1 + ... + (x - 1) = x (x - 1) / 2,

and no less for x of 1 and 2. The two logarithms are kept for all words and slots and renewed where
rows move: a word takes two products for sixteen slots at a time, however often it occurs.

Rounding: a sum of m terms, in single precision, of numbers that are rounded to it, is off by less
than (m + 2) 2^-23 times the sum of the terms without their signs, which is at most `reach_of` the
row times `span`.
"""

from libc.math cimport INFINITY
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from dpmlite.core._constants cimport INTEGERS
from dpmlite.core._rows cimport column_of
from dpmlite.core._simd cimport LANES, larger, log_positive, most_of, sum_of
from dpmlite.families._slot_vectors cimport padded

cdef enum:
    NARROW_SINGLE = 16  # slots of a vector of AVX-512
    MOST = 4096  # of a word in a row: e and x - e are whole numbers in single precision


cdef bint make_logs(LogCounts *logs) noexcept nogil:
    """Memory for the logarithms, if there is none yet and there can be."""
    cdef size_t n_pairs = logs.n_words * logs.capacity
    if logs.memory == NULL:
        logs.memory = calloc(1, 64 + (8 * n_pairs + logs.capacity))
        if logs.memory == NULL:
            return False
        logs.log_count = <float *> ((<uintptr_t> logs.memory + 63) & ~(<uintptr_t> 63))
        logs.stale = <char *> (logs.log_count + 2 * n_pairs)
        logs.span = 0.0
        memset(logs.stale, True, logs.capacity)
    return True


cdef void drop_logs(LogCounts *logs) noexcept nogil:
    free(logs.memory)
    logs.memory = NULL


cdef void catch_up(LogCounts *logs, Py_ssize_t n_slots) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n_slots):
        if logs.stale[k]:
            note_all(logs, k)
            logs.stale[k] = False


cdef clones_void note_all(LogCounts *logs, Py_ssize_t k) noexcept nogil:
    cdef Py_ssize_t words[LANES]
    cdef Py_ssize_t first = 0, j
    while first < logs.n_words:
        for j in range(LANES):
            words[j] = first + j if first + j < logs.n_words else first
        note(logs, words, k)
        first += LANES


cdef clones_void note_words(LogCounts *logs, const Row *row, Py_ssize_t k) noexcept nogil:
    cdef Py_ssize_t words[LANES]
    cdef Py_ssize_t first = 0, j
    while first < row.n_values:
        for j in range(LANES):
            words[j] = column_of(row, first + j if first + j < row.n_values else first)
        note(logs, words, k)
        first += LANES


cdef inline inlined_void note(LogCounts *logs, const Py_ssize_t *words,
                              Py_ssize_t k) noexcept nogil:
    """Bring some words of slot k up to date."""
    cdef double a[LANES]
    cdef double log_a[LANES]
    cdef double log_next[LANES]
    cdef double size[LANES]
    cdef float *out
    cdef int j
    for j in range(LANES):
        a[j] = logs.beta[words[j]] + logs.count[words[j] * logs.capacity + k]
    for j in range(LANES):
        log_a[j] = log_positive(a[j])
        log_next[j] = log_positive(a[j] + 1.0)
        size[j] = larger(log_next[j], -log_a[j])
    for j in range(LANES):
        out = logs.log_count + 2 * (words[j] * logs.capacity + k)
        out[0], out[1] = <float> log_a[j], <float> log_next[j]
    logs.span = larger(logs.span, most_of(size))


cdef double reach_of(const Row *row, double *n_words) noexcept nogil:
    """Sum of x + 2 e, not below that of |x - e| + e; negative if an x is fractional or large.

    Also counts the row's words.
    """
    cdef double words[LANES]
    cdef double reach[LANES]
    cdef double worst[LANES]
    cdef double x
    cdef Py_ssize_t first = 0
    cdef int j
    for j in range(LANES):
        words[j] = reach[j] = worst[j] = 0.0
    while first < row.n_values:
        for j in range(LANES):
            x = row.values[first + j] * row.weight if first + j < row.n_values else 0.0
            words[j] += x
            reach[j] += x * x
            worst[j] = worst[j] if x + INTEGERS - INTEGERS == x else INFINITY
            worst[j] = larger(worst[j], x)
        first += LANES
    n_words[0] = sum_of(words)
    return sum_of(reach) if most_of(worst) <= MOST else -1.0


cdef clones_void score_bounds(const LogCounts *logs, const Row *row, Py_ssize_t n_slots,
                              double *out) noexcept nogil:
    """out[k] = the row's bound in slot k but for its rounding, of every slot up to `padded`."""
    cdef Py_ssize_t first = 0, left = padded(n_slots)
    while left >= 4 * NARROW_SINGLE:
        bound_block(logs, row, first, 4 * NARROW_SINGLE, out)
        first, left = first + 4 * NARROW_SINGLE, left - 4 * NARROW_SINGLE
    if left == 3 * NARROW_SINGLE:
        bound_block(logs, row, first, 3 * NARROW_SINGLE, out)
    elif left == 2 * NARROW_SINGLE:
        bound_block(logs, row, first, 2 * NARROW_SINGLE, out)
    elif left == NARROW_SINGLE:
        bound_block(logs, row, first, NARROW_SINGLE, out)


cdef inline inlined_void bound_block(const LogCounts *logs, const Row *row, Py_ssize_t first,
                                     int width, double *out) noexcept nogil:
    cdef float total[8 * NARROW_SINGLE]
    cdef const float *log_a
    cdef float x, e
    cdef Py_ssize_t i
    cdef int j
    for j in range(2 * width):
        total[j] = 0
    for i in range(row.n_values):
        x = <float> (row.values[i] * row.weight)
        if x != 0:
            log_a = logs.log_count + 2 * (column_of(row, i) * logs.capacity + first)
            e = x * (x - 1) * <float> 0.5
            x -= e
            for j in range(width):
                total[2 * j] += x * log_a[2 * j]
                total[2 * j + 1] += e * log_a[2 * j + 1]
    for j in range(width):
        out[first + j] = total[2 * j] + total[2 * j + 1]
