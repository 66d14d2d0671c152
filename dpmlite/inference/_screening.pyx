"""Kernel of screening.py: bounds in single precision, of many rows at once.

Of a row and a slot let t_d be as in _student_t.pyx, and P the product over groups of columns of
1 + sum_d t_d, which is at most prod_d (1 + t_d) and at least 1 + sum_d t_d. In a slot that is not
its own the row costs at least

    power log P - constant - log_weight.

Its own has, without it, prod_d (1 - r t_d) >= 1 - r sum_d t_d >= 1 - r (P - 1) for the factors, with
r = (c + 1) / (c - 1), so that P gives a bound from above of what it costs to stay. Where rows are
closer to their own cluster than to others, one pass over the slots tells that they stay. Rows lie
side by side in vectors, sixteen in one of AVX-512.

Rounding: with u the values of a row, |u| <= U, and z = u slope - shift, the error of z is at most
epsilon (3 U slope + 2 |shift|), and that of log(1 + z^2) at most the same and 2 epsilon, for
2 z / (1 + z^2) <= 1. Sums over columns of slopes and shifts give that of log P.
"""

from cython.parallel cimport prange
from libc.math cimport fabs
from libc.stdint cimport uintptr_t

from dpmlite.models._partition cimport UNPLACED, Partition
from dpmlite.models._rows cimport Row
from dpmlite.models._special cimport (
    LOG_2, clones_float, clones_void, inlined_void, log2_floor_single)
from dpmlite.models._student_t cimport Densities, standardise

cdef extern from "Python.h":
    void *PyMem_RawMalloc(size_t n) nogil
    void PyMem_RawFree(void *p) nogil

cdef extern from *:
    """
    #define DPM_EPSILON 1.2e-7  /* two roundings to single precision */
    #define DPM_COARSE 1e-6     /* several */
    #define DPM_HUGE 1e30f
    #define DPM_ONE 1.0f
    """
    double EPSILON "DPM_EPSILON"
    double COARSE "DPM_COARSE"
    float HUGE "DPM_HUGE"
    float ONE "DPM_ONE"

cdef enum:
    GROUP = 8          # columns of a group
    THREAD_CHUNKS = 64 # that a thread screens before rows are visited again


def screen(Partition partition, Py_ssize_t first, Py_ssize_t last, Py_ssize_t n_threads=1):
    if not 0 <= first <= last <= partition.n_rows:
        raise IndexError(f"rows must be in 0..{partition.n_rows}, got {first}..{last}")
    cdef Screen s
    cdef Py_ssize_t i, j, row = first
    stays = [False] * (last - first)
    begin_screen(&s, partition, n_threads)
    try:
        while s.t != NULL and row < last:
            screen_chunks(&s, partition, row)
            for i in range(s.n_chunks):
                decide(&s, &s.chunk[i], 0)
                for j in range(min(s.chunk[i].n_rows, last - row)):
                    stays[row - first] = bool(s.chunk[i].stays[j])
                    row += 1
    finally:
        end_screen(&s)
    return stays


cdef void begin_screen(Screen *s, Partition partition, Py_ssize_t n_threads) noexcept nogil:
    """Rows that stand for more than one, and families without a quick look, are not screened."""
    s.t = partition.component.densities() if partition.X.row_weights == NULL else NULL
    s.n_threads, s.n_chunks = n_threads, 1 if n_threads == 1 else n_threads * THREAD_CHUNKS
    s.n_slots = s.room = s.clock = 0
    s.memory = NULL


cdef void end_screen(Screen *s) noexcept nogil:
    PyMem_RawFree(s.memory)


cdef int screen_chunks(Screen *s, Partition partition, Py_ssize_t first) except -1 nogil:
    """Find the bounds of as many chunks as there is room for, from row `first`."""
    cdef Py_ssize_t i, k
    if s.room < partition.component.n_slots:
        lay_out(s, partition.component.n_slots)
        for k in range(partition.component.n_slots):
            note_change(s, partition, k)
    for i in range(s.n_chunks):
        s.chunk[i].first = first + i * CHUNK
        s.chunk[i].n_rows = max(
            min(partition.n_rows - s.chunk[i].first, <Py_ssize_t> CHUNK), <Py_ssize_t> 0)
    if s.n_chunks == 1:
        screen_chunk(s, partition, &s.chunk[0])
    else:
        for i in prange(s.n_chunks, num_threads=<int> s.n_threads, schedule="static"):
            screen_chunk(s, partition, &s.chunk[i])
    return 0


