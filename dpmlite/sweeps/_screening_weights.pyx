"""Screening of rows that have weights.

A row of weight w is w equal rows. With t_d as in _screening_bounds.pyx, it costs

    f(w) + (a + w / 2) sum_d log(1 + r t_d),    r = w (c + 1) / (c + w),

in a slot that is not its own, and in its own slot, with w' = w (c + 1) / (c - w) in place of r,

    g(w) - (a - w / 2) sum_d log(1 - w' t_d).

f and g take two logarithms of Gamma functions for each weight. But log Gamma is convex, so that f
is a concave function of w, and g a convex one: on the range of the table's weights, f is at least,
and g at most, what the straight line through its ends is. In large clusters both are nearly straight.
What a new cluster costs bends more, but never changes: it is tabled at several weights.
"""

from libc.math cimport NAN, fabs, sqrt

from dpmlite.core._constants cimport LOG_2, MIN_KEPT_FRACTION, SINGLE_EPSILON, SINGLE_ERROR
from dpmlite.core._simd cimport clones_void, log2_floor_single
from dpmlite.families._screenable cimport Screenable
from dpmlite.families._student_t cimport Densities
from dpmlite.sweeps._screening_bounds cimport CHUNK, COLUMNS_PER_GROUP, StayTerms

cdef double MIN_RANGE = 1.05  # the largest weight as a multiple of the least, for lines
cdef double MIN_SLOT_WEIGHT = 2.0  # of a slot as a multiple of its heaviest row, for rows to stay


cdef void begin_weights(Weights *weights, Partition partition,
                        Screenable component) noexcept nogil:
    """Find the range of weights, and table what rows pay to found a cluster."""
    cdef Py_ssize_t i, empty = partition.first_empty()
    cdef double w
    range_of_weights(partition.X, &weights.least, &weights.most)
    for i in range(N_NEW_COSTS):
        w = weights.least + i * (weights.most - weights.least) / (N_NEW_COSTS - 1)
        weights.new_cost[i] = cost_of_joining(weights, partition, component, empty, w)


cdef void range_of_weights(Rows X, double *least, double *most) noexcept nogil:
    """Find the least and the largest weight; they differ, for lines through both."""
    least[0] = X.least_weight
    most[0] = max(X.most_weight, MIN_RANGE * least[0])


cdef bint members_may_stay(Screenable component, Py_ssize_t k, double most) noexcept nogil:
    """Return whether rows of up to this weight can be taken out of slot k without much rounding."""
    return (component.n[k] >= MIN_SLOT_WEIGHT * most
            and component.least_kept(k) >= 2.0 * MIN_KEPT_FRACTION)


cdef double cost_at_mean(Partition partition, Screenable component, Py_ssize_t k, double others,
                         double w) noexcept nogil:
    """Return what a row of weight w costs at the mean of slot k, whose other rows weigh `others`."""
    return -partition.weight_of(others, w, 0) - component.log_peak(k, others, w)


cdef double cost_of_joining(const Weights *weights, Partition partition, Screenable component,
                            Py_ssize_t k, double w) noexcept nogil:
    """Return what a row of weight w that is new to slot k costs at its mean."""
    cdef double n = component.n[k]
    return -log_weight_of(weights, partition, k, w) - component.log_peak(k, n, w)


cdef double log_weight_of(const Weights *weights, Partition partition, Py_ssize_t k,
                          double w) noexcept nogil:
    """Return the log weight of slot k for a row of weight w that is new to it."""
    if weights.of_one_row or w == 1.0:
        return partition.log_weight[k]
    return partition.weight_of(partition.component.n[k], w,
                               partition.count_clusters() if partition.discount > 0.0 else 0)


