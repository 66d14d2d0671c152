"""Screening of rows that have gaps.

Each column d of a slot has a power p_d and a constant of its own, and counts only for rows that have
a value there. With t_d as in _screening_bounds.pyx, a row costs in a slot that is not its own

    sum_d p_d log(1 + t_d) - sum_d constant_d - log_weight

over the columns that it has. Let p be the least power of a slot. (1 + t)^s >= 1 + s t for s >= 1, so
p_d log(1 + t_d) >= p log(1 + t_d p_d / p): slopes and shifts times sqrt(p_d / p) give a P to the
power of p, as in slots without gaps. A column with hardly any values would make p small, and is
left out: its distance costs nothing at least.

In its own slot the row costs -sum_d m_d log(1 - w_d), w_d = t_d (c_d + 1) / (c_d - 1), in place of
the first sum. With W = sum_d w_d <= 1/2, each -log(1 - w_d) is at most w_d (1 + W / 2 + 2 W^2 / 3).

Rounding: that of log P is as in _screening_bounds.pyx. If w = z^2 <= 1/2 and z has the error e <=
1/20, w has at most 3/2 e, and the bound of staying at most 4 e times the largest m.
"""

from libc.math cimport NAN, fabs, sqrt

from dpmlite.core._constants cimport (
    HUGE_COST, LOG_2, MAX_POWER, MIN_KEPT_FRACTION, SINGLE_EPSILON, SINGLE_ERROR, TWO_THIRDS)
from dpmlite.core._simd cimport clones_void, larger, log2_floor_single
from dpmlite.families._incomplete_normal_gamma_statistics cimport IncompleteStatistics
from dpmlite.families._screenable cimport PyTypeObject, is_instance
from dpmlite.families._student_t cimport Terms
from dpmlite.sweeps._screening_bounds cimport CHUNK, COLUMNS_PER_GROUP

cdef double MIN_POWER_RATIO = 0.25  # of columns that count for P, to the largest power
cdef float MAX_SQUARES = 0.5        # largest W for which staying is bounded


cdef const Densities *densities_with_gaps(Partition partition) noexcept nogil:
    """Return what standardises rows that may have gaps; NULL if they are not screened as such."""
    if (not is_instance(partition.component, <PyTypeObject *> IncompleteStatistics)
            or partition.X.row_weights != NULL
            or not -(<IncompleteStatistics> partition.component).most_power[0] < MAX_POWER):
        return NULL
    return &(<IncompleteStatistics> partition.component).t


cdef void load_slot_with_gaps(GapSlot *slot, float *terms, Partition partition,
                              Py_ssize_t k) noexcept nogil:
    load_terms_elsewhere(slot, terms, <IncompleteStatistics> partition.component, k,
                         -partition.log_weight[k])
    load_terms_of_staying(slot, terms, <IncompleteStatistics> partition.component, k,
                          -partition.light_member_weight[k])


cdef void load_terms_elsewhere(GapSlot *slot, float *terms, IncompleteStatistics component,
                               Py_ssize_t k, double floor) noexcept nogil:
    """Read what the bound of rows of other slots needs."""
    cdef Terms t = component.terms(k, False)
    cdef Py_ssize_t d, D = component.n_columns
    cdef double slopes = 0.0, shifts = 0.0, constants = 0.0, error, scale
    slot.power = power_of_bound(&t, D)
    for d in range(D):
        scale = -t.power[d] / slot.power
        scale = sqrt(scale) if scale >= 1.0 else 0.0
        terms[SLOPE * D + d] = <float> (t.slope[d] * scale)
        terms[SHIFT * D + d] = <float> (t.shift[d] * scale)
        terms[CONSTANT * D + d] = <float> t.constant[d]
        slopes += t.slope[d] * scale
        shifts += fabs(t.shift[d]) * scale
        constants += fabs(t.constant[d])
    error = SINGLE_EPSILON * (2 * D + 16 + 3.0 * shifts)
    slot.floor_error = slot.power * SINGLE_EPSILON * 3.0 * slopes
    slot.floor = (floor - SINGLE_ERROR * fabs(floor) - slot.power * error
                  - (D + 2) * SINGLE_EPSILON * (fabs(floor) + constants))
    slot.power *= LOG_2


cdef double power_of_bound(const Terms *t, Py_ssize_t n_columns) noexcept nogil:
    """Return the least power of the columns that count for P."""
    cdef Py_ssize_t d
    cdef double largest = 0.0, power, least
    for d in range(n_columns):
        largest = larger(largest, -t.power[d])
    least = largest
    for d in range(n_columns):
        power = -t.power[d]
        least = power if MIN_POWER_RATIO * largest <= power < least else least
    return least


