"""Screening of rows that have gaps, with weights or without.

Each column d of a slot has a power and a constant of its own, and counts only for rows that have a
value there. With t_d as in _screening_bounds.pyx, a row of weight w costs in a slot that is not its
own

    sum_d p_d(w) log(1 + r_d t_d) - sum_d f_d(w) - log_weight(w),    p_d(w) = a_d + w / 2,

over the columns that it has, with r_d = w (c_d + 1) / (c_d + w). f_d and log_weight are convex
(_screening_weights.pyx): on the range of the table's weights, from w0 to w1, they are at most what
the lines through their ends are. r_d is at least w (c_d + 1) / (c_d + w1). Let p(w) be the least
power of the slot. (1 + t)^s >= 1 + s t for s >= 1, and p_d(w) / p(w) falls with w, so

    p_d(w) log(1 + r_d t_d) >= p(w) log(1 + w t'_d),
    t'_d = t_d (c_d + 1) / (c_d + w1) p_d(w1) / p(w1):

slopes and shifts of t' give a P to the power of p(w), as in slots without gaps. Columns with few
values in a large slot would make p small. They are "rare": their distances count for nothing, and
rows that have a value there are visited.

In its own slot the row costs -sum_d m_d(w) log(1 - r'_d t_d), with m_d(w) = a_d - w / 2 and
r'_d = w (c_d + 1) / (c_d - w), in place of the first sum. r'_d t_d is at most
w t'_d (c_d + w1) / (c_d - w1) p(w1) / p_d(w1). Let r be the largest (c_d + w1) / (c_d - w1), and R
the largest of this times m_d(w0) / p_d(w1). Then sum_d r'_d t_d is at most x = r (P - 1), and
sum_d m_d r'_d t_d at most R p(w1) (P - 1), which is R p(w1) / r times x: with that as the power, the
bound of staying is that of _screening_bounds.pyx. What a member pays for constants is at most what
a new row would, and the differences of all columns, where these are positive.

Rows without weights have w = w0 = w1 = 1.
"""

from libc.math cimport NAN, fabs, log, sqrt

from dpmlite.core._constants cimport LOG_2, LOG_2PI, MAX_POWER, MAX_SCREENED_WEIGHT, SINGLE_EPSILON
from dpmlite.core._simd cimport clones_void, larger, log2_floor_single
from dpmlite.core._special cimport log_rising_c
from dpmlite.families._component cimport Component
from dpmlite.families._incomplete_normal_gamma_statistics cimport COUNT, RATE, IncompleteStatistics
from dpmlite.families._screenable cimport PyTypeObject, is_instance
from dpmlite.families._student_t cimport Terms
from dpmlite.sweeps._screening_bounds cimport CHUNK, COLUMNS_PER_GROUP, StayTerms
from dpmlite.sweeps._screening_weights cimport line_through, log_weight_of, range_of_weights

cdef double RARE_POWER = 8.0       # columns of less power, for each unit of w1, are rare in
cdef double UNEVEN_POWER = 32.0    # slots with a column of this power
cdef double MIN_COUNT = 2.0        # of a column's values, for each unit of w1, for rows to stay


cdef const Densities *densities_with_gaps(Partition partition,
                                          Component component) noexcept nogil:
    """Return what standardises rows that may have gaps; NULL if they are not screened as such."""
    if (not is_instance(component, <PyTypeObject *> IncompleteStatistics)
            or not -(<IncompleteStatistics> component).most_power[0] < MAX_POWER
            or not partition.X.most_weight < MAX_SCREENED_WEIGHT):
        return NULL
    return &(<IncompleteStatistics> component).t


cdef void begin_gaps(Weights *weights, Partition partition) noexcept nogil:
    """Find the range of weights."""
    weights.least = weights.most = 1.0
    if partition.X.row_weights != NULL:
        range_of_weights(partition.X, &weights.least, &weights.most)


