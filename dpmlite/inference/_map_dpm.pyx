"""Kernel of map_dpm.py: coordinate sweeps."""

from libc.math cimport INFINITY

from dpmlite.models._partition cimport TIE, Partition


def sweep(Partition partition):
    cdef Py_ssize_t moves
    with nogil:
        moves = sweep_rows(partition)
    return moves


def converge(Partition partition, Py_ssize_t max_sweeps):
    cdef Py_ssize_t n_sweeps
    with nogil:
        n_sweeps = converge_rows(partition, max_sweeps)
    return n_sweeps


cdef Py_ssize_t sweep_rows(Partition partition) except -1 nogil:
    cdef Py_ssize_t i, moves = 0
    cdef double stay, best
    for i in range(partition.n_rows):
        stay = partition.stay_ceiling(i)
        best = partition.score(i, stay)
        if best < stay - TIE:
            stay = partition.stay_cost(i)
            if best < stay - TIE:
                move_to_best(partition, i, best, stay)
                moves += 1
    if moves > 0:
        partition.tidy_slots()
    return moves


cdef int move_to_best(Partition partition, Py_ssize_t i, double best, double stay) except -1 nogil:
    """To the lowest slot among those that cost the least."""
    cdef Py_ssize_t k = 0
    while partition.cost[k] > best + TIE:
        k += 1
    cdef double cost = partition.cost[k]
    return partition.move_row(i, k, cost if stay == INFINITY else cost - stay)


cdef Py_ssize_t converge_rows(Partition partition, Py_ssize_t max_sweeps) except -1 nogil:
    cdef Py_ssize_t n_sweeps
    for n_sweeps in range(1, max_sweeps + 1):
        if sweep_rows(partition) == 0:
            return n_sweeps
    return max_sweeps
