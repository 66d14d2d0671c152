"""Kernel of jain_neal.py: split-merge Metropolis-Hastings moves."""

from libc.math cimport exp, log, log1p

from dpmlite.core._constants cimport N_LEADING_UNIFORMS, UNPLACED
from dpmlite.core._memory cimport index_array
from dpmlite.core._rows cimport Row
from dpmlite.moves._division cimport joint_of, members_of
from dpmlite.moves._seeds cimport two_of
from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._gibbs cimport check_uniforms

from dpmlite.moves._merges import merge_change


def propose_split_merge(Partition partition, n_scans, const double[::1] uniforms):
    check_mcmc(partition, n_scans)
    check_uniforms(uniforms, N_LEADING_UNIFORMS)
    if partition.n_rows < 2:
        return False
    cdef Py_ssize_t i, j
    i, j = two_of(partition.n_rows, uniforms[0], uniforms[1])
    cdef Py_ssize_t home = partition.label[i], away = partition.label[j]
    slots = [home] if home == away else [home, away]
    members = members_of(partition, slots)
    cdef Py_ssize_t n = len(members)
    n_used = N_LEADING_UNIFORMS + n * (1 if n_scans is None else n_scans + 2)
    check_uniforms(uniforms, n_used)
    a, b = members.index(i), members.index(j)
    cdef Partition division = None
    cdef double change, log_q = -(n - 2) * log(2.0)
    if home == away or n_scans is not None:
        division = launch(partition, members, a, b, &uniforms[N_LEADING_UNIFORMS])
    if n_scans is not None:
        now = None if home == away else sides_now(partition, members, away)
        log_q = scan_all(division, a, b, &uniforms[N_LEADING_UNIFORMS + n], n_scans, now)

    if home == away:
        change = division.neg_log_joint - joint_of(partition, slots)
    else:
        change = merge_change(partition, home, away)
    cdef double log_ratio = -change + (-log_q if home == away else log_q)
    if not uniforms[2] < exp(log_ratio if log_ratio < 0.0 else 0.0):
        return False
    if home == away:
        partition.replace(slots, members, division, change)
    else:
        partition.join(home, away, change)
    partition.tidy_slots()
    return True


cdef int check_mcmc(Partition partition, n_scans) except -1:
    cdef Py_ssize_t i
    if n_scans is not None and n_scans < 0:
        raise ValueError(f"n_scans must not be negative, got {n_scans}")
    for i in range(partition.n_rows):
        if partition.label[i] == UNPLACED:
            raise ValueError("every row must have a label")
    return 0


cdef Partition launch(Partition partition, members, Py_ssize_t a, Py_ssize_t b,
                      const double *uniforms):
    """The members on the sides that the coins choose, members a and b on sides 0 and 1."""
    cdef Py_ssize_t r, n = len(members)
    sides = index_array(n)
    cdef Py_ssize_t[::1] side = sides
    for r in range(n):
        side[r] = uniforms[r] >= 0.5
    side[a], side[b] = 0, 1
    return partition.part(members, sides)


cdef sides_now(Partition partition, const Py_ssize_t[::1] members, Py_ssize_t away):
    """The present side of each member: 1 in slot `away`, else 0."""
    cdef Py_ssize_t r
    sides = index_array(members.shape[0])
    cdef Py_ssize_t[::1] side = sides
    for r in range(members.shape[0]):
        side[r] = partition.label[members[r]] == away
    return sides


cdef double scan_all(Partition division, Py_ssize_t a, Py_ssize_t b, const double *uniforms,
                     Py_ssize_t n_scans, const Py_ssize_t[::1] sides) except? 1.0:
    """Make `n_scans` scans and the last; returns the log probability of the last one's sides."""
    cdef const Py_ssize_t *last = NULL
    cdef double log_q
    cdef Py_ssize_t s
    if sides is not None:
        last = &sides[0]
    with nogil:
        for s in range(n_scans):
            scan(division, a, b, uniforms + s * division.n_rows, NULL)
        log_q = scan(division, a, b, uniforms + n_scans * division.n_rows, last)
    return log_q


cdef double scan(Partition division, Py_ssize_t a, Py_ssize_t b, const double *uniforms,
                 const Py_ssize_t *sides) except? 1.0 nogil:
    """Draw the side of every row except a and b; `sides`, unless NULL, take their place.

    Returns the log probability of the sides.
    """
    cdef double log_q = 0.0, gap, ratio
    cdef Py_ssize_t r, own, side
    for r in range(division.n_rows):
        if r == a or r == b:
            continue
        own = division.label[r]
        gap = cost_of(division, r, 1 - own) - division.stay_cost(r)
        # The more probable side has weight 1, the other one `ratio`; a gap above 0 favours `own`.
        ratio = exp(-gap if gap > 0.0 else gap)
        if sides != NULL:
            side = sides[r]
        else:
            side = uniforms[r] >= (1.0 if (gap > 0.0) == (own == 0) else ratio) / (1.0 + ratio)
        log_q -= log1p(ratio)
        if (side == own) != (gap > 0.0):
            log_q -= gap if gap > 0.0 else -gap
        if side != own:
            division.move_row(r, side, gap)
    division.tidy_slots()
    return log_q


cdef double cost_of(Partition partition, Py_ssize_t i, Py_ssize_t k) noexcept nogil:
    """The cost of row i in slot k, which must not be the row's own slot."""
    cdef Row row = partition.row(i)
    cdef double log_weight = (partition.log_weight[k] if row.weight == 1.0 else
                              partition.weight_of(partition.component.n[k], row.weight, 0))
    return -log_weight - partition.component.score_slot(&row, k)