cdef void load_slot_with_gaps(GapSlot *slot, float *terms, const Weights *weights,
                              Partition partition, IncompleteStatistics component,
                              Py_ssize_t k) noexcept nogil:
    """Read slot k, which is new or has changed, and its terms, [term][column]."""
    cdef double w0 = weights.least, w1 = weights.most, stay0, stay1, rounding
    cdef Py_ssize_t D = component.n_columns
    slot.least, slot.most = w0, w1
    find_least_shape(slot, component, k)
    rounding = load_terms(slot, terms, weights, component, k)
    line_through(weights, -log_weight_of(weights, partition, k, w0),
                 -log_weight_of(weights, partition, k, w1), &slot.floor, &slot.floor_per_weight)
    rounding += (2 * D + 20) * SINGLE_EPSILON * (
        fabs(slot.floor) + w1 * fabs(slot.floor_per_weight))
    slot.floor -= rounding + power_of(slot, w1) * slot.error
    slot.floor_error = power_of(slot, w1) * slot.error_per_value
    stay0 = most_beyond_floor(slot, terms, partition, component, k, w0)
    stay1 = stay0 if w1 == w0 else most_beyond_floor(slot, terms, partition, component, k, w1)
    line_through(weights, stay0, stay1, &slot.stay, &slot.stay_per_weight)
    slot.stay += rounding + SINGLE_EPSILON * (fabs(stay0) + fabs(stay1))
    set_member_terms(slot, terms, component, k)


cdef inline double power_of(const GapSlot *slot, double w) noexcept nogil:
    return slot.shape + 0.5 * w


cdef inline double shape_of(IncompleteStatistics component, Py_ssize_t k,
                            Py_ssize_t d) noexcept nogil:
    return component.a0 + 0.5 * component.statistic(k, COUNT)[d]


cdef void find_least_shape(GapSlot *slot, IncompleteStatistics component,
                           Py_ssize_t k) noexcept nogil:
    """Find the least shape of the columns that are not rare."""
    cdef Py_ssize_t d
    cdef double largest = 0.0, least, shape
    for d in range(component.n_columns):
        largest = larger(largest, shape_of(component, k, d))
    least = -1.0
    if largest + 0.5 * slot.most >= UNEVEN_POWER * slot.most:
        least = RARE_POWER * slot.most - 0.5 * slot.most
    slot.shape, slot.has_rare = largest, False
    for d in range(component.n_columns):
        shape = shape_of(component, k, d)
        if shape < least:
            slot.has_rare = True
        elif shape < slot.shape:
            slot.shape = shape


cdef double load_terms(GapSlot *slot, float *terms, const Weights *weights,
                       IncompleteStatistics component, Py_ssize_t k) noexcept nogil:
    """Read slopes, shifts and constants; find the error of log P, and return that of constants."""
    cdef double w0 = slot.least, w1 = slot.most, slopes = 0.0, shifts = 0.0, constants = 0.0
    cdef double shape, c, scale, peak, constant, per_weight
    cdef const double *n = component.statistic(k, COUNT)
    cdef Terms t = component.terms(k, False)
    cdef Py_ssize_t d, D = component.n_columns
    for d in range(D):
        shape, c, scale = shape_of(component, k, d), component.c0 + n[d], 0.0
        if shape >= slot.shape:
            scale = sqrt((shape + 0.5 * w1) / power_of(slot, w1) * (c + 1.0) / (c + w1))
        peak = log_peak_of_new(component, k, d, w0)
        line_through(weights, peak, peak if w1 == w0 else log_peak_of_new(component, k, d, w1),
                     &constant, &per_weight)
        terms[SLOPE * D + d] = <float> (t.slope[d] * scale)
        terms[SHIFT * D + d] = <float> (t.shift[d] * scale)
        terms[CONSTANT * D + d], terms[PER_WEIGHT * D + d] = <float> constant, <float> per_weight
        slopes += t.slope[d] * scale
        shifts += fabs(t.shift[d]) * scale
        constants += fabs(constant) + w1 * fabs(per_weight)
    slot.error = SINGLE_EPSILON * (3 * D + 24 + 3.0 * sqrt(w1) * shifts)
    slot.error_per_value = SINGLE_EPSILON * 3.0 * sqrt(w1) * slopes
    return (2 * D + 20) * SINGLE_EPSILON * constants


