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
from libc.math cimport NAN, fabs
from libc.stdint cimport uintptr_t
from libc.string cimport memset

from dpmlite.models._partition cimport UNPLACED, Partition
from dpmlite.models._rows cimport Row
from dpmlite.models._special cimport (
    LOG_2, clones_float, clones_void, inlined_void, log2_floor_single)
from dpmlite.models._student_t cimport Densities

cdef extern from "Python.h":
    void *PyMem_RawMalloc(size_t n) nogil
    void PyMem_RawFree(void *p) nogil

cdef extern from *:
    """
    #define DPM_EPSILON 1.2e-7  /* two roundings to single precision */
    #define DPM_COARSE 1e-6     /* several */
    #define DPM_HUGE 1e30f
    #define DPM_ONE 1.0f
    #define DPM_FLOAT_REACH 536870912.0f  /* of _student_t.pxd */
    #define DPM_SLIGHT 1e-6f
    #define DPM_HALF 0.5f
    #define DPM_QUARTER 0.25f
    #define DPM_TWO_THIRDS 0.6666667f
    """
    double EPSILON "DPM_EPSILON"
    double COARSE "DPM_COARSE"
    float HUGE "DPM_HUGE"
    float ONE "DPM_ONE"
    float FLOAT_REACH "DPM_FLOAT_REACH"
    float SLIGHT "DPM_SLIGHT"
    float HALF "DPM_HALF"
    float QUARTER "DPM_QUARTER"
    float TWO_THIRDS "DPM_TWO_THIRDS"

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
            screen_chunks(&s, partition, row, s.n_chunks)
            for i in range(s.n_chunks):
                catch_up(&s, &s.chunk[i])
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


cdef int screen_chunks(Screen *s, Partition partition, Py_ssize_t first,
                       Py_ssize_t n_chunks) except -1 nogil:
    """Find the bounds of so many chunks, for which there must be room, from row `first`."""
    cdef Py_ssize_t i, k
    if s.room < partition.component.n_slots:
        lay_out(s, partition.component.n_slots)
        list_open(s, partition)
        for k in range(s.n_open):
            note_change(s, partition, s.open[k])
    for i in range(n_chunks):
        s.chunk[i].first = first + i * CHUNK
        s.chunk[i].n_rows = max(
            min(partition.n_rows - s.chunk[i].first, <Py_ssize_t> CHUNK), <Py_ssize_t> 0)
    if n_chunks == 1:
        screen_chunk(s, partition, &s.chunk[0])
    else:
        for i in prange(n_chunks, num_threads=<int> s.n_threads, schedule="static"):
            screen_chunk(s, partition, &s.chunk[i])
    return 0


