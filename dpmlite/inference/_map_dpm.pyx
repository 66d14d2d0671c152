"""Kernel of map_dpm.py: coordinate sweeps.

Rows are screened many at once, and then visited in order: those that are known to stay not at all,
the others only in slots that their bounds do not rule out. When a row moves, bounds in its two
slots are found anew. Where few rows move, those that an earlier sweep found far from moving are not
screened again until clusters have drifted (_drift.pyx), and others are screened ahead, by threads or
slot by slot (_lookahead.pyx). What a visit in vain has found out counts too, for bounds say nothing of
rows between large clusters. So labels are those of visits one by one.
"""

from libc.math cimport INFINITY

from dpmlite.inference._bounds cimport CHUNK, HUGE, Chunk
from dpmlite.inference._drift cimport Drift, remembered
from dpmlite.inference._lookahead cimport LookAhead
from dpmlite.inference._screening cimport (
    Screen, begin_screen, can_be_screened, end_screen, list_open, next_rows, note_change, prepare,
    renew, roughly, score_some, screen_chunk, take_ceiling, take_costs)
from dpmlite.models._partition cimport TIE, UNPLACED, Partition
from dpmlite.models._rows cimport AHEAD, Row

cdef enum:
    MANY_ROWS = 16384  # worth the start of a thread
    FEW_SLOTS = 32     # whose costs are found sooner than bounds
    MANY_SLOTS = 64    # to look at takes longer than to score a row where it is
    FEW_MOVE = 64      # one row in so many: else it is not known which stay in the next sweep


def sweep(Partition partition, Py_ssize_t n_threads=1):
    check_n_threads(n_threads)
    cdef Drift drift = None
    if can_be_screened(partition):
        drift = remembered(partition)
        drift.begin(partition)
    if partition.n_rows < MANY_ROWS or drift is None:
        return released_sweep(partition, 1, None, drift)
    with LookAhead(n_threads, partition) as crew:
        return released_sweep(partition, n_threads, crew, drift)


cdef Py_ssize_t released_sweep(Partition partition, Py_ssize_t n_threads, LookAhead crew,
                               Drift drift) except -1:
    cdef Py_ssize_t moves
    with nogil:
        moves = sweep_rows(partition, n_threads, crew, drift)
    if drift is not None:
        drift.busy = moves > partition.n_rows // FEW_MOVE
    return moves


def converge(Partition partition, Py_ssize_t max_sweeps, Py_ssize_t n_threads=1):
    cdef Py_ssize_t n_sweeps
    check_n_threads(n_threads)
    for n_sweeps in range(1, max_sweeps + 1):
        if sweep(partition, n_threads) == 0:
            return n_sweeps
    return max_sweeps


cpdef check_n_threads(Py_ssize_t n_threads):
    if n_threads < 1:
        raise ValueError(f"n_threads must be at least 1, got {n_threads}")


cdef Py_ssize_t sweep_rows(Partition partition, Py_ssize_t n_threads, LookAhead crew,
                           Drift drift) except -1 nogil:
    cdef Screen screen
    cdef Py_ssize_t moves = -1
    begin_screen(&screen, partition, n_threads)
    try:
        if screen.t == NULL:
            moves = visit_rows(partition, 0, partition.n_rows)
        else:
            moves = visit_chunks(partition, &screen, crew, drift)
    finally:
        end_screen(&screen)
    if moves > 0:
        partition.tidy_slots()
    return moves


cdef Py_ssize_t visit_rows(Partition partition, Py_ssize_t first,
                           Py_ssize_t last) except -1 nogil:
    cdef Py_ssize_t i, moves = 0
    cdef double limit
    for i in range(first, last):
        partition.expect(i + AHEAD)
        limit = partition.limit_of(i)
        moves += move_if_better(partition, i, limit, partition.score(i, limit))
    return moves


