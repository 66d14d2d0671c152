"""Kernel of division.py: the rows of some clusters divided anew, by threads or by one."""

from array import array

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy

from dpmlite.core._constants cimport (
    MAX_SETTLE_SWEEPS, MAX_SWEEPS_TO_GOAL, MAX_THOROUGH_ROWS, MAX_TRIAL_STEP, MIN_TRIAL_POWER,
    MIN_TRIAL_ROWS, TIE, TRIAL_ROWS, UNPLACED)
from dpmlite.core._memory cimport index_array
from dpmlite.partition._crp cimport log_prob_counts_c
from dpmlite.sweeps._map_dpm cimport sweep_once

from dpmlite.core.threads import on_threads, thread_limit
from dpmlite.moves._merges import merge_change
from dpmlite.sweeps._assignment import assign

cdef enum:
    BATCH_PER_THREAD = 32       # slots or pools whose divisions are found before any is adopted
    MIN_LISTED_ROWS = 131072    # rows from which on a second thread shares their listing
    MIN_SWEEP_CELLS = 10000000  # rows * columns * slots of a sweep after which Ctrl-C is asked for

cdef struct Trial:  # see _Trial of division.py
    Py_ssize_t step
    double joint
    Py_ssize_t n_clusters
    double blank
    double relative_power


cpdef Partition divided(Partition partition, slots, members, starts, Py_ssize_t step=0):
    step = step if step > 0 else trial_step(len(members), False, partition.component.power)
    cdef Partition division = trial_division(partition, slots, members, starts, step)
    return None if division is None else division_of_all(partition, slots, members, division, step)


cpdef Partition trial_division(Partition partition, slots, members, starts, Py_ssize_t step):
    cdef Trial trial = Trial(step, 0.0, len(slots), 0.0, 1.0)
    chosen = members[::trial.step] if trial.step > 1 else members
    cdef Partition division = fill_trial(&trial, partition, slots, chosen)
    return best_division(&trial, division, partition.group_labels_in(slots), starts)


cpdef Partition division_of_all(Partition partition, slots, members, Partition division,
                                Py_ssize_t step):
    cdef double present = joint_of(partition, slots)
    if step > 1:
        labels = joined(partition, members, division, step)
        division = swept(partition, slots, members, labels, present, present)
    return division if division.neg_log_joint - present < -partition.least_gain else None


cpdef adopt(Partition partition, slots, members, Partition division):
    change = division.neg_log_joint - joint_of(partition, slots)
    partition.replace(slots, members, division, change)


