"""Kernel of assignment.py: the most probable cluster of each row.

Families that have bounds screen a chunk of rows against all slots at once; others score row by row.
"""

from array import array

from libc.math cimport INFINITY, log

from dpmlite.core._constants cimport TIE, UNPLACED
from dpmlite.core._memory cimport double_array
from dpmlite.core._special cimport log_rising_c
from dpmlite.core._work_parts cimport part_start
from dpmlite.families._incomplete_normal_gamma_statistics cimport IncompleteStatistics
from dpmlite.families._normal_inverse_wishart_statistics cimport WishartStatistics
from dpmlite.families._product cimport Product
from dpmlite.families._screenable cimport Screenable
from dpmlite.families._slot_vectors cimport first_within, padded
from dpmlite.partition._log_weights cimport log_weight, log_weights_of
from dpmlite.partition._partition cimport Partition, partition_to_score_in
from dpmlite.partition._partition_costs cimport just_above
from dpmlite.sweeps._screened_slots cimport (
    Screen, begin_screen, end_screen, load_slots_if_needed, rows_have_bounds)
from dpmlite.sweeps._screening cimport find_join_ceilings, screen_chunk, take_rows, with_rounding
from dpmlite.sweeps._screening_bounds cimport CHUNK, Chunk, two_least_bounds
from dpmlite.sweeps._visits cimport score_open_slots, tighten_by_parts
from dpmlite.sweeps._weighted_visits cimport (
    find_lines_to_join, has_lines, least_cost_to_join)

from dpmlite.core._rows import as_rows
from dpmlite.core.checks import check_discount
from dpmlite.core.threads import on_threads, thread_limit

cdef enum:
    MIN_PART_SCORES = 1048576  # rows x columns x slots of a part that is worth waking a thread for
    PARTS_PER_THREAD = 8       # besides two of the small parts at the end


cdef class Mixture:
    """A mixture of the slots of a component: scores of rows of a table, the terms of eq. (17)."""

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
        """Set the log weight of each slot, before any row is scored."""
        cdef Py_ssize_t k
        if len(log_weights) != self.n_slots:
            raise ValueError(f"log_weights must have {self.n_slots} values, got {len(log_weights)}")
        self.log_weight = array("d", [-INFINITY] * padded(self.n_slots))
        self.cost = array("d", self.log_weight)
        for k in range(self.n_slots):
            self.log_weight[k] = log_weights[k]
        return 0

    cdef double score(self, Py_ssize_t i) noexcept nogil:
        """Set cost[k] to -log of the term of slot k for row i; return the least cost."""
        cdef Row row = self.X.row(self.rows[i] if self.rows is not None else i)
        return self.component.costs_below(&row, &self.log_weight[0], INFINITY, &self.cost[0])

    cdef int assign(self, Component component, Py_ssize_t first, Py_ssize_t last,
                    Py_ssize_t[::1] out) except -1:
        """Write the labels of rows first..last-1; no other thread may use `component`."""
        cdef double[::1] cost = array("d", self.cost), room = room_of(self.X)
        cdef double[::1] start = double_array(cost.shape[0]), per_weight = double_array(cost.shape[0])
        cdef bint by_lines = has_lines(component, self.X)
        cdef Py_ssize_t i, k
        cdef double least
        cdef Row row
        with nogil:
            if by_lines:
                find_lines_to_join(<WishartStatistics> component, self.X, &self.log_weight[0],
                                   &start[0], &per_weight[0])
            for i in range(first, last):
                row = self.X.row_into(self.rows[i] if self.rows is not None else i, &room[0])
                if by_lines:
                    least = least_cost_to_join(
                        <WishartStatistics> component, &row, &self.log_weight[0], &start[0],
                        &per_weight[0], &cost[0])
                else:
                    least = self.least_cost(component, &row, &cost[0])
                k = first_within(&cost[0], self.n_slots, least + TIE)
                out[i] = k if component.n[k] > 0.0 else UNPLACED
        return 0

    cdef double least_cost(self, Component component, const Row *row,
                           double *cost) noexcept nogil:
        """Set cost[k] and return the least cost; far from it, cost[k] may be a lower bound.

        Rows of a weight other than 1 are scored twice: with bounds, and exactly near the least.
        """
        cdef Py_ssize_t k, nearest = 0
        if row.weight == 1.0 or not component.has_heavy_bounds:
            return component.costs_below(row, &self.log_weight[0], INFINITY, cost)
        component.costs_below(row, &self.log_weight[0], -INFINITY, cost)
        for k in range(self.n_slots):
            nearest = k if cost[k] < cost[nearest] else nearest
        return component.costs_below(
            row, &self.log_weight[0],
            just_above(self.log_weight[nearest], component.score_slot(row, nearest)), cost)