cdef double log_peak_of_new(IncompleteStatistics component, Py_ssize_t k, Py_ssize_t d,
                            double w) noexcept nogil:
    """Return f_d(w): the log density of a value of weight w, new to slot k, at its mean."""
    if w == 1.0:
        return component.terms(k, False).constant[d]
    return log_peak(component, k, d, component.statistic(k, COUNT)[d], w)


cdef double log_peak_of_member(IncompleteStatistics component, Py_ssize_t k, Py_ssize_t d,
                               double w) noexcept nogil:
    """Return that of a member, without itself, with the slot's widths."""
    if w == 1.0:
        return component.terms(k, True).constant[d]
    return log_peak(component, k, d, component.statistic(k, COUNT)[d] - w, w)


cdef double log_peak(IncompleteStatistics component, Py_ssize_t k, Py_ssize_t d, double others,
                     double w) noexcept nogil:
    cdef double power = component.power, c = component.c0 + others
    cdef double shape = component.a0 + 0.5 * others
    return ((log_rising_c(power * shape, 0.5 * power * w) - 0.5 * log((c + w) / c)) / power
            - 0.5 * w * (LOG_2PI + log(component.statistic(k, RATE)[d]))
            - w * component.log_scales[d])


cdef double most_beyond_floor(const GapSlot *slot, const float *terms, Partition partition,
                              IncompleteStatistics component, Py_ssize_t k,
                              double w) noexcept nogil:
    """Return by how much constants of a member of weight w, of all columns, exceed the floor.

    It is NaN if rounding would show in what is left without the heaviest row.
    """
    cdef const double *n = component.statistic(k, COUNT)
    cdef double more, total, most = slot.most
    cdef Py_ssize_t d, D = component.n_columns
    if component.n[k] < MIN_COUNT * most or component.min_factor[k] > 0.5:
        return NAN
    total = partition.light_member_weight[k] if w == 1.0 else (
        partition.weight_of(component.n[k] - w, w, 0))
    total = -total - slot.floor - slot.floor_per_weight * w
    for d in range(D):
        if terms[SLOPE * D + d] == 0:
            continue
        if n[d] < MIN_COUNT * most:
            return NAN
        more = terms[CONSTANT * D + d] + terms[PER_WEIGHT * D + d] * w
        more -= log_peak_of_member(component, k, d, w)
        total += more if not more <= 0.0 else 0.0
    return total


cdef void set_member_terms(GapSlot *slot, const float *terms, IncompleteStatistics component,
                           Py_ssize_t k) noexcept nogil:
    """Find r and R p / r; r is NaN if it is not known what it costs to stay."""
    cdef const double *n = component.statistic(k, COUNT)
    cdef double w0 = slot.least, w1 = slot.most, most = 0.0, shape, c, ratio
    cdef Py_ssize_t d, D = component.n_columns
    slot.member_ratio = 1.0
    for d in range(D):
        if terms[SLOPE * D + d] == 0:
            slot.has_rare = True
            continue
        shape, c = shape_of(component, k, d), component.c0 + n[d]
        ratio = (c + w1) / (c - w1)
        slot.member_ratio = larger(slot.member_ratio, ratio)
        most = larger(most, (shape - 0.5 * w0) / (shape + 0.5 * w1) * ratio)
    slot.member_power = most * power_of(slot, w1) / slot.member_ratio
    if slot.stay != slot.stay:
        slot.member_ratio = NAN


cdef void mark_gaps(Chunk *chunk, Py_ssize_t n_columns) noexcept nogil:
    """Set which values a chunk's rows have; those that are missing become 0."""
    mark_missing(chunk.u, n_columns * CHUNK, chunk.has_value)


cdef void bound_slot_with_gaps(const GapSlot *slot, const float *terms, Chunk *chunk,
                               Py_ssize_t n_columns, Py_ssize_t k) noexcept nogil:
    """Find the bounds of a chunk's rows in slot k, as if all rows were new to it."""
    log_bounds_with_gaps(
        chunk, n_columns, terms, <float> slot.shape,
        <float> (slot.floor - chunk.max_value * slot.floor_error), <float> slot.floor_per_weight,
        slot.least < slot.most, <int> k, chunk.bound + k * CHUNK)


