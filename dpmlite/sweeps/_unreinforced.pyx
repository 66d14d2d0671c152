"""Kernel of unreinforced.py: the first sweep from one cluster, which counts as one row."""

from dpmlite.core._constants cimport TIE, UNPLACED
from dpmlite.core._rows cimport PREFETCH_DISTANCE
from dpmlite.families._slot_vectors cimport first_within
from dpmlite.partition._partition cimport Partition


def unreinforced_sweep(Partition partition):
    cdef Py_ssize_t n_moves, n_unplaced = count_unplaced(partition)
    if partition.n_clusters != 1 or n_unplaced > 0:
        raise ValueError(f"all rows must be in one cluster, got {partition.n_clusters} clusters "
                         f"and {n_unplaced} rows without one")
    with nogil:
        n_moves = leave_if_better(partition)
    return n_moves


cdef Py_ssize_t count_unplaced(Partition partition) noexcept nogil:
    cdef Py_ssize_t i, n = 0
    for i in range(partition.n_rows):
        n += partition.label[i] == UNPLACED
    return n


cdef Py_ssize_t leave_if_better(Partition partition) except -1 nogil:
    """Visit each row of slot 0; return how many left it."""
    cdef Py_ssize_t i, k, n_moves = 0
    cdef double stay, best
    for i in range(partition.n_rows):
        partition.prefetch(i + PREFETCH_DISTANCE)
        stay = partition.stay_cost(i)
        best = partition.score(i, stay + reinforcement(partition, i))
        if best < stay + reinforcement(partition, i) - TIE:
            k = first_within(partition.cost, partition.component.n_slots, best + TIE)
            partition.move_row(i, k, partition.cost[k] - stay)
            n_moves += 1
    partition.tidy_slots()
    return n_moves


cdef double reinforcement(Partition partition, Py_ssize_t i) noexcept nogil:
    """What slot 0 weighs beyond a cluster of one row, for its row i; 0 if it is alone."""
    cdef double weight = partition.row_weight(i)
    if partition.size[0] == 1:
        return 0.0
    return partition.member_weight(i, weight) - partition.weight_of(1.0, weight, 0)