cpdef Py_ssize_t trial_step(Py_ssize_t n, bint thorough=False, double power=1.0):
    cdef Py_ssize_t step = 1
    if thorough:
        while step * MAX_THOROUGH_ROWS < n:
            step *= 2
    else:
        step = min((n + TRIAL_ROWS - 1) // TRIAL_ROWS, MAX_TRIAL_STEP)
    if power == 1.0:
        return step
    return max(step, min(<Py_ssize_t> (MIN_TRIAL_POWER / power), n // MIN_TRIAL_ROWS))


cdef batches(Partition partition, items):
    """The items in lists, between which divisions are adopted: threads only read a partition.

    With a discount each division depends on the number of clusters, which one before may change.
    """
    cdef Py_ssize_t i, size = 1, n_threads = thread_limit()
    if n_threads > 1 and partition.discount == 0.0:
        size = BATCH_PER_THREAD * n_threads
    return [items[i:i + size] for i in range(0, len(items), size)]


def member_lists(Partition partition, slots):
    cdef Py_ssize_t half = partition.n_rows // 2
    lists = {k: index_array(partition.n_members(k)) for k in slots}

    def fill(bint is_end):
        fill_lists(partition, lists, partition.n_rows - half if is_end else half, is_end)

    if lists and partition.n_rows >= MIN_LISTED_ROWS and thread_limit() > 1:
        on_threads(fill, (False, True))
    elif lists:
        fill_lists(partition, lists, partition.n_rows, False)
    return lists


cdef int fill_lists(Partition partition, lists, Py_ssize_t n, bint is_end) except -1:
    """Write the first n rows to the lists of their slots; or the last n, from the lists' ends."""
    cdef Py_ssize_t i, k, row, n_rows = partition.n_rows
    cdef Py_ssize_t n_slots = partition.component.n_slots - UNPLACED
    cdef Py_ssize_t[::1] members
    # The address of each slot's next row, and the step to the one after it. Rows of other slots go
    # nowhere: a branch would be mispredicted too often.
    cdef Py_ssize_t[::1] goes = index_array(n_slots), step = index_array(n_slots)
    cdef Py_ssize_t[::1] nowhere = index_array(n_slots)
    for k in range(n_slots):
        goes[k] = <Py_ssize_t> &nowhere[k]
    for k in lists:
        members = lists[k]
        if members.shape[0] > 0:
            goes[k - UNPLACED] = <Py_ssize_t> &members[members.shape[0] - 1 if is_end else 0]
            step[k - UNPLACED] = (-1 if is_end else 1) * <Py_ssize_t> sizeof(Py_ssize_t)
    with nogil:
        for i in range(n):
            row = n_rows - 1 - i if is_end else i
            k = partition.label[row] - UNPLACED
            (<Py_ssize_t *> goes[k])[0] = row
            goes[k] += step[k]
    return 0


cpdef members_of(Partition partition, slots):
    cdef Py_ssize_t i = 0, k, n = 0, found = 0
    cdef Py_ssize_t[::1] chosen = index_array(partition.component.n_slots - UNPLACED)
    for k in slots:
        partition.component._check_slot(k)
        n += partition.n_members(k) if not chosen[k - UNPLACED] else 0
        chosen[k - UNPLACED] = 1
    members = index_array(n)
    cdef Py_ssize_t[::1] member = members
    with nogil:
        while found < n:
            member[found] = i
            found += chosen[partition.label[i] - UNPLACED]
            i += 1
    return members


cpdef double joint_of(Partition partition, slots) except? -1.0:
    cdef Py_ssize_t k
    for k in slots:
        partition.component._check_slot(k)
    cdef double[::1] counts = array("d", [partition.component.n[k] for k in slots])
    cdef double power = partition.component.power
    cdef double total = -log_prob_counts_c(
        &counts[0], counts.shape[0], partition.alpha_beside(len(slots)), power,
        partition.discount) / power
    for k in slots:
        total -= partition.component.marginal(k)
    return total


cdef Partition fill_trial(Trial *trial, Partition partition, slots,
                          const Py_ssize_t[::1] chosen):
    """Fill in what divisions of the chosen rows are compared with; returns a partition of them."""
    cdef Py_ssize_t i, n = chosen.shape[0], slot = slots[0]
    cdef Py_ssize_t[::1] now = index_array(n), dealt
    if trial.step == 1:
        trial.joint = joint_of(partition, slots)
        now[:] = UNPLACED
        return partition.part(chosen, now, slots)
    for i in range(n if len(slots) > 1 else 0):
        now[i] = partition.label[chosen[i]] != slot
    cdef Partition present = partition.part(chosen, now, slots, trial.step)
    if len(slots) > 1:
        # Rows of a trial may move even without a new division, which must not count as its gain.
        with nogil:
            settle(present, INFINITY, INFINITY)
    trial.joint, trial.n_clusters = present.neg_log_joint, present.n_clusters
    dealt = index_array(n)
    for i in range(n):
        dealt[i] = i % 2
    trial.blank = max(
        -merge_change(partition.part(chosen, dealt, step=trial.step), 0, 1), 0.0)
    trial.relative_power = present.component.power / partition.component.power
    return present


cdef Partition best_division(const Trial *trial, Partition division,
                             const Py_ssize_t[::1] group_labels, starts):
    """The best division that the starts lead to; None if none lowers the joint.

    One partition takes the labels of each start in turn, without the interpreter's lock.
    """
    PyErr_CheckSignals()
    cdef Py_ssize_t i, n_starts = len(starts), n_rows = division.n_rows
    cdef Py_ssize_t[::1] address = index_array(n_starts), found = index_array(n_rows)
    cdef Py_ssize_t[::1] found_groups = index_array(len(group_labels))
    cdef const Py_ssize_t[::1] labels
    cdef double change, least = 0.0
    cdef double goal = trial.joint + (1.0 - trial.relative_power / trial.step) * trial.blank
    for i in range(n_starts):
        labels = starts[i]
        if labels.shape[0] != n_rows:
            raise ValueError(f"labels must have {n_rows} values, got {labels.shape[0]}")
        address[i] = <Py_ssize_t> &labels[0]
    with nogil:
        for i in range(n_starts):
            division.relabel(<const Py_ssize_t *> address[i], group_labels)
            settle(division, trial.joint, goal)
            change = change_by(trial, division)
            if change < least - TIE:
                least = change
                memcpy(&found[0], &division.label[0], n_rows * sizeof(Py_ssize_t))
                found_groups[:] = division.group_label
        if least < 0.0:
            division.relabel(&found[0], found_groups)
    return division if least < 0.0 else None


cdef double change_by(const Trial *trial, Partition division) noexcept nogil:
    """The change of the joint of all rows, estimated from every step-th."""
    if trial.step == 1:
        return division.neg_log_joint - trial.joint
    cdef double cost = (division.count_clusters() - trial.n_clusters) * trial.blank
    cdef double gain = division.neg_log_joint - trial.joint - cost
    return trial.step * gain + trial.relative_power * cost


cdef Partition swept(Partition partition, slots, members, labels, double present, double goal):
    """A partition of some rows after sweeps from a start."""
    PyErr_CheckSignals()
    cdef Partition division = partition.part(members, labels, slots)
    with nogil:
        settle(division, present, goal)
    return division


cdef int settle(Partition division, double present, double goal) except -1 nogil:
    """Sweep until no row moves, the joint is back at `present`, or it will not reach `goal`."""
    cdef double before = division.neg_log_joint, now
    cdef Py_ssize_t i
    for i in range(MAX_SETTLE_SWEEPS):
        check_signals_after(
            division.n_rows * division.component.n_columns * division.component.n_slots)
        if sweep_once(division) == 0:
            break
        now = division.neg_log_joint
        if fabs(now - present) <= division.least_gain:
            break  # the division has come back to the present labels
        # The joint rises while rows without a label join.
        if now <= before and now - MAX_SWEEPS_TO_GOAL * (before - now) > goal:
            break
        before = now
    return 0


cdef int check_signals_after(Py_ssize_t n_cells) except -1 nogil:
    """Raise KeyboardInterrupt after Ctrl-C. Short sweeps do not ask: that takes the lock."""
    if n_cells >= MIN_SWEEP_CELLS:
        with gil:
            PyErr_CheckSignals()
    return 0


cdef joined(Partition partition, members, Partition division, Py_ssize_t step):
    """Labels of all members: those of the trial, and for others the most probable cluster."""
    labels = index_array(len(members))
    assign(partition.X, division.component, division.alpha, labels,
           partition.rows_of(members), division.discount)
    labels[::step] = division.labels
    return labels
