"""Kernel of prediction.py: prediction for new rows, leave-one-out likelihood of old ones."""

from libc.math cimport log

from dpmlite.core._constants cimport LEAST_LOG, UNPLACED
from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport AHEAD, Row
from dpmlite.core._simd cimport LANES, clones_double, exp_above, sum_of
from dpmlite.families._component cimport Component
from dpmlite.families._family cimport MEMBERS_PER_BATCH
from dpmlite.partition._crp cimport log_prob_counts_c
from dpmlite.partition._partition cimport Partition, find_range
from dpmlite.sweeps._assignment cimport Mixture
from dpmlite.sweeps._map_dpm cimport check_n_threads

from dpmlite.core.threads import on_threads
from dpmlite.sweeps._assignment import log_weights

cdef enum:
    LOO_ROWS = 16384   # that are added up at a time
    LOO_CELLS = 65536  # of rows that are looked at together, if they have to be copied


cdef Mixture weighed_mixture(X, Component component, log_weights, Py_ssize_t n_out):
    cdef Mixture mixture = Mixture(X, component, n_out)
    mixture.weigh(log_weights)
    return mixture


def log_density(X, Component component, double alpha, double[::1] out):
    log_mixture_density(X, component, log_weights(component, alpha), out)


def log_mixture_density(X, Component component, log_weights, double[::1] out):
    cdef Mixture mixture = weighed_mixture(X, component, log_weights, out.shape[0])
    cdef Py_ssize_t i
    cdef double least
    with nogil:
        for i in range(mixture.n_rows):
            least = mixture.score(i)
            out[i] = log(shares_of(&mixture.cost[0], mixture.n_slots, least)) - least


cdef clones_double shares_of(double *cost, Py_ssize_t n, double least) noexcept nogil:
    """cost[k] becomes exp(least - cost[k]) for whole vectors of slots; returns the sum."""
    cdef double sums[LANES]
    cdef Py_ssize_t first = 0, j
    for j in range(LANES):
        sums[j] = 0.0
    while first < n:
        for j in range(LANES):
            cost[first + j] = exp_above(LEAST_LOG, least - cost[first + j])
            sums[j] += cost[first + j]
        first += LANES
    return sum_of(sums)


def responsibilities(X, Component component, double alpha, double[:, ::1] out):
    mixture_responsibilities(X, component, log_weights(component, alpha), out)


def mixture_responsibilities(X, Component component, log_weights, double[:, ::1] out):
    cdef Mixture mixture = weighed_mixture(X, component, log_weights, out.shape[0])
    if out.shape[1] != mixture.n_slots:
        raise ValueError(f"out must have {mixture.n_slots} columns, got {out.shape[1]}")
    cdef Py_ssize_t i, k
    cdef double total
    with nogil:
        for i in range(mixture.n_rows):
            total = shares_of(&mixture.cost[0], mixture.n_slots, mixture.score(i))
            for k in range(mixture.n_slots):
                out[i, k] = mixture.cost[k] / total


def neg_log_loo(Partition partition, Py_ssize_t n_threads=1):
    check_n_threads(n_threads)
    cdef Component component = partition.component
    check_placed(partition)
    cdef double total = -log_prob_counts_c(component.n, component.n_slots, partition.alpha)

    def part(Py_ssize_t first):
        return loo_of(partition, first, min(first + LOO_ROWS, partition.n_rows))

    for share in on_threads(part, range(0, partition.n_rows, LOO_ROWS), n_threads):
        total += share
    return total


cdef double loo_of(Partition partition, Py_ssize_t first, Py_ssize_t last) except? -1.0:
    """The share of some rows: sums of as many on every thread, so that they are always the same."""
    # If rows have to be copied, they all are there at once.
    cdef Py_ssize_t width = partition.X.n_columns if partition.X.first == NULL else 0
    cdef Py_ssize_t most = min(max(LOO_CELLS // (width + 1), 1), <Py_ssize_t> MEMBERS_PER_BATCH)
    cdef double[::1] room = double_array(most * width + 1)
    cdef double total = 0.0
    with nogil:
        partition.component.begin_turn()
        while first < last:
            total += loo_of_some(partition, first, min(last - first, most), &room[0], width)
            first += most
        partition.component.end_turn()
    return total


cdef double loo_of_some(Partition partition, Py_ssize_t first, Py_ssize_t n, double *room,
                        Py_ssize_t width) except? -1.0 nogil:
    """Of n rows from `first`; `room` has `width` for each."""
    cdef Row[MEMBERS_PER_BATCH] rows
    cdef Py_ssize_t[MEMBERS_PER_BATCH] slots
    cdef double[MEMBERS_PER_BATCH] scores
    cdef double total = 0.0
    cdef Py_ssize_t i, j
    for j in range(n):
        i = first + j
        partition.prefetch(i + AHEAD)
        rows[j], slots[j] = partition.row_into(i, room + j * width), partition.label[i]
    partition.component.score_members(rows, slots, n, scores)
    for j in range(n):
        if partition.size[slots[j]] == 1 or scores[j] != scores[j]:
            scores[j] = -partition.shared_stay_cost(first + j, &rows[j])
            scores[j] -= partition.member_weight(first + j, rows[j].weight)
        total -= scores[j]
    return total


def own_costs(Partition partition, double[::1] out, double[::1] weights):
    cdef double cost
    cdef Py_ssize_t i
    cdef Row row
    check_placed(partition)
    for name, places in (("out", out), ("weights", weights)):
        if len(places) != partition.n_rows:
            raise ValueError(f"{name} must be for {partition.n_rows} rows, got {len(places)}")
    with nogil:
        for i in range(partition.n_rows):
            partition.prefetch(i + AHEAD)
            weights[i] = partition.row_weight(i)
            cost = partition.stay_cost(i)
            row = partition.row(i)  # the cost may have read others into its room
            out[i] = -partition.component.score_per_copy(-cost, &row)


cdef int check_placed(Partition partition) except -1:
    cdef Py_ssize_t least = 0, most = 0
    if partition.n_rows > 0:
        find_range(&partition.label[0], partition.n_rows, &least, &most)
    if least == UNPLACED:
        raise ValueError("every row must have a label")
    return 0
