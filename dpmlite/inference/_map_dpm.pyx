"""Kernel of map_dpm.py: coordinate sweeps.

Rows are screened many at once, on any number of threads, and then visited in order: those that are
known to stay not at all, the others only in slots that their bounds do not rule out. When a row
moves, bounds in its two slots are found anew. So labels are those of visits one by one.
"""

from libc.math cimport INFINITY

from dpmlite.inference._screening cimport (
    CHUNK, Chunk, Screen, begin_screen, catch_up, decide, end_screen, may_cost_less, note_change,
    screen_chunks)
from dpmlite.models._partition cimport TIE, UNPLACED, Partition
from dpmlite.models._rows cimport Row

cdef enum:
    MANY = 4  # moves in a chunk, after which each of its rows is looked at by itself


def sweep(Partition partition, Py_ssize_t n_threads=1):
    cdef Py_ssize_t moves
    check_n_threads(n_threads)
    with nogil:
        moves = sweep_rows(partition, n_threads)
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


cdef Py_ssize_t sweep_rows(Partition partition, Py_ssize_t n_threads) except -1 nogil:
    cdef Screen screen
    cdef Py_ssize_t moves = -1
    begin_screen(&screen, partition, n_threads)
    try:
        moves = visit_rows(partition) if screen.t == NULL else visit_chunks(partition, &screen)
    finally:
        end_screen(&screen)
    if moves > 0:
        partition.tidy_slots()
    return moves


cdef Py_ssize_t visit_rows(Partition partition) except -1 nogil:
    cdef Py_ssize_t i, moves = 0
    cdef double stay
    for i in range(partition.n_rows):
        stay = partition.stay_ceiling(i)
        moves += move_if_better(partition, i, stay, partition.score(i, stay))
    return moves


cdef Py_ssize_t visit_chunks(Partition partition, Screen *screen) except -1 nogil:
    cdef Py_ssize_t first = 0, i, seen, moves = 0
    while first < partition.n_rows:
        screen_chunks(screen, partition, first)
        for i in range(screen.n_chunks):
            seen = visit_chunk(partition, screen, &screen.chunk[i], &moves)
            first += seen
            if seen < CHUNK:
                break
    return moves


cdef Py_ssize_t visit_chunk(Partition partition, Screen *screen, Chunk *chunk,
                            Py_ssize_t *moves) except -1 nogil:
    """Visit rows, as long as there is room for bounds of all slots; returns how many."""
    cdef Py_ssize_t j, here = 0
    catch_up(screen, chunk)
    decide(screen, chunk, 0)
    for j in range(chunk.n_rows):
        if (here <= MANY and chunk.stays[j]) or not visit(partition, screen, chunk, j):
            continue
        here += 1
        if screen.room < partition.component.n_slots:
            moves[0] += here
            return j + 1
        catch_up(screen, chunk)
        if here <= MANY:
            decide(screen, chunk, j + 1)
    moves[0] += here
    return chunk.n_rows


cdef bint visit(Partition partition, Screen *screen, Chunk *chunk, Py_ssize_t j) except -1 nogil:
    """Whether the chunk's row j moved."""
    cdef Py_ssize_t i = chunk.first + j, own = partition.label[i]
    cdef double stay = partition.stay_ceiling(i)
    cdef double best = score_some(partition, i, chunk.bound + j, screen.n_slots, stay)
    if not move_if_better(partition, i, stay, best):
        return False
    if screen.room >= partition.component.n_slots:
        if own != UNPLACED:
            note_change(screen, partition, own)
        note_change(screen, partition, partition.label[i])
        if partition.component.n_slots > screen.n_slots:
            note_change(screen, partition, screen.n_slots)
    return True


cdef double score_some(Partition partition, Py_ssize_t i, const float *bound, Py_ssize_t n_slots,
                       double stay) noexcept nogil:
    """What Partition.score does, for the slots that their bounds do not rule out."""
    cdef Row row = partition.row(i)
    cdef double best = stay
    cdef Py_ssize_t k, nearest = 0
    for k in range(n_slots):
        partition.cost[k] = INFINITY
        nearest = k if bound[k * CHUNK] < bound[nearest * CHUNK] else nearest
    if not may_cost_less(bound[nearest * CHUNK], best):
        return best
    partition.cost[nearest] = partition.cost_in(&row, nearest)
    best = min(best, partition.cost[nearest])
    for k in range(n_slots):
        if k != nearest and may_cost_less(bound[k * CHUNK], best + TIE):
            partition.cost[k] = partition.cost_in(&row, k)
            best = min(best, partition.cost[k])
    return best


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
