"""Kernel of splits.py: the rows of one cluster divided anew."""

from array import array

from dpmlite.core._constants cimport (
    JOINING_PROBE_STEP, MAX_FOUNDING_FRACTION, MIN_CHANGED_FRACTION, MIN_JOINING_PROBES,
    MIN_THOROUGH_FRACTION, TIE, UNPLACED)
from dpmlite.core._memory cimport double_array, index_array
from dpmlite.core._quickselect cimport find_rank
from dpmlite.core._rows cimport Row
from dpmlite.moves._division cimport adopt, batches, division_of_all, trial_division, trial_step
from dpmlite.moves._runs cimport best_runs
from dpmlite.moves._seeds cimport check_n_slots, check_pairs, lone_seed_labels, nearest_seed_labels
from dpmlite.moves._split_memory cimport SplitMemory, split_memory_of
from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._map_dpm cimport sweep_once

from dpmlite.core import constants as _constants
from dpmlite.core.threads import on_threads
from dpmlite.moves._division import member_lists
from dpmlite.moves._normality import look_normal

cdef double[::1] ATYPICAL_FRACTIONS = array("d", _constants.ATYPICAL_FRACTIONS)


def split(Partition partition, const double[:, :, ::1] uniforms,
          bint thorough=False):
    check_n_slots(partition, uniforms.shape[0])
    check_pairs(uniforms.shape[2])
    cdef Py_ssize_t k, n_splits = 0
    cdef SplitMemory memory = split_memory_of(partition)
    slots = [k for k in range(partition.component.n_slots) if has_changed(partition, memory, k)]
    if not thorough:
        slots = not_normal(partition, slots)
    lists = member_lists(partition, slots)

    def division_of_slot(Py_ssize_t slot):
        return slot_division(partition, slot, lists[slot], uniforms[slot], thorough, False)

    for batch in batches(partition, slots):
        # The largest first, so that no thread begins with it when the others have finished.
        largest_first = sorted(batch, key=lambda slot: -len(lists[slot]))
        divisions = dict(zip(largest_first, on_threads(division_of_slot, largest_first)))
        for k in batch:
            n_splits += adopt_or_mark(partition, k, lists.pop(k), divisions[k])
    if n_splits:
        partition.tidy_slots()
    return n_splits


cdef bint has_changed(Partition partition, SplitMemory memory, Py_ssize_t k) except -1:
    """Whether enough of a slot's rows have come or gone since it was last tried."""
    cdef Py_ssize_t n = partition.n_members(k)
    return n > 1 and memory.changed[k] > MIN_CHANGED_FRACTION * n


cdef list not_normal(Partition partition, slots):
    """The slots that do not look normal; the others are marked as normal."""
    cdef Py_ssize_t k
    others = []
    for k, normal in zip(slots, look_normal(partition, slots)):
        if normal:
            split_memory_of(partition).mark(k, 0, True)
        else:
            others.append(k)
    return others


cdef bint adopt_or_mark(Partition partition, Py_ssize_t k, members, Partition division) except -1:
    """Adopt the division of a slot, if there is one; else mark the slot as tried."""
    if division is None:
        split_memory_of(partition).mark(k, 0, False)
        return False
    adopt(partition, [k], members, division)
    return True


cdef Partition slot_division(Partition partition, Py_ssize_t k, members,
                             const double[:, ::1] uniforms, bint thorough, bint is_part):
    """The best division of a slot's members; None if none lowers the joint."""
    cdef bint on_more_rows = thorough and len(members) > MIN_THOROUGH_FRACTION * partition.n_rows
    cdef Py_ssize_t step = trial_step(len(members), on_more_rows, partition.component.power)
    cdef Partition division = None
    trial = members[::step]
    runs = best_runs(partition, trial, step) if thorough else None
    if runs is not None:
        division = division_from([runs], partition, k, members, step, uniforms, is_part)
    if division is None:
        starts = starts_of(partition, trial, step, uniforms, on_more_rows)
        division = division_from(starts, partition, k, members, step, uniforms, is_part)
    return division


