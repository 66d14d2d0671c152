"""Visits of rows with weights in full-covariance clusters, and assignment to these.

Exact costs take several Gamma functions for each slot and row. As in _screening_weights.pyx, what a
row costs at a slot's mean is bounded by straight lines in its weight; distances are exact. Most rows
are known to stay from these, and only the others are scored. Lines are found anew when a slot
changes, so that this pays where few rows move.
"""

from libc.math cimport INFINITY, NAN, fabs
from libc.stdlib cimport free

from dpmlite.core._constants cimport LOG_2, ROUNDING_MARGIN, UNPLACED
from dpmlite.core._memory cimport resized
from dpmlite.core._rows cimport PREFETCH_DISTANCE, Row, Rows
from dpmlite.core._simd cimport log2_floor
from dpmlite.families._component cimport Component
from dpmlite.families._multivariate_t cimport (
    WeightedFloors, least_weighted_floor, weighted_floors)
from dpmlite.families._normal_inverse_wishart_statistics cimport (
    WishartStatistics, log_peak_in_data, part_left, whiten_row)
from dpmlite.families._slot_vectors cimport padded
from dpmlite.partition._partition_costs cimport just_above
from dpmlite.sweeps._screening cimport with_rounding
from dpmlite.sweeps._screening_weights cimport (
    N_NEW_COSTS, Weights, line_through, new_floor_of, range_of_weights)
from dpmlite.sweeps._visits cimport visit_in_all_slots, visit_unscreened

cdef extern from "Python.h":
    ctypedef struct PyTypeObject
    bint is_instance "PyObject_TypeCheck"(object component, PyTypeObject *kind) nogil

cdef enum:
    ROWS = 64           # that are visited with lines or without
    MAX_MOVES = 8       # of these, or lines do not pay
    PLAIN_VISITS = 960  # rows that are visited without lines after that

# What rows cost at the mean of each slot, but for founding a cluster, as straight lines in their
# weight: at least, for rows of other slots, and at most, for its own rows.
cdef struct WeightLines:
    Weights weights
    Py_ssize_t n_slots, empty  # `empty` stands for all empty slots
    double *floor              # [slot] of padded slots; the memory begins here
    double *floor_per_weight
    double *stay
    double *stay_per_weight


cdef bint has_weight_lines(Partition partition) noexcept nogil:
    # With a discount, each new cluster changes what all rows pay to found one.
    return partition.discount == 0.0 and has_lines(partition.component, partition.X)


cdef bint has_lines(Component component, Rows X) noexcept nogil:
    return X.row_weights != NULL and is_instance(component, <PyTypeObject *> WishartStatistics)


cdef Py_ssize_t visit_weighted_rows(Partition partition) except -1 nogil:
    """Visit all rows, each in all slots unless it is known to stay; return how many moved."""
    cdef WeightLines lines
    cdef Py_ssize_t first = 0, last, n, n_moves = 0
    lines.floor, lines.n_slots = NULL, 0
    try:
        while first < partition.n_rows:
            last = min(first + ROWS, partition.n_rows)
            n = visit_with_lines(&lines, partition, first, last)
            if n > MAX_MOVES:
                first, last = last, min(last + PLAIN_VISITS, partition.n_rows)
                n += visit_unscreened(partition, first, last, False)
                lines.n_slots = 0  # all are out of date
            n_moves += n
            first = last
    finally:
        free(lines.floor)
    return n_moves


cdef Py_ssize_t visit_with_lines(WeightLines *lines, Partition partition, Py_ssize_t first,
                                 Py_ssize_t last) except -1 nogil:
    """Visit rows first..last-1; return how many moved."""
    cdef Py_ssize_t i, own, n_moves = 0
    for i in range(first, last):
        partition.prefetch(i + PREFETCH_DISTANCE)
        if lines.n_slots != partition.component.n_slots:
            load_all_lines(lines, partition)
        own = partition.label[i]
        if is_known_to_stay(lines, partition, <WishartStatistics> partition.component, i):
            continue
        if visit_in_all_slots(partition, i, False):
            n_moves += 1
            if own != UNPLACED:
                load_lines(lines, partition, own)
            load_lines(lines, partition, partition.label[i])
            lines.empty = partition.first_empty()
    return n_moves


cdef bint is_known_to_stay(const WeightLines *lines, Partition partition,
                           WishartStatistics component, Py_ssize_t i) noexcept nogil:
    """Return whether the bounds of row i show that no other slot costs less than its own."""
    cdef Row row = partition.row(i)
    cdef double w = row.weight, rest, stay, elsewhere
    cdef WeightedFloors floors
    cdef Py_ssize_t own = partition.label[i]
    if own == UNPLACED or partition.size[own] == 1 or partition.outweighs(w, own):
        return False
    whiten_row(component, row.values)
    rest = part_left(component, own, w)  # NaN stays
    stay = lines.stay[own] + lines.stay_per_weight[own] * w
    stay -= 0.5 * (component.nu0 + component.n[own] - w) * LOG_2 * log2_floor(rest)
    lines.floor[lines.empty] = new_floor_of(&lines.weights, w)
    rest, lines.floor[own] = lines.floor[own], INFINITY
    floors = floors_of(component, w, lines.floor, lines.floor_per_weight)
    elsewhere = least_weighted_floor(
        &component.t, padded(lines.n_slots), component.u, &floors, with_rounding(stay))
    lines.floor[own] = rest
    return with_rounding(stay) <= elsewhere


