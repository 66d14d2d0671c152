"""Kernel of split_merge.py: moves that divide clusters anew."""

cdef extern from *:
    """
    #define DPM_MUCH 0.01
    #define DPM_THOROUGH_PART 0.0625
    #define DPM_NEARLY_ALL 0.9
    #define DPM_HESITATING 0.02
    #define DPM_ABOUT 6.0
    static const double DPM_ATYPICAL_PARTS[2] = {0.5, 0.1};
    """
    double MUCH "DPM_MUCH"
    double THOROUGH_PART "DPM_THOROUGH_PART"
    double NEARLY_ALL "DPM_NEARLY_ALL"
    double HESITATING "DPM_HESITATING"
    double ABOUT "DPM_ABOUT"
    const double *ATYPICAL_PARTS "DPM_ATYPICAL_PARTS"

cdef enum:
    SPLIT_BATCH = 32  # proposals of a thread
    DESCENT_SEEDS = 128
    DESCENT_SWEEPS = 2
    FIRST_ASKED = 160
    RUNS_OF = 4
    MORE_ROWS = 2
    MOST_POOLED = 16_000
    N_PARTS = 2  # ATYPICAL_PARTS


def split(Partition partition, const double[:, :, ::1] uniforms, Py_ssize_t n_threads=1,
          bint thorough=False):
    check_split_uniforms(partition, uniforms.shape[0], uniforms.shape[2])
    check_n_threads(n_threads)
    cdef Py_ssize_t k, n, splits = 0
    slots = []
    for k in range(partition.component.n_slots):
        n = partition.n_members(k)
        if n > 1 and partition.n_changed[k] > MUCH * n:
            slots.append(k)
    if not thorough:
        slots = not_normal(partition, slots, n_threads)
    lists = member_lists(partition, slots, n_threads)

    def proposal(Py_ssize_t slot):
        return split_of(partition, slot, lists[slot], uniforms[slot], thorough, False)

    for some in batches(slots, n_threads):
        # The largest first, so that no thread begins with it when others have nothing left to do.
        largest_first = sorted(some, key=lambda slot: -len(lists[slot]))
        divisions = dict(zip(largest_first, on_threads(proposal, largest_first, n_threads)))
        for k in some:
            splits += adopt_if_any(partition, k, lists[k], divisions[k])
            lists[k] = None  # memory for the next
    if splits:
        partition.tidy_slots()
    return splits


cdef list not_normal(Partition partition, slots, Py_ssize_t n_threads):
    """Those that do not look normal; the others are marked."""
    cdef Py_ssize_t k
    others = []
    for k, normal in zip(slots, look_normal(partition, slots, n_threads)):
        if normal:
            partition.mark(k, 0, True)
        else:
            others.append(k)
    return others


cdef batches(items, Py_ssize_t n_threads):
    """Parts of the work whose results are taken over before the next: threads only read."""
    cdef Py_ssize_t i, size = 1 if n_threads == 1 else SPLIT_BATCH * n_threads
    return [items[i:i + size] for i in range(0, len(items), size)]


cdef bint adopt_if_any(Partition partition, Py_ssize_t k, members, Partition division) except -1:
    if division is None:
        partition.mark(k, 0, False)
        return False
    try_again(division)
    adopt(partition, [k], members, division)
    return True


cdef int try_again(Partition division) except -1:
    """What is left of a cluster that lost few rows counts as changed, unless it looks normal."""
    cdef Py_ssize_t k
    for k in range(division.component.n_slots):
        if division.n_members(k) > NEARLY_ALL * division.n_rows and not division.normal[k]:
            division.mark_changed(k)
    return 0


