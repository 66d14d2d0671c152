"""Kernel of prediction.py: predictive densities of new rows, leave-one-out costs."""

from libc.math cimport log

from dpmlite.core._constants cimport MIN_EXP_ARGUMENT, UNPLACED
from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport PREFETCH_DISTANCE, Row
from dpmlite.core._simd cimport LANES, clones_double, exp_above, sum_of
from dpmlite.families._component cimport Component
from dpmlite.families._family cimport MEMBERS_PER_BATCH
from dpmlite.partition._crp cimport log_prob_counts_c
from dpmlite.partition._partition cimport Partition
from dpmlite.partition._partition_rows cimport find_range
from dpmlite.sweeps._assignment cimport Mixture

from dpmlite.core.threads import on_threads
from dpmlite.sweeps._assignment import log_weights

cdef enum:
    ROWS_PER_SUM = 16384  # of a partial sum, whatever the threads are: so the total never differs
    MAX_CELLS = 65536     # of rows that are scored together, if they have to be copied


cdef Mixture weighed_mixture(X, Component component, log_weights, Py_ssize_t n_out):
    """A mixture of the slots of a component, with these log weights."""
    cdef Mixture mixture = Mixture(X, component, n_out)
    mixture.weigh(log_weights)
    return mixture


def log_density(X, Component component, double alpha, double[::1] out, double discount=0.0):
    log_mixture_density(X, component, log_weights(component, alpha, discount), out)


def log_mixture_density(X, Component component, log_weights, double[::1] out):
    cdef Mixture mixture = weighed_mixture(X, component, log_weights, out.shape[0])
    cdef Py_ssize_t i
    cdef double least
    with nogil:
        for i in range(mixture.n_rows):
            least = mixture.score(i)
            out[i] = log(replace_by_weights(&mixture.cost[0], mixture.n_slots, least)) - least


cdef clones_double replace_by_weights(double *cost, Py_ssize_t n, double least) noexcept nogil:
    """Replace cost[k] by exp(least - cost[k]), in whole vectors of slots; return the sum."""
    cdef double sums[LANES]
    cdef Py_ssize_t first = 0, j
    for j in range(LANES):
        sums[j] = 0.0
    while first < n:
        for j in range(LANES):
            cost[first + j] = exp_above(MIN_EXP_ARGUMENT, least - cost[first + j])
            sums[j] += cost[first + j]
        first += LANES
    return sum_of(sums)


def responsibilities(X, Component component, double alpha, double[:, ::1] out,
                     double discount=0.0):
    mixture_responsibilities(X, component, log_weights(component, alpha, discount), out)


def mixture_responsibilities(X, Component component, log_weights, double[:, ::1] out):
    cdef Mixture mixture = weighed_mixture(X, component, log_weights, out.shape[0])
    if out.shape[1] != mixture.n_slots:
        raise ValueError(f"out must have {mixture.n_slots} columns, got {out.shape[1]}")
    cdef Py_ssize_t i, k
    cdef double total
    with nogil:
        for i in range(mixture.n_rows):
            total = replace_by_weights(&mixture.cost[0], mixture.n_slots, mixture.score(i))
            for k in range(mixture.n_slots):
                out[i, k] = mixture.cost[k] / total


def neg_log_loo(Partition partition):
    cdef Component component = partition.component
    check_placed(partition)
    cdef double power = component.power
    cdef double total = -log_prob_counts_c(
        component.n, component.n_slots, partition.alpha, power, partition.discount) / power

    def partial_sum(Py_ssize_t first):
        return sum_of_costs(partition, first, min(first + ROWS_PER_SUM, partition.n_rows))

    for cost in on_threads(partial_sum, range(0, partition.n_rows, ROWS_PER_SUM)):
        total += cost
    return total


cdef double sum_of_costs(Partition partition, Py_ssize_t first, Py_ssize_t last) except? -1.0:
    """Sum of the leave-one-out costs of rows first..last-1, without the weights of clusters."""
    # Rows that are scored together, if they have to be copied, are all in `room` at once.
    cdef Py_ssize_t width = partition.X.n_columns if partition.X.first == NULL else 0
    cdef Py_ssize_t most = min(max(MAX_CELLS // (width + 1), 1), <Py_ssize_t> MEMBERS_PER_BATCH)
    cdef double[::1] room = double_array(most * width + 1)
    cdef double total = 0.0
    with nogil:
        partition.component.begin_turn()
        while first < last:
            total += sum_of_few_costs(partition, first, min(last - first, most), &room[0], width)
            first += most
        partition.component.end_turn()
    return total


cdef double sum_of_few_costs(Partition partition, Py_ssize_t first, Py_ssize_t n, double *room,
                             Py_ssize_t width) except? -1.0 nogil:
    """Sum of the costs of n <= MEMBERS_PER_BATCH rows; `room` has `width` values for each."""
    cdef Row[MEMBERS_PER_BATCH] rows
    cdef Py_ssize_t[MEMBERS_PER_BATCH] slots
    cdef double[MEMBERS_PER_BATCH] scores
    cdef double total = 0.0
    cdef Py_ssize_t i, j
    for j in range(n):
        i = first + j
        partition.prefetch(i + PREFETCH_DISTANCE)
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
            partition.prefetch(i + PREFETCH_DISTANCE)
            weights[i] = partition.row_weight(i)
            cost = partition.stay_cost(i)
            row = partition.row(i)  # read again: the cost may have read another row into the room
            out[i] = -partition.component.score_per_copy(-cost, &row)


cdef int check_placed(Partition partition) except -1:
    """Raise ValueError unless every row has a label."""
    cdef Py_ssize_t least = 0, most = 0
    if partition.n_rows > 0:
        find_range(&partition.label[0], partition.n_rows, &least, &most)
    if least == UNPLACED:
        raise ValueError("every row must have a label")
    return 0