cdef int lay_out(Screen *s, Py_ssize_t n_slots) except -1 nogil:
    """Memory for so many slots and some more, and for the chunks."""
    cdef Py_ssize_t i, D = s.t.n_columns
    s.room = (n_slots + n_slots // 2 + 15) & ~(<Py_ssize_t> 15)
    s.n_slots = 0
    PyMem_RawFree(s.memory)
    s.memory = PyMem_RawMalloc(
        64 + s.room * (sizeof(Slot) + sizeof(Py_ssize_t)) + 2 * D * s.room * sizeof(float)
        + s.n_chunks * (sizeof(Chunk) + (D + s.room) * CHUNK * sizeof(float) + D * sizeof(double)))
    if s.memory == NULL:
        s.room = 0
        with gil:
            raise MemoryError(f"no memory for bounds of {n_slots} clusters")
    cdef float *numbers = <float *> ((<uintptr_t> s.memory + 63) & ~(<uintptr_t> 63))
    s.slope = numbers + s.n_chunks * (D + s.room) * CHUNK
    s.slot = <Slot *> (s.slope + 2 * D * s.room)
    s.open = <Py_ssize_t *> (s.slot + s.room)
    s.chunk = <Chunk *> (s.open + s.room)
    cdef double *rows = <double *> (s.chunk + s.n_chunks)
    for i in range(s.n_chunks):
        s.chunk[i].u = numbers + i * (D + s.room) * CHUNK
        s.chunk[i].bound = s.chunk[i].u + D * CHUNK
        s.chunk[i].row = rows + i * D
        s.chunk[i].n_rows = 0
    return 0


cdef Py_ssize_t list_open(Screen *s, Partition partition) noexcept nogil:
    """Slots have become empty or have not: list the open ones, and return the one without rows.

    Empty slots are all the same, and a row that founds a cluster takes the first.
    """
    cdef Py_ssize_t k, empty = -1
    s.n_open, s.n_slots = 0, partition.component.n_slots
    for k in range(s.n_slots):
        if partition.component.n[k] > 0.0 or empty < 0:
            s.open[s.n_open] = k
            s.n_open += 1
            if partition.component.n[k] == 0.0:
                empty = k
    return empty


cdef void note_change(Screen *s, Partition partition, Py_ssize_t k) noexcept nogil:
    """Slot k has changed, or is new: bounds of chunks that were found before are out of date."""
    cdef const Densities *t = s.t
    cdef Py_ssize_t D = t.n_columns
    cdef Slot *slot = &s.slot[k]
    cdef float *slope = s.slope + 2 * k * D
    cdef double slopes = copied(slope, t.slot_slope + 2 * k * D, D)
    cdef double shifts = copied(slope + D, t.slot_shift + 2 * k * D, D)
    cdef double fixed = -t.constant[k] - partition.log_weight[k]
    cdef double error = EPSILON * (2 * D + 16 + 3.0 * shifts), error_reach = EPSILON * 3.0 * slopes
    slot.power = LOG_2 * t.power[k]
    slot.reach = t.power[k] * error_reach
    slot.floor = fixed - COARSE * fabs(fixed) - t.power[k] * error
    slot.per_power = 1.001 / t.power[k]
    slot.base = slot.per_power * (COARSE * fabs(slot.floor) - slot.floor) + 2.0 * error
    slot.base_reach = 1.001 * slot.per_power * slot.reach + 2.0 * error_reach
    slot.stay = -t.member_constant[k] - partition.light_member_weight[k]
    slot.member_power = t.power[k] - 1.0
    slot.member_ratio = t.member_ratio[k]
    s.clock += 1
    slot.changed_at = s.clock


cdef clones_float copied(float *out, const double *values, Py_ssize_t n) noexcept nogil:
    """Copies values; returns the sum of what they are without their signs."""
    cdef float total = 0
    cdef Py_ssize_t d
    for d in range(n):
        out[d] = <float> values[d]
        total += out[d] if out[d] > 0 else -out[d]
    return total


cdef void screen_chunk(const Screen *s, Partition partition, Chunk *chunk) noexcept nogil:
    cdef Py_ssize_t i, k, D = s.t.n_columns
    cdef Row row
    chunk.screened_at = s.clock
    if chunk.n_rows < CHUNK:
        memset(chunk.u, 0, D * CHUNK * sizeof(float))
    for i in range(chunk.n_rows):
        row = partition.row_into(chunk.first + i, chunk.row)
        chunk.label[i] = <int> partition.label[chunk.first + i]
        spread(s.t, row.values, chunk.u + i)
    chunk.reach = largest(chunk.u, D)
    for k in range(s.n_open):
        find_bounds(s, chunk, s.open[k])
    for i in range(chunk.n_rows):
        set_aside(s, chunk, i, chunk.label[i])
    for i in range(CHUNK):
        chunk.least[i] = HUGE
    find_ceilings(&chunk.stay, chunk.own, chunk.ceiling)
    judge(chunk, s.open, s.n_open)


cdef clones_void spread(const Densities *t, const double *row, float *u) noexcept nogil:
    """Standardise a row into a chunk, column by column."""
    cdef Py_ssize_t d = 0
    while d + GROUP <= t.n_columns:
        spread_some(t, row, d, GROUP, u)
        d += GROUP
    spread_some(t, row, d, t.n_columns - d, u)


cdef inline inlined_void spread_some(const Densities *t, const double *row, Py_ssize_t first,
                                     Py_ssize_t n, float *u) noexcept nogil:
    """The same for GROUP columns, in vectors, or fewer."""
    cdef float x[GROUP]
    cdef Py_ssize_t j
    for j in range(n):
        x[j] = <float> ((row[first + j] - t.origin[first + j]) * t.unit[first + j])
        x[j] = x[j] if x[j] < FLOAT_REACH else FLOAT_REACH
        x[j] = x[j] if x[j] > -FLOAT_REACH else -FLOAT_REACH
    for j in range(n):
        u[(first + j) * CHUNK] = x[j]


cdef clones_float largest(const float *u, Py_ssize_t n) noexcept nogil:
    """The largest of so many chunks of values without their signs."""
    cdef float most[CHUNK]
    cdef float x, all_most = 0
    cdef Py_ssize_t d
    cdef int j
    for j in range(CHUNK):
        most[j] = 0
    for d in range(n):
        for j in range(CHUNK):
            x = u[d * CHUNK + j] if u[d * CHUNK + j] > 0 else -u[d * CHUNK + j]
            most[j] = x if x > most[j] else most[j]
    for j in range(CHUNK):
        all_most = most[j] if most[j] > all_most else all_most
    return all_most


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
    """Find bounds in the slots that have changed since the chunk was screened anew."""
    cdef Py_ssize_t k
    if chunk.screened_at < s.clock:
        for k in range(s.n_open):
            if s.slot[s.open[k]].changed_at > chunk.screened_at:
                renew(s, chunk, s.open[k])
        chunk.screened_at = s.clock


cdef void renew(const Screen *s, Chunk *chunk, Py_ssize_t k) noexcept nogil:
    """Slot k has changed. What its bounds were may count still: bounds of more rows than must be."""
    if find_others_bounds(s, chunk, k) > 0:
        find_ceilings(&chunk.stay, chunk.own, chunk.ceiling)
    judge(chunk, &k, 1)


cdef Py_ssize_t find_others_bounds(const Screen *s, Chunk *chunk, Py_ssize_t k) noexcept nogil:
    """Bounds in slot k of the rows of other slots, and aside those of its own: returns how many."""
    cdef Py_ssize_t i, n_own = 0
    find_bounds(s, chunk, k)
    for i in range(chunk.n_rows):
        if chunk.label[i] == k:
            set_aside(s, chunk, i, k)
            n_own += 1
    return n_own


cdef inline void set_aside(const Screen *s, Chunk *chunk, Py_ssize_t i, Py_ssize_t k) noexcept nogil:
    """Row i of a chunk is in slot k already, or nowhere."""
    cdef const Slot *slot = &s.slot[k]
    if k == UNPLACED:
        chunk.stay.ratio[i] = NAN  # no bound
        return
    chunk.own[i] = chunk.bound[k * CHUNK + i]
    chunk.bound[k * CHUNK + i] = HUGE
    chunk.stay.base[i] = <float> (slot.base + chunk.reach * slot.base_reach)
    chunk.stay.per_power[i], chunk.stay.stay[i] = <float> slot.per_power, <float> slot.stay
    chunk.stay.power[i], chunk.stay.ratio[i] = <float> slot.member_power, <float> slot.member_ratio


cdef clones_void find_ceilings(const Stay *t, const float *own, float *ceiling) noexcept nogil:
    """Bounds from above of what it costs rows to stay, from those of their costs as if new.

    y is at least log P: log2_floor is 0.0008 below log2 at most. For y <= 1, e^y - 1 is at most
    y + y^2 / 2 + y^3 / 4, and for x <= 1/2, -log(1 - x) at most x + x^2 / 2 + 2 x^3 / 3; beyond,
    the bound would be no good.
    """
    cdef float size, x, y
    cdef int i
    for i in range(CHUNK):
        size = own[i] if own[i] > 0 else -own[i]
        y = t.base[i] + t.per_power[i] * (own[i] + SLIGHT * size)
        x = t.ratio[i] * y * (ONE + y * (HALF + y * QUARTER))
        y = t.stay[i] + t.power[i] * x * (ONE + x * (HALF + x * TWO_THIRDS))
        size = y if y > 0 else -y
        ceiling[i] = y + SLIGHT * (size + t.power[i]) if x < HALF else HUGE  # NaN is not less


cdef clones_void judge(Chunk *chunk, const Py_ssize_t *slots, Py_ssize_t n) noexcept nogil:
    """Take the bounds in some slots into account."""
    cdef float least[CHUNK]
    cdef float size
    cdef const float *bound
    cdef Py_ssize_t k
    cdef int j
    for j in range(CHUNK):
        least[j] = chunk.least[j]
    for k in range(n):
        bound = chunk.bound + slots[k] * CHUNK
        for j in range(CHUNK):
            least[j] = bound[j] if bound[j] < least[j] else least[j]
    for j in range(CHUNK):
        chunk.least[j] = least[j]
        size = least[j] if least[j] > 0 else -least[j]
        chunk.stays[j] = chunk.ceiling[j] <= least[j] - SLIGHT * size
