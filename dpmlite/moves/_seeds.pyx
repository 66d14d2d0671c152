"""Kernel of seeds.py: starts from two random rows."""

from libc.math cimport INFINITY

from dpmlite.core._constants cimport TIE, UNPLACED
from dpmlite.core._memory cimport double_array, index_array
from dpmlite.families._component cimport Component


cpdef two_of(Py_ssize_t n, double u, double v):
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    if not (0.0 <= u < 1.0 and 0.0 <= v < 1.0):
        raise ValueError(f"uniforms must be in [0, 1), got {u} and {v}")
    cdef Py_ssize_t first = <Py_ssize_t> (u * n), second = <Py_ssize_t> (v * (n - 1))
    return first, second + (second >= first)


cpdef nearest_seed_labels(Partition partition, const Py_ssize_t[::1] members, double u, double v):
    cdef Py_ssize_t i, first, second, n = members.shape[0]
    cdef double[::1] first_scores = double_array(n), second_scores = double_array(n)
    cdef double[::1] room = partition.room_of_a_row()  # one for each thread that calls this
    cdef Component alone = partition.component.like()
    cdef Py_ssize_t[::1] labels = index_array(n)
    first, second = two_of(n, u, v)
    with nogil:
        partition.score_with(members[first], members, alone, &room[0], first_scores)
        second = second_seed(partition, members, first_scores, first, v, second)
        partition.score_with(members[second], members, alone, &room[0], second_scores)
        for i in range(n):
            labels[i] = second_scores[i] > first_scores[i] + TIE
        labels[first], labels[second] = 0, 1
    return labels.base


cpdef lone_seed_labels(Py_ssize_t n, double u, double v):
    labels = index_array(n)
    cdef Py_ssize_t[::1] label = labels
    cdef Py_ssize_t first, second
    first, second = two_of(n, u, v)
    label[:] = UNPLACED
    label[first], label[second] = 0, 1
    return labels


cpdef check_n_slots(Partition partition, Py_ssize_t n_slots):
    if n_slots != partition.component.n_slots:
        raise ValueError(
            f"uniforms must be given for {partition.component.n_slots} slots, got {n_slots}")


cdef int check_pairs(Py_ssize_t n_numbers) except -1:
    """Raise ValueError unless the last axis of uniforms has two numbers, one for each seed."""
    if n_numbers != 2:
        raise ValueError(f"uniforms must come in pairs, got {n_numbers} together")
    return 0


cdef Py_ssize_t second_seed(Partition partition, const Py_ssize_t[::1] members,
                            const double[::1] scores, Py_ssize_t first, double v,
                            Py_ssize_t if_none) noexcept nogil:
    """The row that `v` draws from the gaps to the best score; `if_none` if all gaps are zero."""
    cdef Py_ssize_t i, last = 0, n = scores.shape[0]
    cdef double best = scores[0], total = 0.0
    for i in range(1, n):
        best = max(best, scores[i])
    for i in range(n):
        if i != first:
            total += partition.row_weight(members[i]) * (best - scores[i])
    if not 0.0 < total < INFINITY:
        return if_none
    total *= v
    for i in range(n):
        if i != first and scores[i] < best:
            last = i
            total -= partition.row_weight(members[i]) * (best - scores[i])
            if total < 0.0:
                break
    return last