cdef Partition split_of(Partition partition, Py_ssize_t k, members, const double[:, ::1] uniforms,
                        bint thorough, bint in_turn):
    """What a slot is split into; None if it is better as it is."""
    cdef Py_ssize_t step, run_step
    cdef bint asks_runs = thorough
    thorough = thorough and len(members) > THOROUGH_PART * partition.n_rows
    step = trial_step(len(members), thorough)
    run_step = step // RUNS_OF if step % RUNS_OF == 0 else 1
    runs = best_runs(partition, members[::run_step]) if asks_runs else None
    cdef Partition division = None
    if runs is not None:
        division = division_from(partition, k, members, [runs[::step // run_step]], step, uniforms,
                                 in_turn)
    if division is None:
        starts = starts_of(partition, members[::step], uniforms, thorough)
        division = division_from(partition, k, members, starts, step, uniforms, in_turn)
    return division


cdef Partition division_from(Partition partition, Py_ssize_t k, members, starts, Py_ssize_t step,
                             const double[:, ::1] uniforms, bint in_turn):
    """What the best of some starts leads to; None if to no lower joint."""
    cdef Partition division = if_divided(trial_division(partition, [k], members, starts, step))
    if division is not None:
        if in_turn or step > 1:
            split_parts(division, uniforms)
        division = if_divided(division_of_all(partition, [k], members, division, step))
    if division is not None and step > 1:
        split_parts(division, uniforms)
    return division


cdef starts_of(Partition partition, trial, const double[:, ::1] uniforms, bint thorough):
    """Labels that a cluster's trial may begin with; of thorough ones, those that find several."""
    cdef Py_ssize_t i
    starts = []
    for i in range(uniforms.shape[0]):
        if not thorough:
            starts.append(cells(partition, trial, uniforms[i, 0], uniforms[i, 1]))
        starts.append(seeds(len(trial), uniforms[i, 0], uniforms[i, 1]))
        if len(trial) > TRIAL_ROWS:
            starts.append(descent(partition, trial, uniforms[i, 0]))
    return starts if thorough else starts + atypical(partition, trial)


cdef Partition if_divided(Partition division):
    """None if it is one cluster."""
    return division if division is not None and division.n_clusters > 1 else None


cdef int split_parts(Partition division, const double[:, ::1] uniforms) except -1:
    """Try to split what a slot was split into."""
    cdef Py_ssize_t k
    slots = [k for k in range(division.component.n_slots) if division.n_members(k) > 1]
    slots = not_normal(division, slots, 1)
    parts = member_lists(division, slots)
    for k in slots:
        part = parts.pop(k)  # memory for the next
        adopt_if_any(division, k, part, split_of(division, k, part, uniforms, False, True))
    return 0


def exchange(Partition partition, const double[:, :, :, ::1] uniforms, Py_ssize_t n_threads=1,
             bint thorough=False):
    check_split_uniforms(partition, uniforms.shape[0], uniforms.shape[3])
    check_n_threads(n_threads)
    cdef Py_ssize_t exchanges = 0
    pairs, touched = pools(partition, uniforms.shape[1], thorough), set()
    in_pairs = {slot for j, k, _ in pairs for slot in (j, k)}
    lists = member_lists(partition, in_pairs, n_threads)

    def proposal(pair):
        cdef Py_ssize_t j, k, rank
        j, k, rank = pair
        if j in touched or k in touched or not hesitate(partition, lists[j], lists[k], j, k):
            return None
        members = united(lists[j], lists[k])
        return exchange_of(
            partition, [j, k], members, uniforms[j, rank], pool_step(len(members), thorough))

    for some in batches(pairs, n_threads):
        for (j, k, _), division in zip(some, on_threads(proposal, some, n_threads)):
            if division is not None and j not in touched and k not in touched:
                adopt(partition, [j, k], united(lists[j], lists[k]), division)
                touched.update((j, k))
                exchanges += 1
    if exchanges:
        partition.tidy_slots()
    return exchanges


cdef pools(Partition partition, Py_ssize_t n_nearest, bint thorough):
    """Pairs of slots that are near each other, every pair once: j, k, and the rank of k.

    Without those that both look normal, and those that there is nothing to find in.
    """
    cdef Py_ssize_t j, k, n
    pairs = {}
    for j, others in nearest(partition, n_nearest).items():
        for rank, k in enumerate(others):
            n = partition.n_members(j) + partition.n_members(k)
            if ((k, j) not in pairs and not (partition.normal[j] and partition.normal[k])
                    and n >= 2 and not (thorough and pool_step(n, thorough) == trial_step(n))):
                pairs[j, k] = rank
    return [(j, k, rank) for (j, k), rank in pairs.items()]


cdef Partition exchange_of(Partition partition, slots, members, const double[:, ::1] uniforms,
                           Py_ssize_t step):
    cdef Py_ssize_t i
    trial = members[::step]
    starts = [cells(partition, trial, uniforms[i, 0], uniforms[i, 1])
              for i in range(uniforms.shape[0])]
    return divided(partition, slots, members, starts, step)


cdef Py_ssize_t pool_step(Py_ssize_t n, bint thorough) except -1:
    return trial_step((n + MORE_ROWS - 1) // MORE_ROWS if thorough and n <= MOST_POOLED else n)


cdef bint hesitate(Partition partition, first, second, Py_ssize_t j, Py_ssize_t k) except -1:
    """Whether enough rows do between two slots with these rows; some tell."""
    cdef Py_ssize_t n = len(first) + len(second)
    cdef Py_ssize_t few = n // FIRST_ASKED, most = trial_step(n)
    if few > most and part_hesitating(partition, first, second, j, k, few) == 0.0:
        return False
    return part_hesitating(partition, first, second, j, k, most) >= HESITATING


cdef double part_hesitating(Partition partition, first, second, Py_ssize_t j, Py_ssize_t k,
                            Py_ssize_t step) except -1.0:
    """The part of every `step`-th row of two slots that hesitates."""
    some = first[::step] + second[::step]
    return <double> n_indifferent(partition, some, j, k, ABOUT) / len(some)


def n_indifferent(Partition partition, const Py_ssize_t[::1] members, Py_ssize_t j, Py_ssize_t k,
                  double within):
    partition.component._check_slot(j)
    partition.component._check_slot(k)
    cdef double[::1] room = partition.room_of_a_row()
    cdef Py_ssize_t i, m, other, total = 0
    cdef double stay
    cdef Row row
    with nogil:
        for m in range(members.shape[0]):
            partition.check_row(members[m])
        partition.component.begin_turn()
        for m in range(members.shape[0]):
            i = members[m]
            partition.prefetch_after(members, m)
            row = partition.row_into(i, &room[0])
            other = k if partition.label[i] == j else j
            stay = partition.shared_stay_cost(i, &row)
            total += fabs(partition.any_cost_in(&row, other) - stay) < within
        partition.component.end_turn()
    return total


cdef united(const Py_ssize_t[::1] first, const Py_ssize_t[::1] second):
    """Two ascending sequences without common values as one."""
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


cdef int check_split_uniforms(Partition partition, Py_ssize_t n, Py_ssize_t n_seeds) except -1:
    if n != partition.component.n_slots:
        raise ValueError(
            f"uniforms must be given for {partition.component.n_slots} slots, got {n}")
    if n_seeds != 2:
        raise ValueError(f"uniforms must come in pairs, got {n_seeds} together")
    return 0


cdef cells(Partition partition, const Py_ssize_t[::1] members, double u, double v):
    """Labels with two rows apart in clusters 0 and 1, the others with what predicts them better."""
    cdef Py_ssize_t i, first, second, n = members.shape[0]
    cdef double[::1] one = double_array(n), other = double_array(n)
    cdef double[::1] room = partition.room_of_a_row()  # threads ask this of the same partition
    cdef Component alone = partition.component.like()
    cdef Py_ssize_t[::1] labels = index_array(n)
    first, second = two_of(n, u, v)
    with nogil:
        partition.score_with(members[first], members, alone, &room[0], one)
        second = one_apart(partition, members, one, first, v, second)
        partition.score_with(members[second], members, alone, &room[0], other)
        for i in range(n):
            labels[i] = other[i] > one[i] + TIE
        labels[first], labels[second] = 0, 1
    return labels.base


cdef Py_ssize_t one_apart(Partition partition, const Py_ssize_t[::1] members,
                          const double[::1] scores, Py_ssize_t first, double v,
                          Py_ssize_t if_none) noexcept nogil:
    """A row that `v` chooses, each with the chance of what it is predicted worse than the best."""
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


cdef seeds(Py_ssize_t n, double u, double v):
    """Labels with two random rows in clusters 0 and 1, which the others are to join one by one."""
    labels = index_array(n)
    cdef Py_ssize_t[::1] label = labels
    first, second = two_of(n, u, v)
    label[:] = UNPLACED
    label[first], label[second] = 0, 1
    return labels


cdef descent(Partition partition, const Py_ssize_t[::1] members, double u):
    """Labels that a short descent ends with, from the cells around some rows, evenly spread."""
    cdef Py_ssize_t i, n = members.shape[0]
    cdef Py_ssize_t[::1] labels = index_array(n), chosen = index_array(DESCENT_SEEDS)
    cdef Py_ssize_t[DESCENT_SEEDS] seed
    for i in range(DESCENT_SEEDS):
        seed[i] = <Py_ssize_t> ((u + <double> i / DESCENT_SEEDS) % 1.0 * n)
        chosen[i] = members[seed[i]]
    cdef Partition alone = partition.part(chosen, array(labels.base.typecode, range(DESCENT_SEEDS)))
    rows = partition.rows_of(members)
    assign(partition.X, alone.component, partition.alpha, labels, rows=rows)
    for i in range(DESCENT_SEEDS):
        labels[seed[i]] = alone.label[i]
    cdef Partition division = partition.part(members, labels)
    merge(division)
    for i in range(DESCENT_SWEEPS):
        sweep(division)
        merge(division)
    return division.labels


cdef atypical(Partition partition, const Py_ssize_t[::1] members):
    """Labels with the least typical rows of a cluster in cluster 1, one for each part."""
    cdef Py_ssize_t i, j, n = members.shape[0]
    cdef double[::1] typical = double_array(n), ranked = double_array(n)
    cdef double[::1] room = partition.room_of_a_row()
    cdef double[N_PARTS] cut
    cdef Py_ssize_t[::1] label
    cdef Row row
    with nogil:
        partition.component.begin_turn()
        for i in range(n):
            partition.prefetch_after(members, i)
            row = partition.row_into(members[i], &room[0])
            typical[i] = ranked[i] = partition.component.score_per_copy(
                -partition.shared_stay_cost(members[i], &row), &row)
        partition.component.end_turn()
        for j in range(N_PARTS):
            cut[j] = TIE + find_rank(&ranked[0], n, <Py_ssize_t> (ATYPICAL_PARTS[j] * n))
    starts = []
    for j in range(N_PARTS):
        label = index_array(n)
        for i in range(n):
            label[i] = typical[i] <= cut[j]
        starts.append(label.base)
    return starts
