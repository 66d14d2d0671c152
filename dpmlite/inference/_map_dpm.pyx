"""Kernel of map_dpm.py: coordinate sweeps."""

from libc.math cimport INFINITY

from dpmlite.models._partition cimport TIE, UNPLACED, Partition


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
    cdef Py_ssize_t i, k, own, moves = 0
    cdef double stay, best
    cdef double *cost
    for i in range(partition.n_rows):
        own = partition.label[i]
        stay = partition.score(i, True)
        cost = partition.cost
        best = least(cost, partition.component.n_slots)
        if best < stay - TIE:
            k = 0
            while cost[k] > best + TIE:
                k += 1
            partition.move_row(i, k, cost[k] if own == UNPLACED else cost[k] - stay)
            moves += 1
    if moves > 0:
        partition.tidy_slots()
    return moves


cdef Py_ssize_t converge_rows(Partition partition, Py_ssize_t max_sweeps) except -1 nogil:
    cdef Py_ssize_t n_sweeps
    for n_sweeps in range(1, max_sweeps + 1):
        if sweep_rows(partition) == 0:
            return n_sweeps
    return max_sweeps


cdef inline double least(const double *values, Py_ssize_t n) noexcept nogil:
    """The smallest value. Eight running minima do not wait for one another."""
    cdef double lane[8]
    cdef Py_ssize_t i = 0, j
    for j in range(8):
        lane[j] = INFINITY
    while i + 8 <= n:
        for j in range(8):
            lane[j] = values[i + j] if values[i + j] < lane[j] else lane[j]
        i += 8
    for j in range(n - i):
        lane[j] = values[i + j] if values[i + j] < lane[j] else lane[j]
    for j in range(1, 8):
        lane[0] = lane[j] if lane[j] < lane[0] else lane[0]
    return lane[0]
