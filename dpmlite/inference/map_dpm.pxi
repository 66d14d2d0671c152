"""Kernel of map_dpm.py: coordinate sweeps.

Rows are screened many at once, and then visited in order (visits.pxi), but for those that are known
to stay. Where few rows move, those that an earlier sweep found far from moving are not screened again
until clusters have drifted (drift.pxi), and others are screened ahead, by threads or slot by slot
(lookahead.pxi). Where more do, threads visit in turn, and screen meanwhile (relay.pxi). Labels are
those of visits one by one.
"""

cdef enum:
    MANY_SWEPT = 16384    # worth the start of a thread
    MOST_IN_TURN = 65536  # rows that are visited in turn before it is asked again whether to
    FEW_SLOTS = 32        # whose costs are found sooner than bounds


def sweep(Partition partition, Py_ssize_t n_threads=1):
    check_n_threads(n_threads)
    cdef Drift drift = None
    if can_be_screened(partition):
        drift = remembered(partition)
        drift.begin(partition)
    if partition.n_rows < MANY_SWEPT or drift is None:
        return released_sweep(partition, None, drift)
    with LookAhead(n_threads, partition) as crew:
        return released_sweep(partition, crew, drift)


cdef Py_ssize_t released_sweep(Partition partition, LookAhead crew, Drift drift) except -1:
    cdef Py_ssize_t moves
    with nogil:
        moves = sweep_rows(partition, crew, drift)
    if drift is not None:
        drift.busy = moves > partition.n_rows // FEW_MOVE
    return moves


def converge(Partition partition, Py_ssize_t max_sweeps, Py_ssize_t n_threads=1):
    cdef Py_ssize_t n_sweeps
    check_n_threads(n_threads)
    for n_sweeps in range(1, max_sweeps + 1):
        PyErr_CheckSignals()
        if sweep(partition, n_threads) == 0:
            return n_sweeps
    return max_sweeps


cpdef check_n_threads(Py_ssize_t n_threads):
    if n_threads < 1:
        raise ValueError(f"n_threads must be at least 1, got {n_threads}")


cdef Py_ssize_t sweep_rows(Partition partition, LookAhead crew, Drift drift) except -1 nogil:
    cdef Screen screen
    cdef Py_ssize_t moves = -1
    begin_screen(&screen, partition, 1)
    try:
        if screen.t == NULL:
            moves = visit_rows(partition, 0, partition.n_rows, False)
        else:
            moves = visit_chunks(partition, &screen, crew, drift)
    finally:
        end_screen(&screen)
    if moves > 0:
        partition.tidy_slots()
    return moves


cdef Py_ssize_t visit_rows(Partition partition, Py_ssize_t first, Py_ssize_t last,
                           bint again) except -1 nogil:
    cdef Py_ssize_t i, moves = 0
    cdef double limit
    for i in range(first, last):
        partition.prefetch(i + AHEAD)
        limit = partition.limit_of(i)
        moves += move_if_better(partition, i, limit, partition.score(i, limit), again)
    return moves


cdef Py_ssize_t visit_chunks(Partition partition, Screen *screen, LookAhead crew,
                             Drift drift) except -1 nogil:
    cdef Py_ssize_t first = 0, last, row, moves = 0
    if drift is not None and drift.n_apart > 0:
        prepare(screen, partition)
        meet(partition, screen, crew, drift)
    while first < partition.n_rows:
        if drift is not None:
            drift.lose_if_busy(moves, first)
        if all_will_move(partition, first, first + CHUNK):
            if crew is not None:
                crew.wait()
            moves += visit_rows(partition, first, first + CHUNK, True)
            screen.room = 0  # all bounds are out of date
            if drift is not None:
                drift.lose()
            first += CHUNK
            continue
        prepare(screen, partition)
        if crew is not None and not crew.advance(screen, first) and crew.can_take_turns(first, moves):
            row = crew.take_turns(first, end_of_placed(partition, first), &moves)
            if row > first:
                first = row
                screen.room = 0
                continue
        last = crew.end() if crew is not None else partition.n_rows
        first = visit_chunk(partition, screen, drift, first, last, &moves)
        if crew is not None:
            crew.n_visited += screen.chunk[0].n_rows
    return moves


cdef int meet(Partition partition, Screen *screen, LookAhead crew,
              Drift drift) except -1 nogil:
    """Look at slots that are apart."""
    if crew is not None:
        return crew.meet(screen)
    drift.meet(partition, screen, &screen.chunk[0], 0, partition.n_rows)
    return 0


cdef bint all_will_move(Partition partition, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Whether no row of a chunk has a label: bounds tell little where slots are few."""
    cdef Py_ssize_t i
    if last > partition.n_rows or partition.component.n_slots > FEW_SLOTS:
        return False
    for i in range(first, last):
        if partition.label[i] != UNPLACED:
            return False
    return True


cdef Py_ssize_t end_of_placed(Partition partition, Py_ssize_t first) noexcept nogil:
    """MOST_IN_TURN rows on; or the next without a label, where chunks of such are not screened."""
    cdef Py_ssize_t last = min(first + MOST_IN_TURN, partition.n_rows)
    if partition.component.n_slots > FEW_SLOTS:
        return last
    while first < last and partition.label[first] != UNPLACED:
        first += 1
    return first


cdef Py_ssize_t visit_chunk(Partition partition, Screen *screen, Drift drift, Py_ssize_t first,
                            Py_ssize_t last, Py_ssize_t *moves) except -1 nogil:
    """Visit rows of first..last-1, as many as can be screened together; returns the row after them.

    That is as long as there is room for bounds of all slots, and rows passed over surely stay: what
    moves before them is known when it would be their turn.
    """
    cdef Chunk *chunk = &screen.chunk[0]
    cdef Py_ssize_t i, j
    cdef bint moved = False
    if drift is None or drift.blank:
        next_rows(chunk, first, last)
    else:
        drift.gather(partition, chunk, first, last)
    screen_chunk(screen, partition, chunk)
    for j in range(chunk.n_rows):
        i = chunk.index[j]
        if moved and first < i and not drift.still_known(partition, chunk, first, i):
            break
        first = i + 1
        if not chunk.stays[j] and visit(partition, screen, chunk, drift, j):
            moves[0] += 1
            if drift is not None:
                drift.row_moved(partition, chunk, j)
                moved = True
            if screen.room < partition.component.n_slots:
                return first
    if moved:
        drift.still_known(partition, chunk, first, chunk.end)
    if drift is not None:
        drift.note(partition, chunk, drift.cap)
    return chunk.end