cdef void load_weighted_slot(WeightedSlot *slot, const Weights *weights, Partition partition,
                             Screenable component, Py_ssize_t k, double slopes,
                             double shifts) noexcept nogil:
    """Read slot k; `slopes` and `shifts` are the sums of their absolute values."""
    cdef const Densities *t = &component.t
    cdef double n = component.n[k], most = weights.most, least = weights.least, root
    cdef Py_ssize_t D = t.n_columns
    slot.is_empty = n == 0.0
    slot.shape, slot.count = t.power[k] - 0.5, t.c0 + n
    slot.max_power = slot.shape + 0.5 * most
    root = sqrt(most * (slot.count + 1.0) / (slot.count + most))
    slot.error = SINGLE_EPSILON * (3 * D + 24 + 3.0 * root * shifts)
    slot.error_per_value = SINGLE_EPSILON * 3.0 * root * slopes
    slot.floor = slot.floor_per_weight = 0.0
    slot.stay = slot.stay_per_weight = NAN
    if slot.is_empty:
        return
    line_through(weights, cost_of_joining(weights, partition, component, k, least),
                 cost_of_joining(weights, partition, component, k, most),
                 &slot.floor, &slot.floor_per_weight)
    slot.floor -= SINGLE_ERROR * (fabs(slot.floor) + most * fabs(slot.floor_per_weight))
    if weights.of_one_row:
        slot.above = most_above(slot, weights, partition, component, k)
    if members_may_stay(component, k, most):
        line_through(weights, cost_at_mean(partition, component, k, n - least, least),
                     cost_at_mean(partition, component, k, n - most, most), &slot.stay,
                     &slot.stay_per_weight)
        slot.stay += SINGLE_ERROR * (fabs(slot.stay) + most * fabs(slot.stay_per_weight))


cdef double most_above(const WeightedSlot *slot, const Weights *weights, Partition partition,
                       Screenable component, Py_ssize_t k) noexcept nogil:
    """Return by how much what rows pay to join slot k at its mean is above the line, at most.

    A concave function that is 0 at both ends is nowhere more than twice what it is in the middle.
    """
    cdef double middle = 0.5 * (weights.least + weights.most)
    cdef double cost = cost_of_joining(weights, partition, component, k, middle)
    return (2.0 * (cost - slot.floor - slot.floor_per_weight * middle)
            + SINGLE_ERROR * (fabs(slot.floor) + weights.most * fabs(slot.floor_per_weight)))


cdef void line_through(const Weights *weights, double at_least, double at_most, double *start,
                       double *slope) noexcept nogil:
    """Find the line through values at the least and the largest weight."""
    slope[0] = 0.0
    if weights.most > weights.least:
        slope[0] = (at_most - at_least) / (weights.most - weights.least)
    start[0] = at_least - slope[0] * weights.least


cdef void read_weights(const Weights *weights, Partition partition, Chunk *chunk) noexcept nogil:
    """Read the weights of a chunk's rows."""
    cdef Py_ssize_t i
    for i in range(CHUNK):
        chunk.weight[i] = <float> weights.least
    for i in range(chunk.n_rows):
        chunk.weight[i] = <float> partition.row_weight(chunk.index[i])


cdef void find_new_floors(const Weights *weights, Partition partition,
                          Chunk *chunk) noexcept nogil:
    """Find the least that a chunk's rows pay to found a cluster."""
    cdef Py_ssize_t i
    for i in range(CHUNK):
        chunk.new_floor[i] = 0
    for i in range(chunk.n_rows):
        chunk.new_floor[i] = <float> new_floor_of(
            weights, partition.row_weight(chunk.index[i]))


cdef double new_floor_of(const Weights *weights, double w) noexcept nogil:
    """Return a lower bound of what a row of weight w pays to found a cluster at its mean."""
    cdef double x = (w - weights.least) * ((N_NEW_COSTS - 1) / (weights.most - weights.least))
    cdef Py_ssize_t step = min(<Py_ssize_t> x, <Py_ssize_t> (N_NEW_COSTS - 2))
    cdef double cost = weights.new_cost[step]
    cost += (x - step) * (weights.new_cost[step + 1] - cost)
    return cost - SINGLE_ERROR * fabs(cost)


