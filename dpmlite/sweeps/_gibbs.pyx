"""Kernel of gibbs.py: collapsed Gibbs sampling of labels."""

from libc.math cimport INFINITY, exp

from dpmlite.core._constants cimport LOG_2, NEGLIGIBLE, UNPLACED
from dpmlite.core._simd cimport clones_double, exp_above, log2_floor, log_positive
from dpmlite.families._slot_vectors cimport NARROW, padded
from dpmlite.partition._partition cimport Partition

cdef enum:
    LOOK_COST = 80  # a look takes as long as so many columns when all slots are scored exactly
    MOST_TRUST = 4
    TRIAL_STEP = 64  # without trust one row in so many is looked at all the same


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
    cdef Py_ssize_t i, looks, moves = partition.n_moves
    cdef Py_ssize_t lowest = partition.first_empty()
    cdef Py_ssize_t worth = partition.component.n_slots * partition.component.n_columns
    cdef int trust = 0  # in `looks_to_stay`: it is time lost for rows between many clusters
    for i in range(partition.n_rows):
        if trust >= 0 or i % TRIAL_STEP == 0:
            looks = looks_to_stay(partition, i, uniforms[i])
            if 0 <= LOOK_COST * looks < worth:
                trust += trust < MOST_TRUST
            else:
                trust -= trust > -MOST_TRUST
            if looks >= 0:
                continue
        draw_row(partition, i, uniforms[i], &lowest)
    return partition.tidy_slots() if partition.n_moves > moves else 0


cdef Py_ssize_t looks_to_stay(Partition partition, Py_ssize_t i, double u) except -2 nogil:
    """Of how many slots one must know the cost to be sure that row i stays; -1 if one is not.

    In units of its own slot's share a row stays if u (1 + others) < 1. Slots at or above the
    limit stay + log(2 n_slots / (1 - u)) add up to (1 - u) / 2 at most, and u (3 - u) / 2 < 1.
    """
    cdef Py_ssize_t k, looks = 0, n_slots = partition.component.n_slots
    if partition.label[i] == UNPLACED:
        return -1
    # log2_floor is 0.03 below log2 at most; 0.04, for the others must not just reach their bound.
    cdef double reach = LOG_2 * (1.04 + log2_floor(n_slots / (1.0 - u)))
    cdef double limit = partition.stay_ceiling(i) + reach
    cdef double least = partition.score(i, limit)
    if least >= limit:
        return 0
    cdef double stay = partition.stay_cost(i), others = 0.5 * (1.0 - u)
    if least < stay - NEGLIGIBLE:
        return -1
    for k in range(n_slots):
        if partition.cost[k] < limit:
            others += exp(stay - partition.cost[k])
            looks += 1
    return looks if u * (1.0 + others) < 1.0 else -1


cdef int draw_row(Partition partition, Py_ssize_t i, double u, Py_ssize_t *lowest) except -1 nogil:
    """Keeps the lowest empty slot up to date."""
    cdef Py_ssize_t k, own = partition.label[i]
    cdef bint alone = own != UNPLACED and partition.size[own] == 1
    cdef double stay = partition.stay_cost(i), least = partition.score(i, INFINITY), change, total
    least = stay if stay < least else least
    if own != UNPLACED:
        partition.cost[own] = stay
    total = shares_of_costs(partition.cost, partition.component.n,
                            padded(partition.component.n_slots), own if alone else lowest[0], least)
    k = slot_at(partition.cost, partition.component.n_slots, own, u * total)
    if k == own:
        return 0
    change = least - log_positive(partition.cost[k]) - (0.0 if own == UNPLACED else stay)
    partition.move_row(i, k, change)
    if alone or k == lowest[0]:
        lowest[0] = partition.first_empty()
    return 0


cdef clones_double shares_of_costs(double *cost, const double *n, Py_ssize_t n_padded,
                                   Py_ssize_t new, double least) noexcept nogil:
    """cost[k] becomes exp(least - cost[k]); returns the sum.

    It becomes 0 if that is negligible, and in every empty slot but `new`.
    """
    cdef double sums[NARROW]
    cdef double total = 0.0, share, kept = cost[new]
    cdef Py_ssize_t first = 0, j
    for j in range(NARROW):
        sums[j] = 0.0
    while first < n_padded:
        for j in range(NARROW):
            share = exp_above(-NEGLIGIBLE, least - cost[first + j])
            share = share if n[first + j] > 0.0 else 0.0
            cost[first + j] = share
            sums[j] += share
        first += NARROW
    for j in range(NARROW):
        total += sums[j]
    if n[new] == 0.0:
        cost[new] = exp_above(-NEGLIGIBLE, least - kept)
        total += cost[new]
    return total


cdef Py_ssize_t slot_at(double *share, Py_ssize_t n_slots, Py_ssize_t own,
                        double rest) noexcept nogil:
    """The slot at `rest` of the sum of all shares, own slot first, which has no share after."""
    cdef Py_ssize_t k
    if own != UNPLACED:
        rest -= share[own]
        if rest < 0.0:
            return own
        share[own] = 0.0
    for k in range(n_slots):
        rest -= share[k]
        if rest < 0.0:
            return k
    k = n_slots - 1  # rounding has left a rest: the last slot that has a share
    while k >= 0 and share[k] == 0.0:
        k -= 1
    return k if k >= 0 else own
