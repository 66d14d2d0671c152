"""Kernel of split_merge.py: moves that divide clusters anew."""

from array import array

from dpmlite.inference._division cimport divide, member_lists, trial_step, two_of
from dpmlite.models._partition cimport TIE, UNPLACED, Partition

from dpmlite.inference._merging import nearest, used_slots
from dpmlite.models._partition import index_array

ATYPICAL_PARTS = (0.5, 0.1)

cdef extern from *:
    """
    #define DPM_MUCH 0.01
    """
    double MUCH "DPM_MUCH"


def split(Partition partition, const double[:, :, ::1] uniforms):
    cdef Py_ssize_t k, splits = 0
    check_uniforms(partition, uniforms.shape[0], uniforms.shape[2])
    for k, members in enumerate(member_lists(partition)):
        if partition.touched[k] > MUCH * len(members):
            splits += split_slot(partition, k, members, uniforms[k])
    if splits:
        partition.tidy_slots()
    return splits


cdef Py_ssize_t split_slot(Partition partition, Py_ssize_t k, members,
                           const double[:, ::1] uniforms) except -1:
    cdef Py_ssize_t i, j, splits = 1
    if len(members) < 2:
        return 0
    trial = members[::trial_step(len(members))]
    starts = [seeded(uniforms[i, 0], uniforms[i, 1], len(trial))
              for i in range(uniforms.shape[0])]
    starts += atypical(partition, trial)
    if not divide(partition, [k], members, starts):
        partition.touched[k] = 0
        return 0
    if len(trial) < len(members):
        for j, part in parts_of(partition, members):
            splits += split_slot(partition, j, part, uniforms)
    return splits


cdef parts_of(Partition partition, const Py_ssize_t[::1] members):
    """Slots and members of the clusters that some rows are in."""
    cdef Py_ssize_t i, k
    cdef Py_ssize_t[::1] size = index_array(partition.component.n_slots), part
    for i in range(members.shape[0]):
        size[partition.label[members[i]]] += 1
    found = [(k, index_array(size[k])) for k in range(size.shape[0]) if size[k] > 0]
    for k, rows in found:
        part = rows
        size[k] = 0
        for i in range(members.shape[0]):
            if partition.label[members[i]] == k:
                part[size[k]] = members[i]
                size[k] += 1
    return found


def exchange(Partition partition, const double[:, :, :, ::1] uniforms):
    check_uniforms(partition, uniforms.shape[0], uniforms.shape[3])
    cdef Py_ssize_t i, j, k, exchanges = 0
    members = member_lists(partition)
    untouched, tried = set(used_slots(partition)), set()
    for j in sorted(untouched):
        if j not in untouched:
            continue
        for rank, k in enumerate(nearest(partition, j, uniforms.shape[1])):
            if k not in untouched or (k, j) in tried or len(members[j]) + len(members[k]) < 2:
                continue
            tried.add((j, k))
            pool = united(members[j], members[k])
            n_trial = len(pool[::trial_step(len(pool))])
            starts = [seeded(uniforms[j, rank, i, 0], uniforms[j, rank, i, 1], n_trial)
                      for i in range(uniforms.shape[2])]
            if divide(partition, [j, k], pool, starts):
                untouched -= {j, k}
                exchanges += 1
                break
    if exchanges:
        partition.tidy_slots()
    return exchanges


cdef united(const Py_ssize_t[::1] first, const Py_ssize_t[::1] second):
    """Two ascending sequences without common values as one."""
    cdef Py_ssize_t i, m = 0, n = 0
    both = index_array(first.shape[0] + second.shape[0])
    cdef Py_ssize_t[::1] out = both
    for i in range(out.shape[0]):
        if n == second.shape[0] or (m < first.shape[0] and first[m] < second[n]):
            out[i] = first[m]
            m += 1
        else:
            out[i] = second[n]
            n += 1
    return both


cdef int check_uniforms(Partition partition, Py_ssize_t n, Py_ssize_t n_seeds) except -1:
    if n != partition.component.n_slots:
        raise ValueError(
            f"uniforms must be given for {partition.component.n_slots} slots, got {n}")
    if n_seeds != 2:
        raise ValueError(f"uniforms must come in pairs, got {n_seeds} together")
    return 0


cdef seeded(double u, double v, Py_ssize_t n):
    """Labels with two random rows in clusters 0 and 1 and the others unplaced."""
    labels = index_array(n)
    cdef Py_ssize_t[::1] label = labels
    first, second = two_of(n, u, v)
    label[:] = UNPLACED
    label[first], label[second] = 0, 1
    return labels


cdef atypical(Partition partition, const Py_ssize_t[::1] members):
    """Labels with the least typical rows of a cluster in cluster 1, one for each part."""
    cdef Py_ssize_t i, n = members.shape[0]
    scores = array("d", bytes(8 * n))
    cdef double[::1] typical = scores
    cdef double cut
    cdef Py_ssize_t[::1] label
    for i in range(n):
        typical[i] = -partition.stay_cost(members[i])
    ranked = sorted(scores)
    starts = []
    for part in ATYPICAL_PARTS:
        cut = ranked[int(part * n)] + TIE
        labels = index_array(n)
        label = labels
        for i in range(n):
            label[i] = typical[i] <= cut
        starts.append(labels)
    return starts