cdef Py_ssize_t visit_chunks(Partition partition, Screen *screen, LookAhead crew,
                             Drift drift) except -1 nogil:
    cdef Py_ssize_t first = 0, moves = 0
    if drift is not None and drift.n_apart > 0:
        prepare(screen, partition)
        meet(partition, screen, crew, drift)
    while first < partition.n_rows:
        if drift is not None and moves > first // FEW_MOVE + CHUNK:
            drift.lose()
        if all_will_move(partition, first, first + CHUNK):
            moves += visit_rows(partition, first, first + CHUNK)
            screen.room = 0  # all bounds are out of date
            if drift is not None:
                drift.lose()
            first += CHUNK
            continue
        prepare(screen, partition)
        if crew is not None and crew.is_worth_while(first):
            crew.look(screen, first)
        first = visit_chunk(partition, screen, drift, first, &moves)
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


cdef Py_ssize_t visit_chunk(Partition partition, Screen *screen, Drift drift, Py_ssize_t first,
                            Py_ssize_t *moves) except -1 nogil:
    """Visit rows from `first`, as many as can be screened together; returns the row after them.

    That is as long as there is room for bounds of all slots, and rows passed over surely stay: what
    moves before them is known when it would be their turn.
    """
    cdef Chunk *chunk = &screen.chunk[0]
    cdef Py_ssize_t i, j
    cdef bint moved = False
    if drift is None or drift.blank:
        next_rows(chunk, first, partition.n_rows)
    else:
        drift.gather(partition, chunk, first, partition.n_rows)
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


cdef bint visit(Partition partition, Screen *screen, Chunk *chunk, Drift drift,
                Py_ssize_t j) except -1 nogil:
    """Whether the chunk's row j moved."""
    cdef Py_ssize_t i = chunk.index[j], own = partition.label[i]
    cdef double stay = ceiling_of(partition, screen, chunk, j)
    if not chunk.least[j] < roughly(stay):
        return False
    cdef Row row = partition.row(i)
    cdef double elsewhere, best = score_some(partition, &row, screen, chunk.bound + j, stay,
                                             partition.cost, &elsewhere)
    if not move_if_better(partition, i, stay, best):
        if drift is not None and not drift.lost:
            take_costs(screen, chunk, j, partition.quick_stay_cost(i, &row), elsewhere)
        return False
    if screen.room >= partition.component.n_slots:
        follow(partition, screen, chunk, own, partition.label[i])
    return True


cdef double ceiling_of(Partition partition, const Screen *screen, Chunk *chunk,
                       Py_ssize_t j) noexcept nogil:
    """What it costs the chunk's row j to stay, or a little more.

    The chunk knows a number, which is the less good the more columns and the fewer rows a cluster
    has: where there are many slots, a closer look costs less than to look at them all.
    """
    cdef double ceiling = chunk.ceiling[j], closer
    if ceiling < HUGE and screen.n_open < MANY_SLOTS:
        return ceiling
    closer = partition.stay_ceiling(chunk.index[j])
    if closer < ceiling:
        take_ceiling(screen, chunk, j, closer)
        ceiling = closer
    return ceiling


cdef void follow(Partition partition, Screen *screen, Chunk *chunk, Py_ssize_t left,
                 Py_ssize_t joined) noexcept nogil:
    """A row has left a slot and joined another."""
    cdef bint emptied = left != UNPLACED and partition.size[left] == 0
    if left != UNPLACED and not emptied:
        renew_slot(partition, screen, chunk, left)
    renew_slot(partition, screen, chunk, joined)
    if emptied or partition.size[joined] == 1:
        renew_slot(partition, screen, chunk, list_open(screen, partition))


cdef void renew_slot(Partition partition, Screen *screen, Chunk *chunk,
                     Py_ssize_t k) noexcept nogil:
    note_change(screen, partition, k)
    renew(screen, chunk, k)


cdef bint move_if_better(Partition partition, Py_ssize_t i, double ceiling,
                         double best) except -1 nogil:
    """Whether row i moved: if the best cost elsewhere is less than what it costs to stay."""
    if not best < ceiling - TIE:
        return False
    cdef double stay = partition.stay_cost(i)
    if not best < stay - TIE:
        return False
    move_to_best(partition, i, best, stay)
    return True


cdef int move_to_best(Partition partition, Py_ssize_t i, double best, double stay) except -1 nogil:
    """To the lowest slot among those that cost the least."""
    cdef Py_ssize_t k = 0
    while partition.cost[k] > best + TIE:
        k += 1
    cdef double cost = partition.cost[k]
    return partition.move_row(i, k, cost if stay == INFINITY else cost - stay)
