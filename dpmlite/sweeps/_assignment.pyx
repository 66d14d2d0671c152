"""Kernel of assignment.py: the most probable cluster of each row, beside clusters that stay as they are."""

from array import array

from libc.math cimport INFINITY, log

from dpmlite.core._constants cimport TIE, UNPLACED
from dpmlite.core._memory cimport double_array
from dpmlite.core._work_parts cimport start_of
from dpmlite.families._screenable cimport Screenable
from dpmlite.families._slot_vectors cimport first_within, padded
from dpmlite.partition._partition cimport Partition, just_above, partition_to_score_in
from dpmlite.sweeps._map_dpm cimport check_n_threads
from dpmlite.sweeps._screening cimport (
    Screen, begin_screen, can_be_screened, end_screen, find_join_ceilings, load_slots_if_needed,
    screen_chunk, take_rows, with_rounding)
from dpmlite.sweeps._screening_bounds cimport CHUNK, Chunk, two_least_bounds
from dpmlite.sweeps._visits cimport score_open_slots

from dpmlite.core._rows import as_rows
from dpmlite.core.threads import on_threads

cdef enum:
    MIN_SHARED_SCORES = 1048576  # rows * columns * slots that are worth waking a thread for


cdef class Mixture:
    """The terms of eq. (17) for one row after another."""

    def __init__(self, X, Component component, Py_ssize_t n_out, const Py_ssize_t[::1] rows=None):
        self.X, self.rows = as_rows(X), rows
        self.n_rows = self.X.n_rows if rows is None else rows.shape[0]
        if n_out != self.n_rows:
            raise ValueError(f"out must be for {self.n_rows} rows, got {n_out}")
        if rows is not None:
            self.X.check_rows(rows)
        component._check_rows(self.X)
        self.component = component
        self.n_slots = component.n_slots

    cdef int weigh(self, log_weights) except -1:
        """The weight of each slot, which has to be known before any row is scored."""
        cdef Py_ssize_t k
        if len(log_weights) != self.n_slots:
            raise ValueError(f"log_weights must have {self.n_slots} values, got {len(log_weights)}")
        self.log_weight = array("d", [-INFINITY] * padded(self.n_slots))
        self.cost = array("d", self.log_weight)
        for k in range(self.n_slots):
            self.log_weight[k] = log_weights[k]
        return 0

    cdef double score(self, Py_ssize_t i) noexcept nogil:
        """cost[k] = -log of the term of slot k for row i; returns the least."""
        cdef Row row = self.X.row(self.rows[i] if self.rows is not None else i)
        return self.component.costs_below(&row, &self.log_weight[0], INFINITY, &self.cost[0])

    cdef int assign(self, Component component, Py_ssize_t first, Py_ssize_t last,
                    Py_ssize_t[::1] out) except -1:
        """Labels of some rows, by a component that no other thread has."""
        cdef double[::1] cost = array("d", self.cost), room = room_of(self.X)
        cdef Py_ssize_t i, k
        cdef double least
        cdef Row row
        with nogil:
            for i in range(first, last):
                row = self.X.row_into(self.rows[i] if self.rows is not None else i, &room[0])
                least = self.least_cost(component, &row, &cost[0])
                k = first_within(&cost[0], self.n_slots, least + TIE)
                out[i] = k if component.n[k] > 0.0 else UNPLACED
        return 0

    cdef double least_cost(self, Component component, const Row *row,
                           double *cost) noexcept nogil:
        """As `score`, but costs of heavy rows that are not near the least are only bounds."""
        cdef Py_ssize_t k, nearest = 0
        if row.weight == 1.0 or not component.has_heavy_bounds:
            return component.costs_below(row, &self.log_weight[0], INFINITY, cost)
        component.costs_below(row, &self.log_weight[0], -INFINITY, cost)
        for k in range(self.n_slots):
            nearest = k if cost[k] < cost[nearest] else nearest
        return component.costs_below(
            row, &self.log_weight[0],
            just_above(self.log_weight[nearest], component.score_slot(row, nearest)), cost)


def log_weights(Component component, double alpha):
    cdef double n, log_total = log(alpha + sum(component.counts))
    return [log(n if n > 0.0 else alpha) - log_total for n in component.counts]