cdef void set_stay_terms_with_gaps(const GapSlot *slot, const float *terms, Chunk *chunk,
                                   Py_ssize_t n_columns, Py_ssize_t i) noexcept nogil:
    """Set the terms of what it costs row i of a chunk to stay in its slot, which was bounded."""
    cdef StayTerms *stay = &chunk.stay_terms
    cdef double U = chunk.max_value, w = chunk.weight[i]
    stay.base[i] = <float> (2.0 * (slot.error + U * slot.error_per_value))
    stay.per_power[i] = <float> (1.001 / power_of(slot, w))
    stay.stay[i] = <float> (
        chunk.own_fixed[i] + slot.stay + slot.stay_per_weight * w + U * slot.floor_error)
    stay.power[i], stay.ratio[i] = <float> slot.member_power, <float> slot.member_ratio
    stay.max_x[i] = <float> 0.5
    if slot.has_rare and has_rare_value(terms, chunk, n_columns, i):
        stay.ratio[i] = NAN


cdef bint has_rare_value(const float *terms, const Chunk *chunk, Py_ssize_t n_columns,
                         Py_ssize_t i) noexcept nogil:
    """Return whether row i of a chunk has a value in a rare column of its slot."""
    cdef Py_ssize_t d
    for d in range(n_columns):
        if terms[SLOPE * n_columns + d] == 0 and chunk.has_value[d * CHUNK + i] != 0:
            return True
    return False


# Vector loops.


cdef clones_void mark_missing(float *u, Py_ssize_t n, float *has_value) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        has_value[j] = <float> 1 if u[j] == u[j] else <float> 0
        u[j] = u[j] if u[j] == u[j] else <float> 0


cdef clones_void log_bounds_with_gaps(Chunk *chunk, Py_ssize_t n_columns, const float *terms,
                                      float shape, float floor, float floor_per_weight,
                                      bint has_weights, int own, float *bound) noexcept nogil:
    """Set bound[row] = (shape + weight / 2) log P + floor - its constants in one slot.

    The two parts of that are kept for rows whose own slot it is.
    """
    cdef float product[CHUNK]
    cdef float total[CHUNK]
    cdef float fixed[CHUNK]
    cdef const float *u = chunk.u
    cdef const float *weight = chunk.weight
    cdef const float *has_value = chunk.has_value
    cdef const float *slope = terms + SLOPE * n_columns
    cdef const float *shift = terms + SHIFT * n_columns
    cdef const float *constant = terms + CONSTANT * n_columns
    cdef const float *per_weight = terms + PER_WEIGHT * n_columns
    cdef float z
    cdef Py_ssize_t d = 0, end
    cdef int j
    for j in range(CHUNK):
        product[j], fixed[j] = <float> 1, floor + floor_per_weight * weight[j]
    while d < n_columns:
        end = min(d + COLUMNS_PER_GROUP, n_columns)
        for j in range(CHUNK):
            total[j] = 0
        while d < end:
            for j in range(CHUNK):
                z = u[d * CHUNK + j] * slope[d] - has_value[d * CHUNK + j] * shift[d]
                total[j] += z * z
                fixed[j] -= has_value[d * CHUNK + j] * constant[d]
            d += 1
        for j in range(CHUNK):
            product[j] *= <float> 1 + weight[j] * total[j]
    for d in range(n_columns if has_weights else 0):
        for j in range(CHUNK):
            fixed[j] -= has_value[d * CHUNK + j] * weight[j] * per_weight[d]
    for j in range(CHUNK):
        z = (shape + <float> 0.5 * weight[j]) * (<float> LOG_2 * log2_floor_single(product[j]))
        bound[j] = z + fixed[j]
        chunk.own_bound[j] = z if chunk.label[j] == own else chunk.own_bound[j]
        chunk.own_fixed[j] = fixed[j] if chunk.label[j] == own else chunk.own_fixed[j]
