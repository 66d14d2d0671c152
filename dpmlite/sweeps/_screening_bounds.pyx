"""Vector loops of screening: single-precision bounds of what a chunk of rows costs in a slot.

Let t_d be the squared standardised distance of a row from a slot in column d (_student_t.pyx). Let P
be the product, over groups of columns, of 1 + sum_d t_d. Then
1 + sum_d t_d <= P <= prod_d (1 + t_d), so in a slot that is not its own a row costs at least

    power log P - constant - log_weight.

Its leave-one-out cost in its own slot has the factors prod_d (1 - r t_d), with
r = (c + 1) / (c - 1). These are at least 1 - r sum_d t_d >= 1 - r (P - 1), so P also gives an upper bound of what it
costs the row to stay. A row whose upper bound of staying is below all lower bounds elsewhere stays,
and is not visited. The rows of a chunk lie side by side in vectors.

With few columns the logarithm takes most of the time. In large clusters, P is little more than 1
for rows that could move. With q = sum_d t_d and any number L, log(1 + q) >= 2 q / (2 + q), so

    power log P >= 2 power / (2 + L) min(q, L).

This "line bound" loses little while L is small. In the row's own slot, q < L also gives log P <= q.

Rounding: let |u| <= U be the standardised values of a row and z = u slope - shift. The error of z
is at most epsilon (3 U slope + 2 |shift|). The error of log(1 + z^2) is at most that plus 2
epsilon, for 2 z / (1 + z^2) <= 1. Sums over columns of slopes and shifts bound the error of log P.
The line bound has the same error: z^2 counts only up to L <= 1/4, where 2 z <= 1, and its slope is
at most `power`.
"""

from dpmlite.core._constants cimport (
    BOUND_ROUNDING, HUGE_COST, MAX_LINE_END, MAX_VALUE, SINGLE_ERROR, TWO_THIRDS)
from dpmlite.core._simd cimport inlined_void, log2_floor_single

cdef extern from "kernels.h":
    int magnitude_bits "dpm_magnitude_bits"(float x) noexcept nogil
    float from_bits "dpm_from_bits"(int bits) noexcept nogil


cdef void choose_line(SlotBound *slot, double power, double max_bound) noexcept nogil:
    """Use the line bound if it loses little up to `max_bound`; the row's own bound ends there."""
    slot.line_end = max_bound / power
    slot.line_slope, slot.max_x = 0.0, 0.5
    if 0.0 < slot.line_end <= MAX_LINE_END:
        slot.line_slope = (1.0 - SINGLE_ERROR) * 2.0 * power / (2.0 + slot.line_end)
        slot.max_x = 0.99 * slot.line_end


cdef clones_float copy_to_single(float *out, const double *values, Py_ssize_t n) noexcept nogil:
    """Copy n values; return the sum of their absolute values."""
    cdef float total = 0
    cdef Py_ssize_t d
    for d in range(n):
        out[d] = <float> values[d]
        total += out[d] if out[d] > 0 else -out[d]
    return total


cdef clones_void standardise_into_chunk(const Densities *t, const double *row,
                                        float *u) noexcept nogil:
    """Write a row's standardised values into its place in a chunk, `u`."""
    cdef Py_ssize_t d = 0
    while d + COLUMNS_PER_GROUP <= t.n_columns:
        standardise_columns(t, row, d, COLUMNS_PER_GROUP, u)
        d += COLUMNS_PER_GROUP
    standardise_columns(t, row, d, t.n_columns - d, u)


cdef inline inlined_void standardise_columns(const Densities *t, const double *row,
                                             Py_ssize_t first, Py_ssize_t n,
                                             float *u) noexcept nogil:
    """Standardise the n <= COLUMNS_PER_GROUP columns from `first` on."""
    cdef float x[COLUMNS_PER_GROUP]
    cdef Py_ssize_t j
    for j in range(n):
        x[j] = <float> ((row[first + j] - t.origin[first + j]) * t.unit[first + j])
    for j in range(n):
        u[(first + j) * CHUNK] = x[j]


cdef clones_float clip_values(float *u, Py_ssize_t n_columns) noexcept nogil:
    """Clip a chunk's values to +-MAX_VALUE; return the largest absolute value."""
    cdef int column_max[CHUNK]
    cdef int bits, max_bits = 0
    cdef Py_ssize_t i
    cdef int j
    for j in range(CHUNK):
        column_max[j] = 0
    for i in range(n_columns):
        for j in range(CHUNK):
            bits = magnitude_bits(u[i * CHUNK + j])
            column_max[j] = bits if bits > column_max[j] else column_max[j]
    for j in range(CHUNK):
        max_bits = column_max[j] if column_max[j] > max_bits else max_bits
    if from_bits(max_bits) <= MAX_VALUE:
        return from_bits(max_bits)
    for i in range(n_columns * CHUNK):
        u[i] = u[i] if u[i] < MAX_VALUE else MAX_VALUE
        u[i] = u[i] if u[i] > -MAX_VALUE else -MAX_VALUE
    return MAX_VALUE


