"""Kernel of screening.py: bounds of what rows cost, of many at once, kept up to date."""

cdef struct Slot:
    double power, floor, reach        # bound: power log2 (a bound of P) + floor - reach max |u|,
    double line, line_end             # or with line min(a bound of P - 1, line_end), if line > 0
    double base, base_reach           # of Stays: base + base_reach max |u|
    double per_power, stay, member_power, member_ratio, most

cdef struct Screen:
    const Densities *t         # NULL: the family has no quick look
    Py_ssize_t n_slots, room   # slots that are known, and that memory is there for
    Py_ssize_t n_open          # slots that a row may go to,
    Py_ssize_t *open           # ascending: all that hold rows, and the first that is empty
    double level               # few rows pay more to stay
    Py_ssize_t n_chunks        # that memory is there for
    void *memory
    Slot *slot
    float *slope               # [slot][2 columns] slopes, then shifts
    Chunk *chunk


# A cost may be below a limit where its bound, which is rounded, is below this.
cdef inline inlined_double roughly(double limit) noexcept nogil:
    return limit + 2e-6 * fabs(limit)


cdef extern from *:
    """
    #define DPM_CLOSE 0.2     /* columns to powers: from where on groups of columns cost whole nats */
    #define DPM_EPSILON 1.2e-7  /* two roundings to single precision */
    #define DPM_COARSE 1e-6     /* several */
    #define DPM_MOST_POWER 1e30
    #define DPM_LONGEST_LINE 0.25  /* at most a ninth below the logarithm */
    """
    double CLOSE "DPM_CLOSE"
    double EPSILON "DPM_EPSILON"
    double COARSE "DPM_COARSE"
    double MOST_POWER "DPM_MOST_POWER"
    double LONGEST_LINE "DPM_LONGEST_LINE"


def screen(Partition partition, Py_ssize_t first, Py_ssize_t last):
    if not 0 <= first <= last <= partition.n_rows:
        raise IndexError(f"rows must be in 0..{partition.n_rows}, got {first}..{last}")
    cdef Screen s
    cdef Py_ssize_t j, row = first
    stays = [False] * (last - first)
    begin_screen(&s, partition, 1)
    try:
        while s.t != NULL and row < last:
            prepare(&s, partition)
            next_rows(&s.chunk[0], row, partition.n_rows)
            screen_chunk(&s, partition, &s.chunk[0])
            for j in range(min(s.chunk[0].n_rows, last - row)):
                stays[row - first] = bool(s.chunk[0].stays[j])
                row += 1
    finally:
        end_screen(&s)
    return stays


cdef bint can_be_screened(Partition partition) noexcept nogil:
    """Rows that stand for more than one, and families without a quick look, can not.

    Nor can those under a prior of so great a power that bounds would be beyond single precision.
    """
    cdef const Densities *t = partition.component.densities()
    return partition.X.row_weights == NULL and t != NULL and t.power[0] < MOST_POWER


cdef void begin_screen(Screen *s, Partition partition, Py_ssize_t n_chunks) noexcept nogil:
    s.t = partition.component.densities() if can_be_screened(partition) else NULL
    s.n_chunks = n_chunks
    s.n_slots = s.room = 0
    s.memory = NULL


cdef void end_screen(Screen *s) noexcept nogil:
    PyMem_RawFree(s.memory)


cdef int prepare(Screen *s, Partition partition) except -1 nogil:
    """Make room for all slots, if there is not enough; bounds that were found are lost then."""
    if s.room < partition.component.n_slots:
        prepare_anew(s, partition)
    return 0


cdef int prepare_anew(Screen *s, Partition partition) except -1 nogil:
    """All slots may have changed; so bounds that were found are lost."""
    cdef Py_ssize_t k
    if s.room < partition.component.n_slots:
        lay_out_screen(s, partition.component.n_slots)
    list_open(s, partition)
    find_level(s, partition)
    for k in range(s.n_open):
        note_change(s, partition, s.open[k])
    return 0