cdef list starts_of(Partition partition, trial, Py_ssize_t step, const double[:, ::1] uniforms,
                    bint only_lone_seeds):
    """Labels of a slot's rows from which their divisions start."""
    cdef Py_ssize_t i
    if only_lone_seeds and rows_found_clusters(partition, trial, step):
        return []
    lone = [lone_seed_labels(len(trial), uniforms[i, 0], uniforms[i, 1])
            for i in range(uniforms.shape[0])]
    if only_lone_seeds:
        return lone
    nearest = [nearest_seed_labels(partition, trial, uniforms[i, 0], uniforms[i, 1])
               for i in range(uniforms.shape[0])]
    return nearest + lone + atypical_labels(partition, trial)


cdef bint rows_found_clusters(Partition partition, trial, Py_ssize_t step) except -1:
    """Whether rows of a trial that join one by one would found a cluster each, nearly all."""
    probes = trial[::JOINING_PROBE_STEP]
    if len(probes) < MIN_JOINING_PROBES:
        return False
    cdef Py_ssize_t[::1] label = index_array(len(probes))
    label[:] = UNPLACED
    cdef Partition joining = partition.part(probes, label, (), step)
    with nogil:
        sweep_once(joining)
    return joining.n_clusters > MAX_FOUNDING_FRACTION * len(probes)


cdef list atypical_labels(Partition partition, const Py_ssize_t[::1] members):
    """Labels with the least typical rows of a slot in cluster 1, for each of some fractions."""
    cdef Py_ssize_t i, j, n = members.shape[0], n_fractions = ATYPICAL_FRACTIONS.shape[0]
    cdef double[::1] typical = double_array(n), ranked = double_array(n)
    cdef double[::1] cut = double_array(n_fractions), room = partition.room_of_a_row()
    cdef Py_ssize_t[::1] label
    with nogil:
        find_typicality(partition, members, &room[0], typical)
        ranked[:] = typical
        for j in range(n_fractions):
            cut[j] = TIE + find_rank(&ranked[0], n, <Py_ssize_t> (ATYPICAL_FRACTIONS[j] * n))
    starts = []
    for j in range(n_fractions):
        label = index_array(n)
        for i in range(n):
            label[i] = typical[i] <= cut[j]
        starts.append(label.base)
    return starts


cdef void find_typicality(Partition partition, const Py_ssize_t[::1] members, double *room,
                          double[::1] out) noexcept nogil:
    """Of each row, its score in its own cluster without itself."""
    cdef Py_ssize_t i
    cdef Row row
    partition.component.begin_turn()
    for i in range(members.shape[0]):
        partition.prefetch_after(members, i)
        row = partition.row_into(members[i], room)
        out[i] = partition.component.score_per_copy(
            -partition.shared_stay_cost(members[i], &row), &row)
    partition.component.end_turn()


cdef Partition division_from(starts, Partition partition, Py_ssize_t k, members, Py_ssize_t step,
                             const double[:, ::1] uniforms, bint is_part):
    """The best division that any of the starts leads to; None if none lowers the joint."""
    cdef Partition division = if_divided(trial_division(partition, [k], members, starts, step))
    if division is None:
        return None
    if is_part or step > 1:  # parts of a small cluster wait until rows have moved
        split_parts(division, uniforms)
    division = if_divided(division_of_all(partition, [k], members, division, step))
    if division is not None and step > 1:
        split_parts(division, uniforms)
    return division


cdef Partition if_divided(Partition division):
    """The division; None if it has one cluster, whose joint only rounding made lower."""
    return division if division is not None and division.n_clusters > 1 else None


cdef int split_parts(Partition division, const double[:, ::1] uniforms) except -1:
    """Try to split each part of a division."""
    cdef Py_ssize_t k
    slots = [k for k in range(division.component.n_slots) if division.n_members(k) > 1]
    slots = not_normal(division, slots)
    lists = member_lists(division, slots)
    for k in slots:
        members = lists.pop(k)
        adopt_or_mark(
            division, k, members, slot_division(division, k, members, uniforms, False, True))
    return 0
