"""The vector loops of screening: bounds in single precision, of a chunk of rows at once.

Of a row and a slot let t_d be as in student_t.pxi, and P the product over groups of columns of
1 + sum_d t_d, which is at most prod_d (1 + t_d) and at least 1 + sum_d t_d. In a slot that is not
its own the row costs at least

    power log P - constant - log_weight.

Its own has, without it, prod_d (1 - r t_d) >= 1 - r sum_d t_d >= 1 - r (P - 1) for the factors, with
r = (c + 1) / (c - 1), so that P gives a bound from above of what it costs to stay. Where rows are
closer to their own cluster than to others, one pass over the slots tells that they stay. Rows lie
side by side in vectors, sixteen in one of AVX-512.

With few columns the logarithm is most of the work. In large clusters rows that could move
are where P is little more than 1: with q = sum_d t_d and any number L, log(1 + q) is at least
2 q / (2 + q), so that

    power log P >= 2 power / (2 + L) min(q, L),

which loses little as long as L is small. A row's own slot tells q instead of log P, which is more,
if it is less than L.

Rounding: with u the values of a row, |u| <= U, and z = u slope - shift, the error of z is at most
epsilon (3 U slope + 2 |shift|), and that of log(1 + z^2) at most the same and 2 epsilon, for
2 z / (1 + z^2) <= 1. Sums over columns of slopes and shifts give that of log P. So it is for a line, for
z^2 counts only up to L <= 1/4, where 2 z <= 1, and its slope is at most `power`.
"""

cdef extern from *:
    """
    #define DPM_HUGE 1e30f
    """
    float HUGE "DPM_HUGE"

cdef enum:
    CHUNK = 64  # rows that are screened together: their sums stay in registers

# For log P, from the bound of a row's own slot as if it were new: base + per_power bound; then the
# cost to stay is stay - power log (1 - ratio (P - 1)), where ratio (P - 1) is less than `most`. Each
# a little more, not less; of all rows of a chunk.
cdef struct Stays:
    float base[CHUNK]
    float per_power[CHUNK]
    float stay[CHUNK]
    float power[CHUNK]
    float ratio[CHUNK]
    float most[CHUNK]

cdef struct Chunk:
    Py_ssize_t n_rows
    Py_ssize_t index[CHUNK]    # of these rows in the partition, ascending
    Py_ssize_t end             # row after them, and after others that need not be screened
    float reach                # largest of the standardised values, without its sign
    double *row                # [column] room for a row
    double *cost               # [slot] room for its costs
    float *u                   # [column][row] standardised values
    float *bound               # [slot][row] of the cost, from below; huge for a row's own slot,
    float own[CHUNK]           # whose bound is here,
    Stays stay                 # and what else it costs to stay there
    float least[CHUNK]         # not above any bound of a row,
    float ceiling[CHUNK]       # not below what it costs to stay: huge without a label
    int label[CHUNK]           # slot of each row when the chunk was screened
    int stays[CHUNK]           # rows that are known to stay
    double apart[APART]        # from another thread's chunk

cdef extern from *:
    """
    #define DPM_ONE 1.0f
    #define DPM_FLOAT_REACH 536870912.0f  /* of student_t.pxi */
    #define DPM_SLIGHT 1e-6f              /* several roundings to single precision */
    #define DPM_QUARTER 0.25f
    #define DPM_TWO_THIRDS 0.6666667f

    /* x without its sign, as a whole number: these are in the same order, NaN above infinity, and the
       larger of two is one instruction. */
    DPM_INLINE int32_t dpm_size(float x) {
        int32_t bits;
        memcpy(&bits, &x, 4);
        return bits & 0x7FFFFFFF;
    }

    DPM_INLINE float dpm_of_size(int32_t bits) {
        float x;
        memcpy(&x, &bits, 4);
        return x;
    }
    """
    int size_of "dpm_size"(float x) noexcept nogil
    float of_size "dpm_of_size"(int size) noexcept nogil
    float ONE "DPM_ONE"
    float FLOAT_REACH "DPM_FLOAT_REACH"
    float SLIGHT "DPM_SLIGHT"
    float QUARTER "DPM_QUARTER"
    float TWO_THIRDS "DPM_TWO_THIRDS"

cdef enum:
    BOUND_GROUP = 8  # columns of a group


cdef clones_float copied(float *out, const double *values, Py_ssize_t n) noexcept nogil:
    """Copies values; returns the sum of what they are without their signs."""
    cdef float total = 0
    cdef Py_ssize_t d
    for d in range(n):
        out[d] = <float> values[d]
        total += out[d] if out[d] > 0 else -out[d]
    return total


cdef clones_void spread_row(const Densities *t, const double *row, float *u) noexcept nogil:
    """Standardise a row into a chunk, column by column."""
    cdef Py_ssize_t d = 0
    while d + BOUND_GROUP <= t.n_columns:
        spread_some(t, row, d, BOUND_GROUP, u)
        d += BOUND_GROUP
    spread_some(t, row, d, t.n_columns - d, u)


cdef inline inlined_void spread_some(const Densities *t, const double *row, Py_ssize_t first,
                                     Py_ssize_t n, float *u) noexcept nogil:
    """The same for BOUND_GROUP columns, in vectors, or fewer."""
    cdef float x[BOUND_GROUP]
    cdef Py_ssize_t j
    for j in range(n):
        x[j] = <float> ((row[first + j] - t.origin[first + j]) * t.unit[first + j])
    for j in range(n):
        u[(first + j) * CHUNK] = x[j]