cdef int lay_out_screen(Screen *s, Py_ssize_t n_slots) except -1 nogil:
    """Memory for so many slots and some more, and for the chunks."""
    cdef Py_ssize_t i, D = s.t.n_columns
    s.room = (n_slots + n_slots // 2 + 15) & ~(<Py_ssize_t> 15)
    s.n_slots = 0
    PyMem_RawFree(s.memory)
    s.memory = PyMem_RawMalloc(
        64 + s.room * (sizeof(Slot) + sizeof(Py_ssize_t)) + 2 * D * s.room * sizeof(float)
        + s.n_chunks * (sizeof(Chunk) + (D + s.room) * CHUNK * sizeof(float)
                        + (D + s.room + APART) * sizeof(double)))
    if s.memory == NULL:
        s.room = 0
        with gil:
            raise MemoryError(f"no memory for bounds of {n_slots} clusters")
    cdef float *numbers = <float *> ((<uintptr_t> s.memory + 63) & ~(<uintptr_t> 63))
    s.slope = numbers + s.n_chunks * (D + s.room) * CHUNK
    s.slot = <Slot *> (s.slope + 2 * D * s.room)
    s.open = <Py_ssize_t *> (s.slot + s.room)
    s.chunk = <Chunk *> (s.open + s.room)
    cdef double *rows = <double *> (s.chunk + s.n_chunks)
    for i in range(s.n_chunks):
        s.chunk[i].u = numbers + i * (D + s.room) * CHUNK
        s.chunk[i].bound = s.chunk[i].u + D * CHUNK
        s.chunk[i].row = rows + i * (D + s.room + APART)
        s.chunk[i].cost = s.chunk[i].row + D
        s.chunk[i].n_rows = 0
    return 0


cdef void find_level(Screen *s, Partition partition) noexcept nogil:
    """Few rows pay more to stay: at the mean of no slot, and above that D / 2 on the average."""
    cdef Py_ssize_t j, k
    cdef double stay
    s.level = -INFINITY
    for j in range(s.n_open):
        k = s.open[j]
        stay = -s.t.member_constant[k] - partition.light_member_weight[k]
        if s.t.member_ratio[k] > 0.0 and stay > s.level:  # neither is NaN
            s.level = stay
    s.level += s.t.n_columns + 16.0


cdef Py_ssize_t list_open(Screen *s, Partition partition) noexcept nogil:
    """Slots have become empty or have not: list the open ones, and return the one without rows.

    Empty slots are all the same, and a row that founds a cluster takes the first.
    """
    cdef Py_ssize_t k, empty = -1
    s.n_open, s.n_slots = 0, partition.component.n_slots
    for k in range(s.n_slots):
        if partition.component.n[k] > 0.0 or empty < 0:
            s.open[s.n_open] = k
            s.n_open += 1
            if partition.component.n[k] == 0.0:
                empty = k
    return empty


cdef void note_change(Screen *s, Partition partition, Py_ssize_t k) noexcept nogil:
    """Slot k has changed, or is new: bounds of chunks that were found before are out of date."""
    cdef const Densities *t = s.t
    cdef Py_ssize_t D = t.n_columns
    cdef Slot *slot = &s.slot[k]
    cdef float *slope = s.slope + 2 * k * D
    cdef double slopes = copied(slope, t.slot_slope + k * t.n_along, D)
    cdef double shifts = copied(slope + D, t.slot_shift + k * t.n_along, D)
    cdef double fixed = -t.constant[k] - partition.log_weight[k]
    cdef double error = EPSILON * (2 * D + 16 + 3.0 * shifts), error_reach = EPSILON * 3.0 * slopes
    slot.power = LOG_2 * t.power[k]
    slot.reach = t.power[k] * error_reach
    slot.floor = fixed - COARSE * fabs(fixed) - t.power[k] * error
    draw_line(slot, t.power[k], s.level - fixed)
    slot.per_power = 1.001 / (slot.line if slot.line > 0.0 else t.power[k])
    slot.base = slot.per_power * (COARSE * fabs(slot.floor) - slot.floor) + 2.0 * error
    slot.base_reach = 1.001 * slot.per_power * slot.reach + 2.0 * error_reach
    slot.stay = -t.member_constant[k] - partition.light_member_weight[k]
    slot.member_power = t.power[k] - 1.0
    slot.member_ratio = t.member_ratio[k]


cdef void draw_line(Slot *slot, double power, double most) noexcept nogil:
    """If bounds up to this `most` lose little by it; a row's own is known as long as it is below."""
    slot.line_end = most / power
    slot.line, slot.most = 0.0, 0.5
    if 0.0 < slot.line_end <= LONGEST_LINE:
        slot.line = (1.0 - COARSE) * 2.0 * power / (2.0 + slot.line_end)
        slot.most = 0.99 * slot.line_end


cdef void next_rows(Chunk *chunk, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """All rows of first..last-1, as many as fill a chunk."""
    cdef Py_ssize_t j
    chunk.n_rows = max(min(last - first, <Py_ssize_t> CHUNK), <Py_ssize_t> 0)
    for j in range(chunk.n_rows):
        chunk.index[j] = first + j
    chunk.end = first + chunk.n_rows


cdef void screen_chunk(const Screen *s, Partition partition, Chunk *chunk) noexcept nogil:
    """Find the bounds of a chunk's rows, of slots that are known."""
    screen_some(s, partition, chunk, s.open, s.n_open)


cdef void screen_some(const Screen *s, Partition partition, Chunk *chunk, const Py_ssize_t *slots,
                      Py_ssize_t n) noexcept nogil:
    """The same of some of the slots, with all that the rows are in."""
    cdef Py_ssize_t i, k
    read_rows(s, partition, chunk)
    for k in range(n):
        find_bounds(s, chunk, slots[k])
    for i in range(chunk.n_rows):
        set_one_aside(s, chunk, i)
    for i in range(CHUNK):
        chunk.least[i] = HUGE
    find_ceilings(&chunk.stay, chunk.own, chunk.ceiling)
    judge(chunk, slots, n)


cdef void screen_against(const Screen *s, Partition partition, Chunk *chunk,
                         const Py_ssize_t *slots, Py_ssize_t n) noexcept nogil:
    """The same of some slots only; all rows have labels."""
    cdef Py_ssize_t[CHUNK] at
    cdef float[CHUNK] power
    cdef Py_ssize_t i, k, D = s.t.n_columns
    read_rows(s, partition, chunk)
    for i in range(CHUNK):
        k = chunk.label[i] if i < chunk.n_rows else slots[0]
        put(s, chunk, i, k)
        at[i], power[i] = 2 * k * D, <float> s.slot[k].power
        chunk.own[i] = <float> (s.slot[k].floor - chunk.reach * s.slot[k].reach)
        chunk.least[i] = HUGE
    own_bounds(chunk.u, D, s.slope, at, power, chunk.own)
    for k in range(n):
        find_bounds(s, chunk, slots[k])
        for i in range(chunk.n_rows):
            if chunk.label[i] == slots[k]:
                chunk.bound[slots[k] * CHUNK + i] = HUGE
    find_ceilings(&chunk.stay, chunk.own, chunk.ceiling)
    judge(chunk, slots, n)


cdef void read_rows(const Screen *s, Partition partition, Chunk *chunk) noexcept nogil:
    """Standardised values and labels of a chunk's rows."""
    cdef Py_ssize_t i, D = s.t.n_columns
    cdef Row row
    if chunk.n_rows < CHUNK:
        memset(chunk.u, 0, D * CHUNK * sizeof(float))
    for i in range(chunk.n_rows):
        partition.prefetch(chunk.index[i])
    for i in range(chunk.n_rows):
        row = partition.row_into(chunk.index[i], chunk.row)
        chunk.label[i] = <int> partition.label[chunk.index[i]]
        spread_row(s.t, row.values, chunk.u + i)
    chunk.reach = largest(chunk.u, D)


cdef void find_bounds(const Screen *s, Chunk *chunk, Py_ssize_t k) noexcept nogil:
    """Bounds of all rows of a chunk in slot k, their own not excepted."""
    cdef const Slot *slot = &s.slot[k]
    cdef Py_ssize_t D = s.t.n_columns
    cdef const float *slope = s.slope + 2 * k * D
    cdef float floor = <float> (slot.floor - chunk.reach * slot.reach)
    if slot.line > 0.0:
        line_bounds(chunk.u, D, slope, <float> slot.line, <float> slot.line_end, floor,
                    chunk.bound + k * CHUNK)
    elif slot.power * CLOSE < LOG_2 * D:
        close_bounds(chunk.u, D, slope, <float> slot.power, floor, chunk.bound + k * CHUNK)
    else:
        bounds(chunk.u, D, slope, <float> slot.power, floor, chunk.bound + k * CHUNK)


cdef void renew_screen(const Screen *s, Chunk *chunk, Py_ssize_t k) noexcept nogil:
    """Slot k has changed. Lower bounds that it had still count: more rows than must be are visited."""
    find_bounds(s, chunk, k)
    if set_aside(s, chunk, k):
        find_ceilings(&chunk.stay, chunk.own, chunk.ceiling)
    judge(chunk, &k, 1)


cdef bint set_aside(const Screen *s, Chunk *chunk, Py_ssize_t k) noexcept nogil:
    """Rows of slot k are there already; whether there are any.

    One by one, for few are: vectors, which have to be stored by masks, take as long.
    """
    cdef Py_ssize_t i
    cdef bint found = False
    for i in range(chunk.n_rows):
        if chunk.label[i] == k:
            set_one_aside(s, chunk, i)
            found = True
    return found


cdef inline inlined_void set_one_aside(const Screen *s, Chunk *chunk, Py_ssize_t i) noexcept nogil:
    """Row i of a chunk is in a slot already, or nowhere."""
    cdef Py_ssize_t k = chunk.label[i]
    if k == UNPLACED:
        chunk.stay.ratio[i] = NAN  # no bound
        return
    chunk.own[i] = chunk.bound[k * CHUNK + i]
    chunk.bound[k * CHUNK + i] = HUGE
    put(s, chunk, i, k)


cdef void find_join_ceilings(const Screen *s, Partition partition, Chunk *chunk,
                             const int *slots) noexcept nogil:
    """Bounds from above of what it costs rows without labels to join a slot each.

    prod_d (1 + t_d) <= exp(sum_d t_d) <= exp(P - 1), and P - 1 <= -log(1 - (P - 1)): what is found
    for r = 1 (bounds.pxi) is no less.
    """
    cdef Py_ssize_t i, k
    for i in range(CHUNK):
        k = slots[i]
        chunk.own[i] = chunk.bound[k * CHUNK + i]
        put(s, chunk, i, k)
        chunk.stay.stay[i] = <float> (-s.t.constant[k] - partition.log_weight[k])
        chunk.stay.power[i], chunk.stay.ratio[i] = <float> s.t.power[k], 1.0
    find_ceilings(&chunk.stay, chunk.own, chunk.ceiling)


cdef inline inlined_void put(const Screen *s, Chunk *chunk, Py_ssize_t i,
                             Py_ssize_t k) noexcept nogil:
    """Row i of a chunk is in slot k: what it costs it to stay."""
    cdef const Slot *slot = &s.slot[k]
    chunk.stay.base[i] = <float> (slot.base + chunk.reach * slot.base_reach)
    chunk.stay.per_power[i], chunk.stay.stay[i] = <float> slot.per_power, <float> slot.stay
    chunk.stay.power[i], chunk.stay.ratio[i] = <float> slot.member_power, <float> slot.member_ratio
    chunk.stay.most[i] = <float> slot.most


cdef void take_costs(const Screen *s, Chunk *chunk, Py_ssize_t j, double stay,
                     double elsewhere) noexcept nogil:
    """Take what it costs a row, where it tells more than the chunk's bounds."""
    take_ceiling(s, chunk, j, stay)
    elsewhere -= COARSE * fabs(elsewhere)
    if elsewhere > chunk.least[j]:
        chunk.least[j] = <float> elsewhere


cdef void take_ceiling(const Screen *s, Chunk *chunk, Py_ssize_t j, double ceiling) noexcept nogil:
    """Take another ceiling of a row, if no factor 1 - w_d of it is below 1/2 (drift.pxi)."""
    cdef Py_ssize_t k = chunk.label[j]
    if k != UNPLACED and ceiling - s.slot[k].stay < LOG_2 * s.slot[k].member_power:
        chunk.ceiling[j] = <float> (ceiling + COARSE * fabs(ceiling))


cdef void look_closely(const Screen *s, Partition partition, Chunk *chunk) noexcept nogil:
    """Find what it costs rows that bounds do not tell of: each thread those of its own chunk."""
    cdef double stay, elsewhere
    cdef Py_ssize_t i, j
    cdef Row row
    for j in range(chunk.n_rows):
        if chunk.stays[j] or chunk.label[j] == UNPLACED:
            continue
        i = chunk.index[j]
        row = partition.row_into(i, chunk.row)
        stay = partition.quick_stay_cost(i, &row)
        if stay == stay:
            score_some(partition, &row, s, chunk.bound + j, stay, chunk.cost, &elsewhere)
            take_costs(s, chunk, j, stay, elsewhere)


cdef double score_some(Partition partition, const Row *row, const Screen *screen,
                       const float *bound, double stay, double *cost,
                       double *elsewhere) noexcept nogil:
    """What Partition.score does, for the open slots that their bounds do not rule out.

    In no slot but its own the row costs less than `elsewhere`.
    """
    cdef double best = stay, limit, below, others
    cdef Py_ssize_t j, k, nearest = screen.open[0]
    cdef float least = bound[nearest * CHUNK]
    for k in range(screen.n_slots):
        cost[k] = INFINITY
    for j in range(1, screen.n_open):
        k = screen.open[j]
        if bound[k * CHUNK] < least:
            least, nearest = bound[k * CHUNK], k
    elsewhere[0] = least
    if least >= roughly(best):
        return best
    cost[nearest] = others = partition.cost_in(row, nearest)
    best = min(best, cost[nearest])
    limit = roughly(best + TIE)
    for j in range(screen.n_open):
        k = screen.open[j]
        if k == nearest:
            continue
        below = bound[k * CHUNK]
        if not below >= limit:
            below = cost[k] = partition.cost_in(row, k)
            best = min(best, below)
            limit = roughly(best + TIE)
        others = min(others, below)
    elsewhere[0] = others
    return best
