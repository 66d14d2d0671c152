"""Kernel of map_dpm.py: coordinate sweeps.

Rows are screened in chunks, and those that may move are visited in their order (_ordered_sweep.pyx).
Rows that an earlier sweep found far from moving are passed over until clusters have drifted
(_stay_bounds.pyx). Where nothing is known of the rows and clusters lie far apart, rows are screened
by slot before their visits (_screening_by_slot.pyx). Labels are those of visits one by one.
"""

from cpython.exc cimport PyErr_CheckSignals

from dpmlite.core._atomics cimport HAS_ATOMICS
from dpmlite.core._rows cimport check_order
from dpmlite.sweeps._ordered_sweep cimport OrderedSweep
from dpmlite.sweeps._screened_slots cimport (
    Screen, begin_screen, can_be_screened, end_screen, load_slots_if_needed)
from dpmlite.sweeps._screening cimport screen_chunk, take_rows
from dpmlite.sweeps._screening_bounds cimport CHUNK, Chunk
from dpmlite.sweeps._screening_by_slot cimport ScreeningBySlot, screening_by_slot
from dpmlite.sweeps._stay_bounds cimport StayBounds, stay_bounds_of
from dpmlite.sweeps._visits cimport (
    pays_to_screen, visit, visit_in_all_slots, visit_unscreened)
from dpmlite.sweeps._weighted_visits cimport has_weight_lines, visit_weighted_rows

from dpmlite.core.threads import thread_limit, use_threads

cdef enum:
    MIN_SHARED_ROWS = 2048   # rows of a sweep that threads may share
    FIRST_BATCH = 256        # rows of the first batch
    VISITS_PER_MOVE = 5      # of a chunk, which take as long as bounds found anew
    MAX_VISITS = 40          # of a chunk of a product, of which many rows should be known to stay,
    MAX_HEAVY_VISITS = 80    # and of rows with weights, whose visits take longer
    CHUNKS_PER_TEST = 15     # chunks that are not screened after one with more visits


def sweep(Partition partition, const Py_ssize_t[::1] order=None):
    cdef Py_ssize_t n_moves
    if order is not None:
        return sweep_in_order(partition, order)
    if can_be_screened(partition):
        return screened_sweep(partition)
    with nogil:
        n_moves = sweep_once(partition)
    return n_moves


def converge(Partition partition, Py_ssize_t max_sweeps):
    cdef Py_ssize_t n_sweeps
    for n_sweeps in range(1, max_sweeps + 1):
        PyErr_CheckSignals()
        if sweep(partition) == 0:
            return n_sweeps
    return max_sweeps


cdef Py_ssize_t sweep_in_order(Partition partition, const Py_ssize_t[::1] order) except -1:
    """Visit all rows in an order, each in all slots; return how many moved."""
    cdef Py_ssize_t j, n_moves = 0
    check_order(order, partition.n_rows)
    with nogil:
        for j in range(partition.n_rows):
            partition.prefetch_after(order, j)
            n_moves += visit_in_all_slots(partition, order[j], False)
        if n_moves > 0:
            partition.tidy_slots()
    return n_moves


cdef Py_ssize_t screened_sweep(Partition partition) except -1:
    """Visit all rows, screening them first; return how many moved."""
    cdef StayBounds bounds = stay_bounds_of(partition)
    cdef OrderedSweep ordered = OrderedSweep(partition, bounds)
    cdef Py_ssize_t n_threads = thread_limit()
    bounds.begin_sweep(partition)
    cdef ScreeningBySlot by_slot = screening_by_slot(partition, bounds)
    if partition.n_rows < MIN_SHARED_ROWS or not HAS_ATOMICS:
        n_threads = 1
    if n_threads == 1 and by_slot is None:
        ordered.visit_rows_until(partition.n_rows, 1)
    else:
        with use_threads(n_threads):
            visit_in_batches(ordered, by_slot, n_threads)
    bounds.end_sweep(ordered.n_moves)
    if ordered.n_moves > 0:
        partition.tidy_slots()
    return ordered.n_moves


cdef int visit_in_batches(OrderedSweep ordered, ScreeningBySlot by_slot,
                          Py_ssize_t n_threads) except -1:
    """Visit all rows in batches.

    Threads share a batch, and its rows are screened by slot first, if the batch before shows that
    it pays. A batch has as many rows as all batches before.
    """
    cdef Py_ssize_t n_rows = ordered.partition.n_rows, first, last = FIRST_BATCH, n
    ordered.visit_rows_until(last, 1)
    while last < n_rows:
        first, last = last, min(2 * last, n_rows)
        n = n_threads if ordered.threads_pay(last - first) else 1
        if by_slot is not None and by_slot.pays(ordered):
            by_slot.screen_rows(first, last)
        ordered.visit_rows_until(last, n)
    return 0


cdef Py_ssize_t sweep_once(Partition partition) except -1 nogil:
    """Visit all rows in one thread, and remember nothing of them; return how many moved."""
    cdef Screen screen
    cdef Py_ssize_t first = 0, n_moves = 0
    begin_screen(&screen, partition)
    try:
        if screen.t == NULL and has_weight_lines(partition):
            n_moves = visit_weighted_rows(partition)
        elif screen.t == NULL:
            n_moves = visit_unscreened(partition, 0, partition.n_rows, False)
        else:
            while first < partition.n_rows:
                first = visit_next_rows(partition, &screen, first, &n_moves)
    finally:
        end_screen(&screen)
    if n_moves > 0:
        partition.tidy_slots()
    return n_moves


cdef Py_ssize_t visit_next_rows(Partition partition, Screen *screen, Py_ssize_t first,
                                Py_ssize_t *n_moves) except -1 nogil:
    """Visit a chunk of rows from `first` on; return the row to go on from."""
    cdef Chunk *chunk
    cdef Py_ssize_t j, n_open = 0, n_before = n_moves[0]
    cdef Py_ssize_t last = min(first + CHUNK, partition.n_rows)
    if screen.n_unscreened > 0 or not pays_to_screen(partition, first, last):
        n_moves[0] += visit_unscreened(partition, first, last, True)
        screen.capacity = 0  # all bounds are out of date
        screen.n_unscreened -= screen.n_unscreened > 0
        return last
    load_slots_if_needed(screen, partition)
    chunk = screen.chunk
    take_rows(chunk, first, last)
    screen_chunk(screen, partition, chunk)
    for j in range(chunk.n_rows):
        n_open += not chunk.stays[j]
        if not chunk.stays[j] and visit(partition, screen, j, False):
            n_moves[0] += 1
            if screen.capacity < partition.component.n_slots:
                return chunk.index[j] + 1
    n_open += VISITS_PER_MOVE * (n_moves[0] - n_before)
    if ((screen.is_part or screen.has_weights)
            and n_open > (MAX_HEAVY_VISITS if screen.has_weights else MAX_VISITS)):
        screen.n_unscreened = CHUNKS_PER_TEST
    return last
