"""Bounds of what rows of counts score in all slots, in single precision.

With a = beta + n of a word in a slot, x of it add log a + log(a + 1) + ... + log(a + x - 1). Beyond
a + 1 the logarithm is below the line through its values at a and a + 1, so that this is at most

    (x - e) log a + e log(a + 1),    e = 0 + 1 + ... + (x - 1) = x (x - 1) / 2,

and no less for x of 1 and 2. The two logarithms are kept for all words and slots and renewed where
rows move: a word takes two products for sixteen slots at a time, however often it occurs.

Rounding: the error of a sum of m terms in single precision, of numbers that are rounded to it, is
less than (m + 2) 2^-23 times the sum of the terms' absolute values, which is at most
`rounding_weight` of the row times `span`.
"""

from libc.math cimport INFINITY
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from dpmlite.core._constants cimport INTEGER_SHIFT, SINGLE_ROUNDING
from dpmlite.core._rows cimport column_of
from dpmlite.core._simd cimport LANES, larger, log_positive, most_of, sum_of
from dpmlite.core._special cimport log_rising_of_lane
from dpmlite.families._slot_vectors cimport padded

cdef enum:
    NARROW_SINGLE = 16  # slots of a vector of AVX-512
    MAX_COUNT = 4096    # of a word in a row: e and x - e are whole numbers in single precision


cdef bint cost_bounds(LogCounts *logs, const Row *row, double total, const double *size,
                      Py_ssize_t n_slots, const double *log_weight, double *out) noexcept nogil:
    """Write lower bounds of a row's costs in all slots; return False if there are none.

    `total` is B, and `size` holds N of every slot.
    """
    cdef double n_words = 0.0, margin
    cdef double weight = rounding_weight(row, &n_words)
    if weight < 0.0 or not allocate_logs(logs):
        return False
    renew_stale(logs, n_slots)
    score_bounds(logs, row, n_slots, out)
    margin = SINGLE_ROUNDING * (row.n_values + 2) * weight * logs.span
    make_costs(total, size, n_slots, n_words, log_weight, margin, out)
    return True


cdef clones_void make_costs(double total, const double *size, Py_ssize_t n_slots, double n_words,
                            const double *log_weight, double margin, double *out) noexcept nogil:
    """Turn bounds of scores, but for their denominators and rounding, into bounds of costs."""
    cdef Py_ssize_t k
    for k in range(padded(n_slots)):
        out[k] = log_rising_of_lane(total + size[k], n_words) - log_weight[k] - margin - out[k]


cdef bint allocate_logs(LogCounts *logs) noexcept nogil:
    """Allocate memory for the logarithms if there is none; return whether there is any now."""
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


cdef void free_logs(LogCounts *logs) noexcept nogil:
    free(logs.memory)
    logs.memory = NULL


cdef void renew_stale(LogCounts *logs, Py_ssize_t n_slots) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n_slots):
        if logs.stale[k]:
            renew_all(logs, k)
            logs.stale[k] = False


cdef clones_void renew_all(LogCounts *logs, Py_ssize_t k) noexcept nogil:
    cdef Py_ssize_t words[LANES]
    cdef Py_ssize_t first = 0, j
    while first < logs.n_words:
        for j in range(LANES):
            words[j] = first + j if first + j < logs.n_words else first
        renew(logs, words, k)
        first += LANES


cdef clones_void renew_words(LogCounts *logs, const Row *row, Py_ssize_t k) noexcept nogil:
    cdef Py_ssize_t words[LANES]
    cdef Py_ssize_t first = 0, j
    while first < row.n_values:
        for j in range(LANES):
            words[j] = column_of(row, first + j if first + j < row.n_values else first)
        renew(logs, words, k)
        first += LANES


cdef inline inlined_void renew(LogCounts *logs, const Py_ssize_t *words,
                               Py_ssize_t k) noexcept nogil:
    """Renew the logarithms of some words of slot k."""
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


cdef double rounding_weight(const Row *row, double *n_words) noexcept nogil:
    """Sum of x + 2 e, not below that of |x - e| + e; negative if an x is fractional or large.

    Also counts the row's words.
    """
    cdef double words[LANES]
    cdef double squares[LANES]
    cdef double max_x[LANES]
    cdef double x
    cdef Py_ssize_t first = 0
    cdef int j
    for j in range(LANES):
        words[j] = squares[j] = max_x[j] = 0.0
    while first < row.n_values:
        for j in range(LANES):
            x = row.values[first + j] * row.weight if first + j < row.n_values else 0.0
            words[j] += x
            squares[j] += x * x
            max_x[j] = max_x[j] if x + INTEGER_SHIFT - INTEGER_SHIFT == x else INFINITY
            max_x[j] = larger(max_x[j], x)
        first += LANES
    n_words[0] = sum_of(words)
    return sum_of(squares) if most_of(max_x) <= MAX_COUNT else -1.0


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