cdef WeightedFloors floors_of(WishartStatistics component, double w, const double *start,
                              const double *per_weight) noexcept nogil:
    cdef WeightedFloors floors
    floors.weight, floors.kappa0, floors.n = w, component.kappa0, component.n
    floors.start, floors.per_weight = start, per_weight
    return floors


cdef int load_all_lines(WeightLines *lines, Partition partition) except -1 nogil:
    """Find the lines of all slots, and table what rows pay to found a cluster."""
    cdef Py_ssize_t k, n = padded(partition.component.n_slots)
    cdef Weights *weights = &lines.weights
    cdef double w
    lines.floor = <double *> resized(lines.floor, 4 * n * sizeof(double))
    lines.floor_per_weight, lines.stay = lines.floor + n, lines.floor + 2 * n
    lines.stay_per_weight = lines.floor + 3 * n
    lines.n_slots, lines.empty = partition.component.n_slots, partition.first_empty()
    range_of_weights(partition.X, &weights.least, &weights.most)
    for k in range(N_NEW_COSTS):
        w = weights.least + k * (weights.most - weights.least) / (N_NEW_COSTS - 1)
        weights.new_cost[k] = cost_at_mean(partition, lines.empty, 0.0, w)
    for k in range(n):
        lines.floor[k], lines.floor_per_weight[k] = INFINITY, 0.0
    for k in range(lines.n_slots):
        load_lines(lines, partition, k)
    return 0


cdef void load_lines(WeightLines *lines, Partition partition, Py_ssize_t k) noexcept nogil:
    """Find the lines of slot k, which is new or has changed."""
    cdef double n = partition.component.n[k]
    cdef double least = lines.weights.least, most = lines.weights.most
    lines.floor[k], lines.floor_per_weight[k] = INFINITY, 0.0
    lines.stay[k], lines.stay_per_weight[k] = NAN, 0.0
    if n > 0.0:
        line_through(&lines.weights, cost_at_mean(partition, k, n, least),
                     cost_at_mean(partition, k, n, most), &lines.floor[k],
                     &lines.floor_per_weight[k])
    if n > most:
        line_through(&lines.weights, cost_at_mean(partition, k, n - least, least),
                     cost_at_mean(partition, k, n - most, most), &lines.stay[k],
                     &lines.stay_per_weight[k])


cdef double cost_at_mean(Partition partition, Py_ssize_t k, double others,
                         double w) noexcept nogil:
    """Return what a row of weight w costs at the mean of slot k, whose other rows weigh `others`."""
    return -partition.weight_of(others, w, 0) - log_peak_of(
        <WishartStatistics> partition.component, k, others, w)


cdef double log_peak_of(WishartStatistics self, Py_ssize_t k, double others,
                        double w) noexcept nogil:
    return log_peak_in_data(self, self.kappa0 + others, self.nu0 + others, self.log_det[k], w)


cdef void find_lines_to_join(WishartStatistics component, Rows X, const double *log_weight,
                             double *start, double *per_weight) noexcept nogil:
    """Find lines that are below what rows cost at the mean of each slot, given its log weight."""
    cdef Weights weights
    cdef double n
    cdef Py_ssize_t k
    range_of_weights(X, &weights.least, &weights.most)
    for k in range(padded(component.n_slots)):
        start[k], per_weight[k] = INFINITY, 0.0
    for k in range(component.n_slots):
        n = component.n[k]
        line_through(&weights, -log_weight[k] - log_peak_of(component, k, n, weights.least),
                     -log_weight[k] - log_peak_of(component, k, n, weights.most),
                     &start[k], &per_weight[k])
        start[k] -= ROUNDING_MARGIN * (fabs(start[k]) + fabs(per_weight[k]) * weights.most)


cdef double least_cost_to_join(WishartStatistics component, const Row *row,
                               const double *log_weight, const double *start,
                               const double *per_weight, double *cost) noexcept nogil:
    """Set cost[k] and return the least cost; far from it, cost[k] may be a lower bound."""
    cdef WeightedFloors floors = floors_of(component, row.weight, start, per_weight)
    cdef Py_ssize_t k, nearest = 0
    whiten_row(component, row.values)
    weighted_floors(&component.t, padded(component.n_slots), component.u, &floors, cost)
    for k in range(component.n_slots):
        cost[k] -= ROUNDING_MARGIN * fabs(cost[k])
        nearest = k if cost[k] < cost[nearest] else nearest
    return component.score_below(
        row, log_weight, just_above(log_weight[nearest], component.score_slot(row, nearest)), cost)