cdef clones_float largest(float *u, Py_ssize_t n) noexcept nogil:
    """The largest of so many chunks of values without their signs; none is beyond FLOAT_REACH then."""
    cdef int most[CHUNK]
    cdef int size, all_most = 0
    cdef Py_ssize_t i
    cdef int j
    for j in range(CHUNK):
        most[j] = 0
    for i in range(n):
        for j in range(CHUNK):
            size = size_of(u[i * CHUNK + j])
            most[j] = size if size > most[j] else most[j]
    for j in range(CHUNK):
        all_most = most[j] if most[j] > all_most else all_most
    if of_size(all_most) <= FLOAT_REACH:
        return of_size(all_most)
    for i in range(n * CHUNK):
        u[i] = u[i] if u[i] < FLOAT_REACH else FLOAT_REACH
        u[i] = u[i] if u[i] > -FLOAT_REACH else -FLOAT_REACH
    return FLOAT_REACH


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
        end = min(d + BOUND_GROUP, n_columns)
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


cdef clones_void close_bounds(const float *u, Py_ssize_t n_columns, const float *slope,
                              float power, float floor, float *bound) noexcept nogil:
    """The same with every column a group of its own: takes half as long again."""
    cdef float product[CHUNK]
    cdef const float *shift = slope + n_columns
    cdef float z
    cdef Py_ssize_t d
    cdef int j
    for j in range(CHUNK):
        product[j] = ONE
    for d in range(n_columns):
        for j in range(CHUNK):
            z = u[d * CHUNK + j] * slope[d] - shift[d]
            product[j] *= ONE + z * z
    for j in range(CHUNK):
        bound[j] = power * log2_floor_single(product[j]) + floor


cdef clones_void line_bounds(const float *u, Py_ssize_t n_columns, const float *slope, float power,
                             float most, float floor, float *bound) noexcept nogil:
    """The same from a line: `power` is that of 1 + the sum, which counts up to `most`."""
    cdef float total[CHUNK]
    cdef const float *shift = slope + n_columns
    cdef float z
    cdef Py_ssize_t d
    cdef int j
    for j in range(CHUNK):
        total[j] = 0
    for d in range(n_columns):
        for j in range(CHUNK):
            z = u[d * CHUNK + j] * slope[d] - shift[d]
            total[j] += z * z
    for j in range(CHUNK):
        bound[j] = power * (total[j] if total[j] < most else most) + floor


cdef clones_void own_bounds(const float *u, Py_ssize_t n_columns, const float *slopes,
                            const Py_ssize_t *at, const float *power, float *own) noexcept nogil:
    """The same, each row in a slot of its own, whose slopes begin `at`; P is as small as it may be.

    `own` holds their floors before.
    """
    cdef float total[CHUNK]
    cdef float z
    cdef Py_ssize_t d
    cdef int j
    for j in range(CHUNK):
        total[j] = ONE
    for d in range(n_columns):
        for j in range(CHUNK):
            z = u[d * CHUNK + j] * slopes[at[j] + d] - slopes[at[j] + n_columns + d]
            total[j] += z * z
    for j in range(CHUNK):
        own[j] += power[j] * log2_floor_single(total[j])


cdef clones_void find_ceilings(const Stays *t, const float *own, float *ceiling) noexcept nogil:
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
        ceiling[i] = y + SLIGHT * (size + t.power[i]) if x < t.most[i] else HUGE  # NaN is not less


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


cdef clones_void slack(const Chunk *chunk, float reference, float most,
                        float *out) noexcept nogil:
    """How far slots may drift before rows have to be looked at again (drift.pxi)."""
    cdef float least, size, gap, beyond
    cdef int j
    for j in range(CHUNK):
        least = chunk.least[j] if chunk.least[j] < most else most
        size = least if least > 0 else -least
        gap = least - SLIGHT * size - chunk.ceiling[j]
        beyond = least - reference
        gap /= ONE + (beyond if beyond > 0 else 0)
        out[j] = HALF if gap >= HALF else gap  # NaN stays: then nothing is known


cdef clones_void two_least(const float *bound, const Py_ssize_t *slots, Py_ssize_t n, int *nearest,
                           float *second) noexcept nogil:
    """The slot of each row's least bound, and the least of the other bounds.

    Bit by bit where choices would make branches: compilers then keep all of it in registers.
    """
    cdef int nearest_so_far[CHUNK]
    cdef float least[CHUNK]
    cdef float next_least[CHUNK]
    cdef float larger[CHUNK]
    cdef const float *b
    cdef Py_ssize_t k
    cdef int j, slot
    for j in range(CHUNK):
        least[j] = next_least[j] = HUGE
        nearest_so_far[j] = 0
    for k in range(n):
        b, slot = bound + slots[k] * CHUNK, <int> slots[k]
        for j in range(CHUNK):
            larger[j] = least[j] if b[j] < least[j] else b[j]
        for j in range(CHUNK):
            next_least[j] = larger[j] if larger[j] < next_least[j] else next_least[j]
        for j in range(CHUNK):
            nearest_so_far[j] ^= (nearest_so_far[j] ^ slot) & -(b[j] < least[j])
        for j in range(CHUNK):
            least[j] = b[j] if b[j] < least[j] else least[j]
    for j in range(CHUNK):
        nearest[j], second[j] = nearest_so_far[j], next_least[j]