cdef void load_terms_of_staying(GapSlot *slot, float *terms, IncompleteStatistics component,
                                Py_ssize_t k, double stay) noexcept nogil:
    """Read what the bound of the slot's own rows needs.

    There is none if rounding would show, nor for the only row with a value in a column.
    """
    cdef Terms t = component.terms(k, True)
    cdef Py_ssize_t d, D = component.n_columns
    cdef double slopes = 0.0, shifts = 0.0, constants = 0.0
    slot.max_power = 0.0
    for d in range(D):
        if t.constant[d] != t.constant[d]:
            forbid_value(terms, D, d)
            continue
        terms[MEMBER_SLOPE * D + d] = <float> t.slope[d]
        terms[MEMBER_SHIFT * D + d] = <float> t.shift[d]
        terms[MEMBER_POWER * D + d] = <float> t.power[d]
        terms[MEMBER_CONSTANT * D + d] = <float> t.constant[d]
        slopes += t.slope[d]
        shifts += fabs(t.shift[d])
        constants += fabs(t.constant[d])
        slot.max_power = larger(slot.max_power, t.power[d])
    slot.error = SINGLE_EPSILON * (2 * D + 16 + 2.0 * shifts)
    slot.error_per_value = SINGLE_EPSILON * 3.0 * slopes
    slot.stay = stay + SINGLE_ERROR * fabs(stay) + (D + 2) * SINGLE_EPSILON * (
        fabs(stay) + constants)
    if component.min_factor[k] > 0.5:  # removals have left less than 2 MIN_KEPT_FRACTION
        slot.stay = NAN


cdef void forbid_value(float *terms, Py_ssize_t n_columns, Py_ssize_t d) noexcept nogil:
    """Let it cost too much to stay with a value in column d; rows without one may stay."""
    terms[MEMBER_SLOPE * n_columns + d] = terms[MEMBER_SHIFT * n_columns + d] = 0
    terms[MEMBER_POWER * n_columns + d] = 0
    terms[MEMBER_CONSTANT * n_columns + d] = -2 * HUGE_COST


cdef void mark_gaps(Chunk *chunk, Py_ssize_t n_columns) noexcept nogil:
    """Set which values a chunk's rows have; those that are missing become 0."""
    mark_missing(chunk.u, n_columns * CHUNK, chunk.has_value)


cdef void bound_slot_with_gaps(const GapSlot *slot, const float *terms, Chunk *chunk,
                               Py_ssize_t n_columns, float *bound) noexcept nogil:
    """Find the bounds of a chunk's rows in a slot, as if all rows were new to it."""
    log_bounds_with_gaps(chunk.u, chunk.has_value, n_columns, terms, <float> slot.power,
                         <float> (slot.floor - chunk.max_value * slot.floor_error), bound)


cdef float stay_ceiling_with_gaps(const GapSlot *slot, const float *terms, const Chunk *chunk,
                                  Py_ssize_t n_columns, Py_ssize_t i) noexcept nogil:
    """Return an upper bound of what it costs row i of a chunk to stay in a slot."""
    cdef float error = <float> (slot.error + chunk.max_value * slot.error_per_value)
    cdef float squares = 0, weighted = 0, fixed = <float> slot.stay, z
    cdef const float *u = chunk.u + i
    cdef const float *has_value = chunk.has_value + i
    cdef Py_ssize_t d
    for d in range(n_columns):
        z = u[d * CHUNK] * terms[MEMBER_SLOPE * n_columns + d]
        z -= has_value[d * CHUNK] * terms[MEMBER_SHIFT * n_columns + d]
        squares += z * z
        weighted += terms[MEMBER_POWER * n_columns + d] * (z * z)
        fixed -= has_value[d * CHUNK] * terms[MEMBER_CONSTANT * n_columns + d]
    fixed += weighted * (<float> 1 + squares * (<float> 0.5 + squares * TWO_THIRDS))
    fixed += <float> (4.0 * slot.max_power) * error
    # A NaN is not less than HUGE_COST.
    return fixed if squares + error + error < MAX_SQUARES and fixed < HUGE_COST else HUGE_COST


# Vector loops.


cdef clones_void mark_missing(float *u, Py_ssize_t n, float *has_value) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(n):
        has_value[j] = <float> 1 if u[j] == u[j] else <float> 0
        u[j] = u[j] if u[j] == u[j] else <float> 0


cdef clones_void log_bounds_with_gaps(const float *u, const float *has_value,
                                      Py_ssize_t n_columns, const float *terms, float power,
                                      float floor, float *bound) noexcept nogil:
    """Set bound[row] = power log2 P + floor - its constants in one slot."""
    cdef float product[CHUNK]
    cdef float total[CHUNK]
    cdef float fixed[CHUNK]
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
        bound[j] = power * log2_floor_single(product[j]) + fixed[j]