cdef int lay_out(Screen *s, Py_ssize_t n_slots) except -1 nogil:
    """Memory for so many slots and some more, and for the chunks."""
    cdef Py_ssize_t i, D = s.t.n_columns
    s.room = (n_slots + n_slots // 2 + 15) & ~(<Py_ssize_t> 15)
    s.n_slots = 0
    PyMem_RawFree(s.memory)
    s.memory = PyMem_RawMalloc(
        64 + s.room * sizeof(Slot) + 2 * D * s.room * sizeof(float)
        + s.n_chunks * (sizeof(Chunk) + (D + s.room) * CHUNK * sizeof(float) + D * sizeof(double)))
    if s.memory == NULL:
        s.room = 0
        with gil:
            raise MemoryError(f"no memory for bounds of {n_slots} clusters")
    cdef float *numbers = <float *> ((<uintptr_t> s.memory + 63) & ~(<uintptr_t> 63))
    s.slope = numbers + s.n_chunks * (D + s.room) * CHUNK
    s.slot = <Slot *> (s.slope + 2 * D * s.room)
    s.chunk = <Chunk *> (s.slot + s.room)
    cdef double *rows = <double *> (s.chunk + s.n_chunks)
    for i in range(s.n_chunks):
        s.chunk[i].u = numbers + i * (D + s.room) * CHUNK
        s.chunk[i].bound = s.chunk[i].u + D * CHUNK
        s.chunk[i].row = rows + i * D
        s.chunk[i].n_rows = 0
    return 0


cdef int note_change(Screen *s, Partition partition, Py_ssize_t k) except -1 nogil:
    """Slot k has changed, or is new: bounds of chunks that were found before are out of date."""
    cdef const Densities *t = s.t
    cdef Py_ssize_t D = t.n_columns
    cdef Slot *slot = &s.slot[k]
    cdef float *slope = s.slope + 2 * k * D
    cdef double slopes = copied(slope, t.slot_slope + 2 * k * D, D)
    cdef double shifts = copied(slope + D, t.slot_shift + 2 * k * D, D)
    cdef double fixed = -t.constant[k] - partition.log_weight[k]
    slot.error = EPSILON * (2 * D + 16 + 3.0 * shifts)
    slot.error_reach = EPSILON * 3.0 * slopes
    slot.power = LOG_2 * t.power[k]
    slot.per_power = 1.001 / t.power[k]
    slot.reach = t.power[k] * slot.error_reach
    slot.floor = fixed - COARSE * fabs(fixed) - t.power[k] * slot.error
    slot.stay = -t.member_constant[k] - partition.light_member_weight[k]
    slot.member_power = t.power[k] - 1.0
    slot.member_ratio = t.member_ratio[k]
    s.clock += 1
    slot.changed_at = s.clock
    s.n_slots = max(s.n_slots, k + 1)
    return 0


cdef clones_float copied(float *out, const double *values, Py_ssize_t n) noexcept nogil:
    """Copies values; returns the sum of what they are without their signs."""
    cdef float total = 0
    cdef Py_ssize_t d
    for d in range(n):
        out[d] = <float> values[d]
        total += out[d] if out[d] > 0 else -out[d]
    return total


cdef void screen_chunk(const Screen *s, Partition partition, Chunk *chunk) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef Row row
    cdef float reach
    chunk.reach = 0
    chunk.screened_at = s.clock
    for i in range(chunk.n_rows):
        row = partition.row_into(chunk.first + i, chunk.row)
        chunk.label[i] = <int> partition.label[chunk.first + i]
        reach = spread(s.t, row.values, chunk.u + i)
        chunk.reach = max(chunk.reach, reach)
    for k in range(s.n_slots):
        find_bounds(s, chunk, k)
    for i in range(chunk.n_rows):
        if chunk.label[i] != UNPLACED:
            chunk.own[i] = chunk.bound[chunk.label[i] * CHUNK + i]
            chunk.bound[chunk.label[i] * CHUNK + i] = HUGE


cdef clones_float spread(const Densities *t, const double *row, float *u) noexcept nogil:
    """Column by column of a row into a chunk; returns the largest value without its sign."""
    cdef float x, largest = 0
    cdef Py_ssize_t d
    for d in range(t.n_columns):
        x = <float> standardise(row[d], t.origin[d], t.unit[d])
        u[d * CHUNK] = x
        x = x if x > 0 else -x
        largest = x if x > largest else largest
    return largest


cdef void find_bounds(const Screen *s, Chunk *chunk, Py_ssize_t k) noexcept nogil:
    """Bounds of all rows of a chunk in slot k, their own not excepted."""
    cdef const Slot *slot = &s.slot[k]
    bounds(chunk.u, s.t.n_columns, s.slope + 2 * k * s.t.n_columns, <float> slot.power,
           <float> (slot.floor - chunk.reach * slot.reach), chunk.bound + k * CHUNK)


cdef clones_void bounds(const float *u, Py_ssize_t n_columns, const float *slope, float power,
                        float floor, float *bound) noexcept nogil:
    cdef float product[CHUNK]
    cdef float total[CHUNK]
    cdef const float *shift = slope + n_columns
    cdef float z
    cdef Py_ssize_t d = 0, end
    cdef int j
    for j in range(CHUNK):
        product[j] = ONE
    while d < n_columns:
        end = min(d + GROUP, n_columns)
        for j in range(CHUNK):
            total[j] = ONE
        while d < end:
            for j in range(CHUNK):
                z = u[d * CHUNK + j] * slope[d] - shift[d]
                total[j] += z * z
            d += 1
        for j in range(CHUNK):
            product[j] *= total[j]
    for j in range(CHUNK):
        bound[j] = power * log2_floor_single(product[j]) + floor


cdef void catch_up(Screen *s, Chunk *chunk) noexcept nogil:
    """Find the bounds of the slots that have changed since the chunk was screened."""
    cdef Py_ssize_t i, k
    if chunk.screened_at == s.clock:
        return
    for k in range(s.n_slots):
        if s.slot[k].changed_at > chunk.screened_at:
            find_bounds(s, chunk, k)
            for i in range(chunk.n_rows):
                if chunk.label[i] == k:
                    chunk.own[i] = chunk.bound[k * CHUNK + i]
                    chunk.bound[k * CHUNK + i] = HUGE
    chunk.screened_at = s.clock


cdef void decide(const Screen *s, Chunk *chunk, Py_ssize_t first) noexcept nogil:
    """Set what is known of the rows from `first` on of a chunk that is up to date."""
    cdef float least[CHUNK]
    cdef Py_ssize_t i
    least_bounds(chunk.bound, s.n_slots, least)
    for i in range(first, chunk.n_rows):
        chunk.stays[i] = chunk.label[i] != UNPLACED and (
            stay_ceiling(&s.slot[chunk.label[i]], chunk.own[i], chunk.reach)
            <= least[i] - COARSE * fabs(least[i]))


cdef clones_void least_bounds(const float *bound, Py_ssize_t n_slots, float *least) noexcept nogil:
    cdef Py_ssize_t k
    cdef int j
    for j in range(CHUNK):
        least[j] = HUGE
    for k in range(n_slots):
        for j in range(CHUNK):
            least[j] = bound[k * CHUNK + j] if bound[k * CHUNK + j] < least[j] else least[j]


cdef inline double stay_ceiling(const Slot *slot, double own, double reach) noexcept nogil:
    """A bound from above of what it costs a row to stay, from that of its cost as if it were new.

    y is at least log P: log2_floor is 0.0008 below log2 at most. For y <= 1, e^y - 1 is at most
    y + y^2 / 2 + y^3 / 4, and for x <= 1/2, -log(1 - x) at most x + x^2 / 2 + 2 x^3 / 3; beyond,
    the bound would be no good.
    """
    cdef double floor = slot.floor - reach * slot.reach
    cdef double y = slot.per_power * (own - floor + COARSE * (fabs(floor) + fabs(own)))
    y += 2.0 * (slot.error + reach * slot.error_reach)
    cdef double x = slot.member_ratio * y * (1.0 + y * (0.5 + y * 0.25))
    cdef double stay = slot.stay + slot.member_power * x * (1.0 + x * (0.5 + x * (2.0 / 3.0)))
    return stay if x < 0.5 else HUGE  # NaN is not less either