cdef clones_void log_bounds(const float *u, Py_ssize_t n_columns, const float *slope, float power,
                            float floor, float *bound) noexcept nogil:
    """Set bound[row] = power log2 P + floor in one slot; its shifts follow its slopes."""
    cdef float product[CHUNK]
    cdef float total[CHUNK]
    cdef const float *shift = slope + n_columns
    cdef float z
    cdef Py_ssize_t d = 0, end
    cdef int j
    for j in range(CHUNK):
        product[j] = <float> 1
    while d < n_columns:
        end = min(d + COLUMNS_PER_GROUP, n_columns)
        for j in range(CHUNK):
            total[j] = <float> 1
        while d < end:
            for j in range(CHUNK):
                z = u[d * CHUNK + j] * slope[d] - shift[d]
                total[j] += z * z
            d += 1
        for j in range(CHUNK):
            product[j] *= total[j]
    for j in range(CHUNK):
        bound[j] = power * log2_floor_single(product[j]) + floor


cdef clones_void line_bounds(const float *u, Py_ssize_t n_columns, const float *slope,
                             float line_slope, float line_end, float floor,
                             float *bound) noexcept nogil:
    """Set bound[row] = line_slope min(q, line_end) + floor, with q = sum_d t_d."""
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
        bound[j] = line_slope * (total[j] if total[j] < line_end else line_end) + floor


cdef clones_void find_stay_ceilings(const StayTerms *t, const float *own_bound,
                                    float *ceiling) noexcept nogil:
    """Find upper bounds of what it costs rows to stay.

    y >= log P, as log2_floor is at most 0.0008 below log2. For y <= 1,
    e^y - 1 <= y + y^2/2 + y^3/4. For x <= 1/2, -log(1 - x) <= x + x^2/2 + 2 x^3/3. Beyond that
    there is no bound.
    """
    cdef float magnitude, x, y
    cdef int i
    for i in range(CHUNK):
        magnitude = own_bound[i] if own_bound[i] > 0 else -own_bound[i]
        y = t.base[i] + t.per_power[i] * (own_bound[i] + BOUND_ROUNDING * magnitude)
        x = t.ratio[i] * y * (<float> 1 + y * (<float> 0.5 + y * <float> 0.25))
        y = t.stay[i] + t.power[i] * x * (<float> 1 + x * (<float> 0.5 + x * TWO_THIRDS))
        magnitude = y if y > 0 else -y
        # A NaN is not less than max_x.
        ceiling[i] = y + BOUND_ROUNDING * (magnitude + t.power[i]) if x < t.max_x[i] else HUGE_COST


cdef clones_void compare_bounds(Chunk *chunk, const Py_ssize_t *slots, Py_ssize_t n) noexcept nogil:
    """Lower the least bounds to those in n slots, and find which rows are known to stay."""
    cdef float least[CHUNK]
    cdef float magnitude
    cdef const float *bound
    cdef Py_ssize_t k
    cdef int j
    for j in range(CHUNK):
        least[j] = chunk.least_bound[j]
    for k in range(n):
        bound = chunk.bound + slots[k] * CHUNK
        for j in range(CHUNK):
            least[j] = bound[j] if bound[j] < least[j] else least[j]
    for j in range(CHUNK):
        chunk.least_bound[j] = least[j]
        magnitude = least[j] if least[j] > 0 else -least[j]
        chunk.stays[j] = chunk.stay_ceiling[j] <= least[j] - BOUND_ROUNDING * magnitude


cdef void find_stays(Chunk *chunk, const Py_ssize_t *slots, Py_ssize_t n,
                     float elsewhere) noexcept nogil:
    """Find which rows are known to stay, if they cost at least `elsewhere` in all but n slots."""
    cdef Py_ssize_t i
    for i in range(CHUNK):
        chunk.least_bound[i] = elsewhere
    find_stay_ceilings(&chunk.stay_terms, chunk.own_bound, chunk.stay_ceiling)
    compare_bounds(chunk, slots, n)


cdef clones_void add_costs_beside(const float *beside, float *bound) noexcept nogil:
    """Add to bounds in one slot what rows cost there at least in their discrete columns."""
    cdef float magnitude
    cdef int j
    for j in range(CHUNK):
        magnitude = bound[j] if bound[j] > 0 else -bound[j]
        bound[j] += beside[j] - SINGLE_ERROR * (magnitude + beside[j])


cdef clones_void allowed_drifts(const Chunk *chunk, float reference, float cap,
                                float *out) noexcept nogil:
    """Find how far slots may drift while rows are known to stay (_stay_bounds.pyx); at most 1/2.

    Costs count for each unit of a row's weight.
    """
    cdef float least, ceiling, magnitude, gap, above
    cdef int j
    for j in range(CHUNK):
        least = chunk.least_bound[j] / chunk.weight[j]
        least = least if least < cap else cap
        ceiling = chunk.stay_ceiling[j] / chunk.weight[j]
        magnitude = (least if least > 0 else -least) + (ceiling if ceiling > 0 else -ceiling)
        gap = least - ceiling - BOUND_ROUNDING * magnitude
        above = least - reference
        gap /= <float> 1 + (above if above > 0 else 0)
        out[j] = <float> 0.5 if gap >= <float> 0.5 else gap  # a NaN stays: no drift is allowed then


cdef clones_void two_least_bounds(const float *bound, const Py_ssize_t *slots, Py_ssize_t n,
                                  int *nearest, float *second) noexcept nogil:
    """Find the slot of each row's least bound, and the least bound in the others.

    Each loop makes one choice, with bit masks in place of branches: so all stays in registers.
    """
    cdef int nearest_so_far[CHUNK]
    cdef float least[CHUNK]
    cdef float next_least[CHUNK]
    cdef float larger[CHUNK]
    cdef const float *b
    cdef Py_ssize_t k
    cdef int j, slot
    for j in range(CHUNK):
        least[j] = next_least[j] = HUGE_COST
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
