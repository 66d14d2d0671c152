"""Kernel of gibbs.py: collapsed Gibbs sampling of labels.

Before all slots of a row are scored, a test may show from lower bounds of the costs that the row
stays. Between many clusters it fails, and only takes time: so it is used while it pays.
"""

from libc.math cimport INFINITY, exp

from dpmlite.core._constants cimport LOG_2, MAX_COST_GAP, UNPLACED
from dpmlite.core._simd cimport clones_double, exp_above, log2_floor, log_positive
from dpmlite.families._slot_vectors cimport NARROW, padded
from dpmlite.partition._partition cimport Partition

cdef enum:
    CELLS_PER_TESTED_SLOT = 80  # slots x columns scored at once in the time of one tested slot
    MAX_CREDIT = 4              # of the test: each row for which it pays adds 1, any other takes 1
    ROWS_PER_TRIAL = 64         # without credit, one row of this many is still tested


def gibbs_sweep(Partition partition, const double[::1] uniforms):
    cdef Py_ssize_t emptied = partition.n_emptied
    if uniforms.shape[0] != partition.n_rows:
        raise ValueError(
            f"uniforms must have {partition.n_rows} values, got {uniforms.shape[0]}")
    check_uniforms(uniforms, partition.n_rows)
    if partition.n_rows > 0:
        with nogil:
            draw_rows(partition, &uniforms[0])
    return partition.n_emptied - emptied


cpdef check_uniforms(const double[::1] uniforms, Py_ssize_t n):
    cdef Py_ssize_t i
    if uniforms.shape[0] < n:
        raise ValueError(f"uniforms must have at least {n} values, got {uniforms.shape[0]}")
    for i in range(n):
        if not 0.0 <= uniforms[i] < 1.0:
            raise ValueError(f"uniforms must be in [0, 1), got {uniforms[i]}")


cdef int draw_rows(Partition partition, const double *uniforms) except -1 nogil:
    """Draw the label of every row, and tidy the slots if one has moved."""
    cdef Py_ssize_t i, n_tested, moves = partition.n_moves
    cdef Py_ssize_t lowest = partition.first_empty()
    cdef Py_ssize_t n_cells = partition.component.n_slots * partition.component.n_columns
    cdef int credit = 0
    for i in range(partition.n_rows):
        if credit >= 0 or i % ROWS_PER_TRIAL == 0:
            n_tested = slots_tested_to_stay(partition, i, uniforms[i])
            if 0 <= CELLS_PER_TESTED_SLOT * n_tested < n_cells:
                credit += credit < MAX_CREDIT
            else:
                credit -= credit > -MAX_CREDIT
            if n_tested >= 0:
                continue
        draw_row(partition, i, uniforms[i], &lowest)
    return partition.tidy_slots() if partition.n_moves > moves else 0


cdef Py_ssize_t slots_tested_to_stay(Partition partition, Py_ssize_t i,
                                     double u) except -2 nogil:
    """Number of slots whose costs show that row i stays; -1 if they do not.

    Let the weight of a slot be exp(-cost), in units of the row's own slot. The row stays if
    u (1 + sum of the others' weights) < 1. Slots that cost stay + log(2 n_slots / (1 - u)) or more
    add at most (1 - u) / 2 to that sum; if there are no others, u (3 - u) / 2 < 1.
    """
    cdef Py_ssize_t k, n_tested = 0, n_slots = partition.component.n_slots
    if partition.label[i] == UNPLACED:
        return -1
    # log2_floor is at most 0.03 below log2; 0.04 leaves room for rounding.
    cdef double reach = LOG_2 * (1.04 + log2_floor(n_slots / (1.0 - u)))
    cdef double limit = partition.stay_ceiling(i) + reach
    cdef double least = partition.score(i, limit)
    if least >= limit:
        return 0
    cdef double stay = partition.stay_cost(i), others = 0.5 * (1.0 - u)
    if least < stay - MAX_COST_GAP:
        return -1
    for k in range(n_slots):
        if partition.cost[k] < limit:
            others += exp(stay - partition.cost[k])
            n_tested += 1
    return n_tested if u * (1.0 + others) < 1.0 else -1


cdef int draw_row(Partition partition, Py_ssize_t i, double u, Py_ssize_t *lowest) except -1 nogil:
    """Draw the label of row i; keep `lowest`, the lowest empty slot, up to date."""
    cdef Py_ssize_t k, own = partition.label[i]
    cdef bint alone = own != UNPLACED and partition.size[own] == 1
    cdef double stay = partition.stay_cost(i), least = partition.score(i, INFINITY), change, total
    least = stay if stay < least else least
    if own != UNPLACED:
        partition.cost[own] = stay
    total = replace_by_weights(
        partition.cost, partition.component.n, padded(partition.component.n_slots),
        own if alone else lowest[0], least)
    k = slot_at(partition.cost, partition.component.n_slots, own, u * total)
    if k == own:
        return 0
    change = least - log_positive(partition.cost[k]) - (0.0 if own == UNPLACED else stay)
    partition.move_row(i, k, change)
    if alone or k == lowest[0]:
        lowest[0] = partition.first_empty()
    return 0


cdef clones_double replace_by_weights(double *cost, const double *n, Py_ssize_t n_padded,
                                      Py_ssize_t new, double least) noexcept nogil:
    """Replace cost[k] by the weight exp(least - cost[k]); return the sum of the weights.

    The weight is 0 beyond MAX_COST_GAP, and in every empty slot but `new`.
    """
    cdef double sums[NARROW]
    cdef double total = 0.0, weight, new_cost = cost[new]
    cdef Py_ssize_t first = 0, j
    for j in range(NARROW):
        sums[j] = 0.0
    while first < n_padded:
        for j in range(NARROW):
            weight = exp_above(-MAX_COST_GAP, least - cost[first + j])
            weight = weight if n[first + j] > 0.0 else 0.0
            cost[first + j] = weight
            sums[j] += weight
        first += NARROW
    for j in range(NARROW):
        total += sums[j]
    if n[new] == 0.0:
        cost[new] = exp_above(-MAX_COST_GAP, least - new_cost)
        total += cost[new]
    return total


cdef Py_ssize_t slot_at(double *weight, Py_ssize_t n_slots, Py_ssize_t own,
                        double rest) noexcept nogil:
    """The slot in which the cumulative weight exceeds `rest`, counted from the own slot.

    The own slot's weight becomes 0 unless it is the one.
    """
    cdef Py_ssize_t k
    if own != UNPLACED:
        rest -= weight[own]
        if rest < 0.0:
            return own
        weight[own] = 0.0
    for k in range(n_slots):
        rest -= weight[k]
        if rest < 0.0:
            return k
    k = n_slots - 1  # rounding has left a rest: the last slot that has a weight
    while k >= 0 and weight[k] == 0.0:
        k -= 1
    return k if k >= 0 else own
