"""Kernel of exchanges.py: two neighbouring clusters pooled and divided anew."""

from libc.math cimport fabs

from dpmlite.core._constants cimport MAX_PROBE_GAP, POOL_PROBES
from dpmlite.core._memory cimport index_array
from dpmlite.core._rows cimport Row
from dpmlite.moves._division cimport adopt, batches, divided, trial_step
from dpmlite.moves._seeds cimport check_n_slots, check_pairs, nearest_seed_labels
from dpmlite.moves._split_memory cimport SplitMemory, split_memory_of
from dpmlite.partition._partition cimport Partition

from dpmlite.core.threads import on_threads
from dpmlite.moves._division import member_lists
from dpmlite.moves._merges import nearest


def exchange(Partition partition, const double[:, :, :, ::1] uniforms):
    check_n_slots(partition, uniforms.shape[0])
    check_pairs(uniforms.shape[3])
    pools, divided_slots = pools_of(partition, uniforms.shape[1]), set()
    lists = member_lists(partition, {slot for j, k, _ in pools for slot in (j, k)})
    pools = [(j, k, rank) for j, k, rank in pools if are_near(partition, j, k, lists[j], lists[k])]

    def division_of_pool(pool):
        cdef Py_ssize_t j, k, rank
        j, k, rank = pool
        if j in divided_slots or k in divided_slots:
            return None
        return pool_division(partition, [j, k], united(lists[j], lists[k]), uniforms[j, rank])

    for batch in batches(partition, pools):
        for (j, k, _), division in zip(batch, on_threads(division_of_pool, batch)):
            if division is not None and j not in divided_slots and k not in divided_slots:
                adopt(partition, [j, k], united(lists[j], lists[k]), division)
                divided_slots.update((j, k))
    if divided_slots:
        partition.tidy_slots()
    return len(divided_slots) // 2


cdef list pools_of(Partition partition, Py_ssize_t n_nearest):
    """Pairs of neighbouring slots, every pair once: j, k, and the rank of k among j's neighbours."""
    cdef SplitMemory memory = split_memory_of(partition)
    cdef Py_ssize_t j, k
    pools = {}
    for j, neighbours in nearest(partition, n_nearest).items():
        for rank, k in enumerate(neighbours):
            if ((k, j) not in pools and not (memory.normal[j] and memory.normal[k])
                    and partition.n_members(j) + partition.n_members(k) >= 2):
                pools[j, k] = rank
    return [(j, k, rank) for (j, k), rank in pools.items()]


cdef bint are_near(Partition partition, Py_ssize_t j, Py_ssize_t k, const Py_ssize_t[::1] in_j,
                   const Py_ssize_t[::1] in_k) except -1:
    """Whether the pool of two slots is small, or a probed row costs about the same in both."""
    cdef Py_ssize_t step = (in_j.shape[0] + in_k.shape[0]) // POOL_PROBES
    return (step <= 1 or one_hesitates(partition, in_j[::step], k)
            or one_hesitates(partition, in_k[::step], j))


cdef bint one_hesitates(Partition partition, const Py_ssize_t[:] members,
                        Py_ssize_t other) except -1:
    """Whether it costs one of the members about the same to be in the other slot."""
    cdef Py_ssize_t m
    cdef Row row
    for m in range(members.shape[0]):
        row = partition.row(members[m])
        if fabs(partition.any_cost_in(&row, other)
                - partition.stay_cost(members[m])) < MAX_PROBE_GAP:
            return True
    return False


cdef Partition pool_division(Partition partition, slots, members, const double[:, ::1] uniforms):
    """The best division of the members of two slots; None if none lowers the joint."""
    cdef Py_ssize_t i, step = trial_step(len(members), False, partition.component.power)
    trial = members[::step]
    starts = [nearest_seed_labels(partition, trial, uniforms[i, 0], uniforms[i, 1])
              for i in range(uniforms.shape[0])]
    return divided(partition, slots, members, starts, step)


cdef united(const Py_ssize_t[::1] first, const Py_ssize_t[::1] second):
    """The union of two ascending sequences that have no value in common, ascending."""
    cdef Py_ssize_t i, m = 0, n = 0
    both = index_array(first.shape[0] + second.shape[0])
    cdef Py_ssize_t[::1] out = both
    with nogil:
        for i in range(out.shape[0]):
            if n == second.shape[0] or (m < first.shape[0] and first[m] < second[n]):
                out[i] = first[m]
                m += 1
            else:
                out[i] = second[n]
                n += 1
    return both