def assign(X, Component component, double alpha, Py_ssize_t[::1] out, Py_ssize_t n_threads=1,
           const Py_ssize_t[::1] rows=None):
    check_n_threads(n_threads)
    cdef Mixture mixture = Mixture(X, component, out.shape[0], rows)
    cdef Partition unplaced = None
    if mixture.n_rows >= CHUNK and isinstance(component, Screenable):
        unplaced = unplaced_rows(mixture, component, alpha, out)
    if unplaced is None:
        mixture.weigh(log_weights(component, alpha))

    def part(rows):
        if unplaced is None:
            own = component if n_threads == 1 else component.copied()
            mixture.assign(own, rows[0], rows[1], out)
        else:
            assign_screened(unplaced, rows[0], rows[1], out)

    on_threads(part, parts_of(mixture, n_threads), n_threads)


cdef parts_of(Mixture mixture, Py_ssize_t n_threads):
    """First and last row of each part, which has whole chunks: some for each thread."""
    cdef Py_ssize_t n_rows = mixture.n_rows, n_chunks = (n_rows + CHUNK - 1) // CHUNK
    cdef Py_ssize_t n_parts = n_rows * mixture.X.n_columns * mixture.n_slots // MIN_SHARED_SCORES
    if n_threads == 1 or n_parts < 2:
        return [(0, n_rows)]
    n_parts = min(n_parts, 8 * n_threads) + 2
    ends = [min(n_rows, start_of(i, n_parts, n_chunks) * CHUNK) for i in range(n_parts + 1)]
    return list(zip(ends, ends[1:]))


cdef Partition unplaced_rows(Mixture mixture, Component component, double alpha,
                             Py_ssize_t[::1] out):
    """All rows, beside clusters; `out` for their labels. None if slots have gaps, or rows weights:
    such are not screened.
    """
    cdef Py_ssize_t k, n_clusters = component.n_slots - 1
    for k in range(component.n_slots):
        if (component.n[k] > 0.0) != (k < n_clusters):
            return None
    cdef Partition partition = partition_to_score_in(
        mixture.X, mixture.rows, out, component, alpha)
    if not can_be_screened(partition):
        return None
    partition.make_slots(component.n_slots)
    partition.component.copy_all(component)
    for k in range(n_clusters):
        partition.size[k] = 1
        partition.weigh(k)
    return partition


cdef int assign_screened(Partition partition, Py_ssize_t first, Py_ssize_t last,
                         Py_ssize_t[::1] out) except -1:
    """Find the best clusters of rows from the start of a chunk: each row is looked at once."""
    cdef double[::1] cost = double_array(padded(partition.component.n_slots))
    cdef double[::1] room = room_of(partition.X)
    cdef Py_ssize_t[CHUNK] found
    cdef Screen screen
    cdef Py_ssize_t i
    begin_screen(&screen, partition)
    try:
        with nogil:
            while first < last:
                load_slots_if_needed(&screen, partition)
                take_rows(screen.chunk, first, partition.n_rows)
                for i in range(screen.chunk.n_rows):
                    out[first + i] = UNPLACED
                screen_chunk(&screen, partition, screen.chunk)
                best_slots(partition, &screen, &cost[0], &room[0], found)
                for i in range(screen.chunk.n_rows):
                    if found[i] < partition.component.n_slots - 1:
                        out[first + i] = found[i]
                first += CHUNK
    finally:
        end_screen(&screen)
    return 0


cdef void best_slots(Partition partition, const Screen *screen, double *cost, double *room,
                     Py_ssize_t *found) noexcept nogil:
    """Of each row of a chunk; most are much nearer to one slot than to any other."""
    cdef Chunk *chunk = screen.chunk
    cdef int[CHUNK] nearest
    cdef float[CHUNK] second
    cdef Py_ssize_t i
    cdef double least, elsewhere
    cdef Row row
    two_least_bounds(chunk.bound, screen.open, screen.n_open, nearest, second)
    find_join_ceilings(screen, partition, chunk, nearest)
    for i in range(chunk.n_rows):
        found[i] = nearest[i]
        if second[i] >= with_rounding(chunk.stay_ceiling[i] + TIE):
            continue
        row = partition.row_into(chunk.index[i], room)
        if not second[i] >= with_rounding(partition.cost_in(&row, nearest[i]) + TIE):
            least = score_open_slots(
                partition, &row, screen, chunk.bound + i, INFINITY, cost, &elsewhere)
            found[i] = first_within(cost, partition.component.n_slots, least + TIE)


cdef room_of(Rows X):
    """Room for a row that has to be copied."""
    return double_array(X.n_columns + 1)
