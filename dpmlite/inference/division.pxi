"""Kernel of division.py: the rows of some clusters divided anew."""

cdef enum:
    TRIAL_ROWS = 1000
    LARGEST_STEP = 16
    THOROUGH_ROWS = 50_000
    MANY_LISTED = 131072  # rows that are worth to wake a thread for

cdef extern from *:
    """
    #define DPM_HOPE 4.0
    """
    double HOPE "DPM_HOPE"

cdef enum:
    SETTLE_SWEEPS = 10
    DEAF_CELLS = 10000000  # times slots, of a sweep after which Ctrl-C is asked for

cdef struct Trial:
    Py_ssize_t step
    double joint
    Py_ssize_t n_clusters
    double blank


cpdef Partition divided(Partition partition, slots, members, starts, Py_ssize_t step=0):
    step = step if step > 0 else trial_step(len(members))
    cdef Partition division = trial_division(partition, slots, members, starts, step)
    return None if division is None else division_of_all(partition, slots, members, division, step)


cpdef Partition trial_division(Partition partition, slots, members, starts, Py_ssize_t step):
    cdef Trial trial = Trial(step, 0.0, len(slots), 0.0)
    chosen = members[::trial.step] if trial.step > 1 else members
    cdef Partition division = judge_by(&trial, partition, slots, chosen)
    return best_division(&trial, division, partition.homes_in(slots), starts)


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