def log_weights(Component component, double alpha, double discount=0.0):
    cdef double n, power = component.power, total = alpha + power * sum(component.counts)
    check_discount(discount, power)
    cdef double log_new = log_weights_of(power).of_new(alpha)
    cdef double log_total = log(total) if power == 1.0 else log_rising_c(total, power) / power
    if discount > 0.0:
        n_clusters = sum([n > 0.0 for n in component.counts])
        log_new = log(alpha + n_clusters * discount)
        return [(log(n - discount) if n > 0.0 else log_new) - log_total for n in component.counts]
    return [(log_weight(n, power) if n > 0.0 else log_new) - log_total for n in component.counts]


def assign(X, Component component, double alpha, Py_ssize_t[::1] out,
           const Py_ssize_t[::1] rows=None, double discount=0.0):
    cdef Py_ssize_t n_threads = thread_limit()
    cdef Mixture mixture = Mixture(X, component, out.shape[0], rows)
    cdef Partition unplaced = None
    if mixture.n_rows >= CHUNK and pays_to_bound(mixture, component):
        unplaced = unplaced_rows(mixture, component, alpha, discount, out)
    if unplaced is None:
        mixture.weigh(log_weights(component, alpha, discount))

    def part(rows):
        if unplaced is None:
            own = component if n_threads == 1 else component.copied()
            mixture.assign(own, rows[0], rows[1], out)
        elif n_threads > 1 and (component.has_scratch or isinstance(component, Product)):
            own = unplaced_rows(mixture, component, alpha, discount, out)
            assign_screened(own, rows[0], rows[1], out)
        else:
            assign_screened(unplaced, rows[0], rows[1], out)

    on_threads(part, parts_of(mixture, n_threads))


cdef bint pays_to_bound(Mixture mixture, Component component):
    """Whether rows that can be screened should be; those of products only if scores take long."""
    if isinstance(component, Product):
        return mixture.X.row_weights != NULL
    return isinstance(component, (Screenable, IncompleteStatistics))


cdef parts_of(Mixture mixture, Py_ssize_t n_threads):
    """(first, last + 1) of the rows of each part of the work; parts are whole chunks."""
    cdef Py_ssize_t n_rows = mixture.n_rows, n_chunks = (n_rows + CHUNK - 1) // CHUNK
    cdef Py_ssize_t n_parts = n_rows * mixture.X.n_columns * mixture.n_slots // MIN_PART_SCORES
    if n_threads == 1 or n_parts < 2:
        return [(0, n_rows)]
    n_parts = min(n_parts, PARTS_PER_THREAD * n_threads) + 2
    ends = [min(n_rows, part_start(i, n_parts, n_chunks) * CHUNK) for i in range(n_parts + 1)]
    return list(zip(ends, ends[1:]))


cdef Partition unplaced_rows(Mixture mixture, Component component, double alpha,
                             double discount, Py_ssize_t[::1] out):
    """A partition of the clusters and of rows without labels, which will be written to `out`.

    None if slots have gaps or there is a discount: these rows cannot be screened.
    """
    cdef Py_ssize_t k, n_clusters = component.n_slots - 1
    for k in range(component.n_slots):
        if (component.n[k] > 0.0) != (k < n_clusters):
            return None
    cdef Partition partition = partition_to_score_in(
        mixture.X, mixture.rows, out, component, alpha, discount)
    if discount > 0.0 or not rows_have_bounds(partition):
        return None
    partition.make_slots(component.n_slots)
    partition.component.copy_all(component)
    for k in range(n_clusters):
        partition.size[k] = 1
        partition.weigh(k)
    return partition


cdef int assign_screened(Partition partition, Py_ssize_t first, Py_ssize_t last,
                         Py_ssize_t[::1] out) except -1:
    """Write the labels of rows first..last-1, where `first` starts a chunk."""
    cdef double[::1] cost = double_array(padded(partition.component.n_slots))
    cdef double[::1] room = room_of(partition.X)
    cdef Py_ssize_t[CHUNK] found
    cdef Screen screen
    cdef Py_ssize_t i
    begin_screen(&screen, partition)
    screen.weights.of_one_row = True  # eq. (18) is of the next row, whatever its weight
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
    """Find the best slot of each row of a chunk.

    For most rows, the bounds show that one slot is better than all others. The others are scored.
    """
    cdef Chunk *chunk = screen.chunk
    cdef int[CHUNK] nearest
    cdef float[CHUNK] second
    cdef Py_ssize_t i
    cdef double least, elsewhere
    cdef Row row
    for i in range(chunk.n_rows if screen.is_part else 0):
        row = partition.row_into(chunk.index[i], room)
        tighten_by_parts(partition, screen, &row, i, INFINITY)
    two_least_bounds(chunk.bound, screen.open, screen.n_open, nearest, second)
    if not (screen.has_gaps or screen.is_part):  # else there are none
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
    """An array for a row that has to be copied."""
    return double_array(X.n_columns + 1)