cdef void bound_weighted_slot(const WeightedSlot *slot, Chunk *chunk, const float *slope,
                              Py_ssize_t n_columns, float *bound) noexcept nogil:
    """Find the bounds of a chunk's rows in a slot, as if all rows were new to it."""
    cdef double below = (1.0 + SINGLE_ERROR) * slot.max_power * error_of(slot, chunk)
    if slot.is_empty:
        copy_floors(chunk.new_floor, <float> below, bound)
    else:
        line_floors(
            chunk.weight, <float> slot.floor_per_weight, <float> (slot.floor - below), bound)
    add_log_bounds(chunk.u, n_columns, slope, chunk.weight, <float> slot.count,
                   <float> slot.shape, bound)


cdef inline double error_of(const WeightedSlot *slot, const Chunk *chunk) noexcept nogil:
    """Return a bound of the error of log P."""
    return slot.error + chunk.max_value * slot.error_per_value


cdef void set_weighted_stay_terms(const WeightedSlot *slot, Chunk *chunk,
                                  Py_ssize_t i) noexcept nogil:
    """Set the terms of what it costs row i of a chunk to stay in a slot."""
    cdef StayTerms *terms = &chunk.stay_terms
    cdef double w = chunk.weight[i], power = slot.shape + 0.5 * w, error = error_of(slot, chunk)
    cdef double floor = slot.floor + slot.floor_per_weight * w
    cdef double below = (1.0 + SINGLE_ERROR) * slot.max_power * error
    cdef double per_power = 1.001 / power
    terms.base[i] = <float> (
        per_power * (below - floor + SINGLE_ERROR * (fabs(floor) + below)) + 1.001 * error)
    terms.per_power[i] = <float> per_power
    terms.stay[i] = <float> (slot.stay + slot.stay_per_weight * w)
    terms.power[i] = <float> (slot.shape - 0.5 * w)
    terms.ratio[i] = <float> ((slot.count + w) / (slot.count - w))
    terms.max_x[i] = <float> 0.5
    if slot.stay != slot.stay:
        terms.ratio[i] = NAN


cdef void set_weighted_join_terms(const WeightedSlot *slot, Chunk *chunk,
                                  Py_ssize_t i) noexcept nogil:
    """Set the terms of what it costs row i of a chunk to join a slot; none for an empty one."""
    cdef StayTerms *terms = &chunk.stay_terms
    cdef double w = chunk.weight[i]
    set_weighted_stay_terms(slot, chunk, i)
    terms.stay[i] = <float> (slot.floor + slot.floor_per_weight * w + slot.above)
    terms.power[i] = <float> (slot.shape + 0.5 * w)
    terms.ratio[i] = NAN if slot.is_empty else 1.0


# Vector loops.


cdef clones_void copy_floors(const float *floor, float below, float *bound) noexcept nogil:
    cdef int j
    for j in range(CHUNK):
        bound[j] = floor[j] - below


cdef clones_void line_floors(const float *weight, float per_weight, float start,
                             float *bound) noexcept nogil:
    cdef int j
    for j in range(CHUNK):
        bound[j] = start + per_weight * weight[j]


cdef clones_void add_log_bounds(const float *u, Py_ssize_t n_columns, const float *slope,
                                const float *weight, float count, float shape,
                                float *bound) noexcept nogil:
    """Add (shape + weight / 2) log P to bound[row] in one slot; its shifts follow its slopes."""
    cdef float product[CHUNK]
    cdef float total[CHUNK]
    cdef float ratio[CHUNK]
    cdef const float *shift = slope + n_columns
    cdef float z, count_and_one = count + <float> 1
    cdef Py_ssize_t d = 0, end
    cdef int j
    for j in range(CHUNK):
        product[j] = <float> 1
        ratio[j] = weight[j] * (count_and_one / (count + weight[j]))
    while d < n_columns:
        end = min(d + COLUMNS_PER_GROUP, n_columns)
        for j in range(CHUNK):
            total[j] = 0
        while d < end:
            for j in range(CHUNK):
                z = u[d * CHUNK + j] * slope[d] - shift[d]
                total[j] += z * z
            d += 1
        for j in range(CHUNK):
            product[j] *= <float> 1 + ratio[j] * total[j]
    for j in range(CHUNK):
        bound[j] += (shape + <float> 0.5 * weight[j]) * (
            <float> LOG_2 * log2_floor_single(product[j]))
