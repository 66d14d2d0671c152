"""Screening of rows that have gaps.

Each column d of a slot has a power p_d and a constant of its own, and counts only for rows that have
a value there. With t_d as in _screening_bounds.pyx, a row costs in a slot that is not its own

    sum_d p_d log(1 + t_d) - sum_d constant_d - log_weight

over the columns that it has. Let p be the least power of the slot. (1 + t)^s >= 1 + s t for s >= 1, so
p_d log(1 + t_d) >= p log(1 + t_d p_d / p): slopes and shifts times sqrt(p_d / p) give a P to the
power of p, as in slots without gaps. Columns with few values in a large slot would make p small.
They are "rare": their distances count for nothing, and rows that have a value there are visited.

In its own slot the row costs -sum_d m_d log(1 - r_d t_d), r_d = (c_d + 1) / (c_d - 1), in place of
the first sum. Let r be the largest r_d, and R the largest m_d r_d / p_d. Then sum_d r_d t_d is at
most x = r (P - 1), and sum_d m_d r_d t_d at most R p (P - 1), which is R p / r times x: with that as
the power, the bound of staying is that of _screening_bounds.pyx. What a member pays for constants
is at most what a new row would, and the difference of all columns.
"""

from libc.math cimport NAN, fabs, sqrt

from dpmlite.core._constants cimport LOG_2, MAX_POWER, SINGLE_EPSILON
from dpmlite.core._simd cimport clones_void, larger, log2_floor_single
from dpmlite.families._incomplete_normal_gamma_statistics cimport COUNT, IncompleteStatistics
from dpmlite.families._screenable cimport PyTypeObject, is_instance
from dpmlite.families._student_t cimport Terms
from dpmlite.sweeps._screening_bounds cimport CHUNK, COLUMNS_PER_GROUP, StayTerms

cdef double RARE_POWER = 8.0       # columns of less power are rare in
cdef double UNEVEN_POWER = 32.0    # slots with a column of this power


cdef const Densities *densities_with_gaps(Partition partition) noexcept nogil:
    """Return what standardises rows that may have gaps; NULL if they are not screened as such."""
    if (not is_instance(partition.component, <PyTypeObject *> IncompleteStatistics)
            or partition.X.row_weights != NULL or partition.discount > 0.0
            or not -(<IncompleteStatistics> partition.component).most_power[0] < MAX_POWER):
        return NULL
    return &(<IncompleteStatistics> partition.component).t


cdef void load_slot_with_gaps(GapSlot *slot, float *terms, Partition partition,
                              Py_ssize_t k) noexcept nogil:
    """Read slot k, which is new or has changed, and its terms, [term][column]."""
    cdef Terms t = (<IncompleteStatistics> partition.component).terms(k, False)
    cdef double log_weight = partition.log_weight[k], rounding
    cdef Py_ssize_t D = partition.component.n_columns
    find_least_power(slot, &t, D)
    rounding = load_terms(slot, terms, &t, D) + (D + 10) * SINGLE_EPSILON * fabs(log_weight)
    slot.per_power, slot.floor_error = 1.001 / slot.power, slot.power * slot.error_per_value
    slot.floor = -log_weight - rounding - slot.power * slot.error
    slot.stay = (log_weight - partition.light_member_weight[k] + 2.0 * rounding
                 + slot.power * slot.error)
    set_member_terms(slot, <IncompleteStatistics> partition.component, terms, k)


cdef void find_least_power(GapSlot *slot, const Terms *t, Py_ssize_t n_columns) noexcept nogil:
    """Find the least power of the columns that are not rare, which have negative powers in `t`."""
    cdef Py_ssize_t d
    cdef double largest = 0.0, least
    for d in range(n_columns):
        largest = larger(largest, -t.power[d])
    least = RARE_POWER if largest >= UNEVEN_POWER else 0.0
    slot.power, slot.has_rare = largest, False
    for d in range(n_columns):
        if -t.power[d] < least:
            slot.has_rare = True
        elif -t.power[d] < slot.power:
            slot.power = -t.power[d]


cdef double load_terms(GapSlot *slot, float *terms, const Terms *t,
                       Py_ssize_t n_columns) noexcept nogil:
    """Read slopes, shifts and constants; find the error of log P, and return that of constants."""
    cdef double slopes = 0.0, shifts = 0.0, constants = 0.0, scale
    cdef Py_ssize_t d
    for d in range(n_columns):
        scale = sqrt(-t.power[d] / slot.power) if -t.power[d] >= slot.power else 0.0
        terms[SLOPE * n_columns + d] = <float> (t.slope[d] * scale)
        terms[SHIFT * n_columns + d] = <float> (t.shift[d] * scale)
        terms[CONSTANT * n_columns + d] = <float> t.constant[d]
        slopes += t.slope[d] * scale
        shifts += fabs(t.shift[d]) * scale
        constants += fabs(t.constant[d])
    slot.error = SINGLE_EPSILON * (2 * n_columns + 16 + 3.0 * shifts)
    slot.error_per_value = SINGLE_EPSILON * 3.0 * slopes
    return (n_columns + 10) * SINGLE_EPSILON * constants