cpdef Py_ssize_t trial_step(Py_ssize_t n, bint thorough=False):
    cdef Py_ssize_t step = 1
    if thorough:
        while step * THOROUGH_ROWS < n:
            step *= 2
        return step
    return min((n + TRIAL_ROWS - 1) // TRIAL_ROWS, <Py_ssize_t> LARGEST_STEP)


def member_lists(Partition partition, slots, Py_ssize_t n_threads=1):
    cdef Py_ssize_t half = partition.n_rows // 2
    lists = {k: index_array(partition.n_members(k), False) for k in slots}

    def fill(bint is_end):
        fill_lists(partition, lists, partition.n_rows - half if is_end else half, is_end)

    if lists and n_threads > 1 and partition.n_rows >= MANY_LISTED:
        on_threads(fill, (False, True), n_threads)
    elif lists:
        fill_lists(partition, lists, partition.n_rows, False)
    return lists


cdef int fill_lists(Partition partition, lists, Py_ssize_t n, bint is_end) except -1:
    """The first n rows, from the start of the lists; or the last, from the end."""
    cdef Py_ssize_t i, k, row, n_rows = partition.n_rows
    cdef Py_ssize_t n_slots = partition.component.n_slots - UNPLACED
    cdef Py_ssize_t[::1] members
    # Where each slot's next row goes, and how far on the one after it: without a branch, for whether
    # a row is in one of some slots cannot be foreseen.
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
    members = index_array(n, False)
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
    cdef double total = -log_prob_counts_c(&counts[0], counts.shape[0], partition.alpha)
    for k in slots:
        total -= partition.component.marginal(k)
    return total


cpdef two_of(Py_ssize_t n, double u, double v):
    if n < 2:
        raise ValueError(f"n must be at least 2, got {n}")
    if not (0.0 <= u < 1.0 and 0.0 <= v < 1.0):
        raise ValueError(f"uniforms must be in [0, 1), got {u} and {v}")
    cdef Py_ssize_t first = <Py_ssize_t> (u * n), second = <Py_ssize_t> (v * (n - 1))
    return first, second + (second >= first)


cdef Partition judge_by(Trial *trial, Partition partition, slots,
                        const Py_ssize_t[::1] chosen):
    """Fill in what the chosen rows say; returns some partition of them."""
    cdef Py_ssize_t i, n = chosen.shape[0], slot = slots[0]
    cdef Py_ssize_t[::1] now = index_array(n), dealt
    if trial.step == 1:
        trial.joint = joint_of(partition, slots)
        now[:] = UNPLACED
        return partition.part(chosen, now, slots)
    for i in range(n if len(slots) > 1 else 0):
        now[i] = partition.label[chosen[i]] != slot
    cdef Partition present = partition.part(chosen, now, slots)
    if len(slots) > 1:
        # The few would move on by themselves; what they gain by that is not the division's.
        with nogil:
            settle(present, INFINITY, INFINITY)
    trial.joint, trial.n_clusters = present.neg_log_joint, present.n_clusters
    dealt = index_array(n)
    for i in range(n):
        dealt[i] = i % 2
    trial.blank = max(-merge_change(partition.part(chosen, dealt), 0, 1), 0.0)
    return present


cdef Partition best_division(const Trial *trial, Partition division, const Py_ssize_t[::1] homes,
                             starts):
    """The best that comes of the starts; None if none is better than what there is.

    One partition is each of them in turn, so that threads hardly wait for the interpreter's lock.
    """
    PyErr_CheckSignals()
    cdef Py_ssize_t i, k, n_starts = len(starts), n_rows = division.n_rows
    cdef Py_ssize_t[::1] address = index_array(n_starts), found = index_array(n_rows)
    cdef Py_ssize_t[::1] found_homes = index_array(len(homes))
    cdef Py_ssize_t[::1] touched = index_array(n_rows + len(homes) + 1)
    cdef const Py_ssize_t[::1] labels
    cdef double change, least = 0.0, goal = trial.joint + (1.0 - 1.0 / trial.step) * trial.blank
    for i in range(n_starts):
        labels = starts[i]
        if labels.shape[0] != n_rows:
            raise ValueError(f"labels must have {n_rows} values, got {labels.shape[0]}")
        address[i] = <Py_ssize_t> &labels[0]
    with nogil:
        for i in range(n_starts):
            division.relabel(<const Py_ssize_t *> address[i], homes)
            settle(division, trial.joint, goal)
            change = change_by(trial, division)
            if change < least - TIE:
                least = change
                memcpy(&found[0], &division.label[0], n_rows * sizeof(Py_ssize_t))
                found_homes[:] = division.home
                for k in range(division.component.n_slots):
                    touched[k] = division.n_changed[k]
        if least < 0.0:
            division.relabel(&found[0], found_homes)
            for k in range(division.component.n_slots):
                division.n_changed[k] = touched[k]
    return division if least < 0.0 else None


cdef double change_by(const Trial *trial, Partition division) noexcept nogil:
    if trial.step == 1:
        return division.neg_log_joint - trial.joint
    cdef double cost = (division.count_clusters() - trial.n_clusters) * trial.blank
    return trial.step * (division.neg_log_joint - trial.joint - cost) + cost


cdef Partition swept(Partition partition, slots, members, labels, double present, double goal):
    PyErr_CheckSignals()
    cdef Partition division = partition.part(members, labels, slots)
    with nogil:
        settle(division, present, goal)
    return division


cdef int settle(Partition division, double present, double goal) except -1 nogil:
    cdef double before = division.neg_log_joint, now
    cdef int i
    for i in range(SETTLE_SWEEPS):
        listen_after(division.n_rows * division.component.n_columns * division.component.n_slots)
        if sweep_once(division) == 0:
            break
        now = division.neg_log_joint
        if fabs(now - present) <= division.least_gain:
            break  # it has come back to what there was
        # Rows that had no label yet raised the joint by what they are.
        if now <= before and now - HOPE * (before - now) > goal:
            break
        before = now
    return 0


cdef int listen_after(Py_ssize_t cells) except -1 nogil:
    """Ctrl-C stops here. Not after so little work that threads would only wait for each other."""
    if cells >= DEAF_CELLS:
        with gil:
            PyErr_CheckSignals()
    return 0


cdef joined(Partition partition, members, Partition division, Py_ssize_t step):
    """Labels of all members from a division of every `step`-th, whose clusters the others join."""
    labels = index_array(len(members))
    assign(partition.X, division.component, partition.alpha, labels,
           rows=partition.rows_of(members))
    labels[::step] = division.labels
    return labels