cdef void set_member_terms(GapSlot *slot, IncompleteStatistics component, const float *terms,
                           Py_ssize_t k) noexcept nogil:
    """Find r, R p / r and the difference of constants; r is NaN if rounding would show."""
    cdef Terms new = component.terms(k, False), member = component.terms(k, True)
    cdef const double *n = component.statistic(k, COUNT)
    cdef double most = 0.0, ratio
    cdef Py_ssize_t d, D = component.n_columns
    slot.member_ratio = 1.0
    for d in range(D):
        if terms[SLOPE * D + d] == 0:
            slot.has_rare = True
            continue
        ratio = (component.c0 + n[d] + 1.0) / (component.c0 + n[d] - 1.0)
        slot.member_ratio = larger(slot.member_ratio, ratio)
        most = larger(most, -member.power[d] / new.power[d] * ratio)
        # A constant that is NaN stays: then there is no other value, or little.
        slot.stay += 0.0 if new.constant[d] <= member.constant[d] else (
            new.constant[d] - member.constant[d])
    slot.member_power = most * slot.power / slot.member_ratio
    if slot.stay != slot.stay or component.min_factor[k] > 0.5:
        slot.member_ratio = NAN


cdef void mark_gaps(Chunk *chunk, Py_ssize_t n_columns) noexcept nogil:
    """Set which values a chunk's rows have; those that are missing become 0."""
    mark_missing(chunk.u, n_columns * CHUNK, chunk.has_value)


cdef void bound_slot_with_gaps(const GapSlot *slot, const float *terms, Chunk *chunk,
                               Py_ssize_t n_columns, Py_ssize_t k) noexcept nogil:
    """Find the bounds of a chunk's rows in slot k, as if all rows were new to it."""
    cdef float floor = <float> (slot.floor - chunk.max_value * slot.floor_error)
    log_bounds_with_gaps(chunk, n_columns, terms, <float> (LOG_2 * slot.power), floor, <int> k,
                         chunk.bound + k * CHUNK)


cdef void set_stay_terms_with_gaps(const GapSlot *slot, const float *terms, Chunk *chunk,
                                   Py_ssize_t n_columns, Py_ssize_t i) noexcept nogil:
    """Set the terms of what it costs row i of a chunk to stay in its slot, which was bounded."""
    cdef StayTerms *stay = &chunk.stay_terms
    cdef double U = chunk.max_value
    stay.base[i] = <float> (2.0 * (slot.error + U * slot.error_per_value))
    stay.per_power[i] = <float> slot.per_power
    stay.stay[i] = <float> (chunk.own_fixed[i] + slot.stay + U * slot.floor_error)
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
                                      float power, float floor, int own,
                                      float *bound) noexcept nogil:
    """Set bound[row] = power log2 P + floor - its constants in one slot.

    The two parts of that are kept for rows whose own slot it is.
    """
    cdef float product[CHUNK]
    cdef float total[CHUNK]
    cdef float fixed[CHUNK]
    cdef const float *u = chunk.u
    cdef const float *has_value = chunk.has_value
    cdef const float *slope = terms + SLOPE * n_columns
    cdef const float *shift = terms + SHIFT * n_columns
    cdef const float *constant = terms + CONSTANT * n_columns
    cdef float z
    cdef Py_ssize_t d = 0, end
    cdef int j
    for j in range(CHUNK):
        product[j], fixed[j] = <float> 1, floor
    while d < n_columns:
        end = min(d + COLUMNS_PER_GROUP, n_columns)
        for j in range(CHUNK):
            total[j] = <float> 1
        while d < end:
            for j in range(CHUNK):
                z = u[d * CHUNK + j] * slope[d] - has_value[d * CHUNK + j] * shift[d]
                total[j] += z * z
                fixed[j] -= has_value[d * CHUNK + j] * constant[d]
            d += 1
        for j in range(CHUNK):
            product[j] *= total[j]
    for j in range(CHUNK):
        z = power * log2_floor_single(product[j])
        bound[j] = z + fixed[j]
        chunk.own_bound[j] = z if chunk.label[j] == own else chunk.own_bound[j]
        chunk.own_fixed[j] = fixed[j] if chunk.label[j] == own else chunk.own_fixed[j]
