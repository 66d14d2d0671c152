"""Visits of rows that have been screened.

A visit scores a row only in slots that its bounds do not rule out. When the row moves, the bounds
in its two slots are found anew. A row that does not move improves its bounds by the costs found.
"""

from libc.math cimport INFINITY, fabs

from dpmlite.core._constants cimport HUGE_COST, LOG_2, SINGLE_ERROR, TIE, UNPLACED
from dpmlite.core._rows cimport PREFETCH_DISTANCE
from dpmlite.core._simd cimport inlined_double
from dpmlite.families._product cimport Product
from dpmlite.families._slot_vectors cimport first_within, padded
from dpmlite.sweeps._screened_slots cimport list_open_slots
from dpmlite.sweeps._screening cimport rebound_slot, with_rounding
from dpmlite.sweeps._screening_bounds cimport CHUNK, Chunk

cdef enum:
    MANY_SLOTS = 64  # slots whose bounds take longer to compare than a row's cost to stay to bound
    FEW_SLOTS = 32   # slots in which a row is scored sooner than screened


cdef bint pays_to_screen(Partition partition, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Return False for rows first..last-1 without labels, which all move, and few slots."""
    cdef Py_ssize_t i
    if partition.component.n_slots > FEW_SLOTS:
        return True
    for i in range(first, last):
        if partition.label[i] != UNPLACED:
            return True
    return False


cdef bint visit(Partition partition, Screen *screen, Py_ssize_t j, bint tighten) except -1 nogil:
    """Visit row j of the screen's chunk; return whether it moved. If not, `tighten` its bounds."""
    cdef Chunk *chunk = screen.chunk
    cdef Py_ssize_t i = chunk.index[j], own = partition.label[i]
    cdef double ceiling = stay_ceiling_of(partition, screen, j)
    cdef bint moved
    if not chunk.least_bound[j] < with_rounding(ceiling):
        return False
    if partition.discount > 0.0:  # what the empty slot costs depends on whether the row is alone
        moved = visit_in_all_slots(partition, i, True)
    else:
        moved = visit_open_slots(partition, screen, j, ceiling, tighten)
    if moved and screen.capacity >= partition.component.n_slots:
        rebound_changed(partition, screen, own, partition.label[i])
    return moved


cdef bint visit_open_slots(Partition partition, const Screen *screen, Py_ssize_t j,
                           double ceiling, bint tighten) except -1 nogil:
    """Visit row j of the chunk, which costs at most `ceiling` in its own slot."""
    cdef Chunk *chunk = screen.chunk
    cdef Py_ssize_t i = chunk.index[j]
    cdef Row row = partition.row(i)
    cdef double best, elsewhere
    if screen.is_part:
        tighten_by_parts(partition, screen, &row, j, with_rounding(ceiling))
    best = score_open_slots(
        partition, &row, screen, chunk.bound + j, ceiling, partition.cost, &elsewhere)
    if move_if_better(partition, i, ceiling, best, False):
        return True
    if tighten and not screen.has_weights:
        tighten_bounds(screen, j, partition.quick_stay_cost(i, &row), elsewhere)
    return False


cdef void tighten_by_parts(Partition partition, const Screen *screen, const Row *row,
                           Py_ssize_t j, double limit) noexcept nogil:
    """Add to the bounds of row j of a product what its discrete parts cost in each slot.

    The chunk's bounds have only the least that they cost in any slot.
    """
    cdef Chunk *chunk = screen.chunk
    cdef double *bound = partition.cost
    cdef Py_ssize_t i, k
    for k in range(padded(screen.n_slots)):
        bound[k] = INFINITY
    for i in range(screen.n_open):
        k = screen.open[i]
        bound[k] = chunk.bound[k * CHUNK + j] - chunk.beside[j]
    (<Product> partition.component).add_costs_beside(row, limit, bound)
    for i in range(screen.n_open):
        k = screen.open[i]
        chunk.bound[k * CHUNK + j] = <float> min(
            bound[k] - SINGLE_ERROR * fabs(bound[k]), HUGE_COST)


cdef double stay_ceiling_of(Partition partition, const Screen *screen,
                            Py_ssize_t j) except? -1.0 nogil:
    """Return an upper bound of what it costs row j of the chunk to stay.

    The chunk's bound is loose with many columns and small clusters. Where there are many slots, a
    tighter one costs less than to compare the row's bounds in all of them.
    """
    cdef double ceiling = screen.chunk.stay_ceiling[j], tighter
    if ceiling < HUGE_COST and screen.n_open < MANY_SLOTS:
        return ceiling
    tighter = partition.stay_ceiling(screen.chunk.index[j])
    if tighter >= ceiling:
        return ceiling
    tighten_ceiling(screen, j, tighter)
    return tighter


cdef void tighten_bounds(const Screen *screen, Py_ssize_t j, double stay,
                         double elsewhere) noexcept nogil:
    """Replace bounds of row j by costs found, where these are tighter."""
    cdef Chunk *chunk = screen.chunk
    tighten_ceiling(screen, j, stay)
    elsewhere -= SINGLE_ERROR * fabs(elsewhere)
    if elsewhere > chunk.least_bound[j]:
        chunk.least_bound[j] = <float> elsewhere


cdef void tighten_ceiling(const Screen *screen, Py_ssize_t j, double ceiling) noexcept nogil:
    """Replace the ceiling of row j, if all its factors 1 - w_d are at least 1/2 (_slot_drift.pyx)."""
    cdef Chunk *chunk = screen.chunk
    cdef Py_ssize_t k = chunk.label[j]
    # With weights, drift is that of lines, not of costs.
    if k == UNPLACED or screen.has_weights or screen.has_gaps:
        return
    if ceiling - screen.slot[k].stay < LOG_2 * screen.slot[k].member_power:
        chunk.stay_ceiling[j] = <float> (ceiling + SINGLE_ERROR * fabs(ceiling))


cdef void rebound_changed(Partition partition, Screen *screen, Py_ssize_t left,
                          Py_ssize_t joined) noexcept nogil:
    """A row has left a slot, or had no label, and joined another."""
    cdef bint emptied = left != UNPLACED and partition.size[left] == 0
    if left != UNPLACED and not emptied:
        rebound_slot(screen, partition, screen.chunk, left)
    rebound_slot(screen, partition, screen.chunk, joined)
    if emptied or partition.size[joined] == 1:
        rebound_open_slots(partition, screen)


cdef void rebound_open_slots(Partition partition, Screen *screen) noexcept nogil:
    """A slot has become empty, or a cluster was founded: the empty slot may be another one."""
    rebound_slot(screen, partition, screen.chunk, list_open_slots(screen, partition))


cdef inline inlined_double cost_in(Partition partition, const Screen *screen, const Row *row,
                                   Py_ssize_t k) noexcept nogil:
    """Return what a row of any weight costs in a slot that is not its own."""
    if row.weight == 1.0 or screen.weights.of_one_row:
        return partition.cost_in(row, k)
    return partition.any_cost_in(row, k)


cdef double score_open_slots(Partition partition, const Row *row, const Screen *screen,
                             const float *bound, double stay, double *cost,
                             double *elsewhere) noexcept nogil:
    """Score a row in the open slots that its bounds do not rule out; return the least cost.

    That is `stay` if none is below. bound[k * CHUNK] is the bound in slot k, and cost[k] becomes
    infinity where the row is not scored.
    The row costs at least `elsewhere` in every slot but its own.
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
    if least >= with_rounding(best):
        return best
    cost[nearest] = others = cost_in(partition, screen, row, nearest)
    best = min(best, cost[nearest])
    limit = with_rounding(best + TIE)
    for j in range(screen.n_open):
        k = screen.open[j]
        if k == nearest:
            continue
        below = bound[k * CHUNK]
        if not below >= limit:
            below = cost[k] = cost_in(partition, screen, row, k)
            best = min(best, below)
            limit = with_rounding(best + TIE)
        others = min(others, below)
    elsewhere[0] = others
    return best


cdef bint move_if_better(Partition partition, Py_ssize_t i, double ceiling, double best,
                         bint rescore) except -1 nogil:
    """Move row i if its best cost elsewhere is below its cost to stay; return whether it moved.

    `ceiling` is an upper bound of the cost to stay.
    """
    if not best < ceiling - TIE:
        return False
    cdef Py_ssize_t own = partition.label[i]
    cdef double stay = partition.stay_cost(i)
    if own != UNPLACED and partition.size[own] == 1:
        # Its slot is as good as an empty one, whose cost was rounded as that of the others.
        stay = min(stay, partition.cost[partition.component.n_slots - 1])
    if not best < stay - TIE:
        return False
    move_to_best(partition, i, best, stay, rescore)
    return True


cdef int move_to_best(Partition partition, Py_ssize_t i, double best, double stay,
                      bint rescore) except -1 nogil:
    """Move row i to the lowest slot among those that cost the least.

    `rescore` finds the cost there again. Costs of many slots at once may be rounded differently,
    and joints must not depend on whether rows were screened.
    """
    cdef Py_ssize_t k = first_within(partition.cost, partition.component.n_slots, best + TIE)
    cdef Row row = partition.row(i)
    cdef double cost = partition.any_cost_in(&row, k) if rescore else partition.cost[k]
    return partition.move_row(i, k, cost if stay == INFINITY else cost - stay)


cdef Py_ssize_t visit_unscreened(Partition partition, Py_ssize_t first, Py_ssize_t last,
                                 bint rescore) except -1 nogil:
    """Visit rows first..last-1, each in all slots; return how many moved."""
    cdef Py_ssize_t i, n_moves = 0
    for i in range(first, last):
        partition.prefetch(i + PREFETCH_DISTANCE)
        n_moves += visit_in_all_slots(partition, i, rescore)
    return n_moves


cdef bint visit_in_all_slots(Partition partition, Py_ssize_t i, bint rescore) except -1 nogil:
    """Visit row i, which is scored in all slots; return whether it moved."""
    cdef double limit = partition.limit_of(i)
    return move_if_better(partition, i, limit, partition.score(i, limit), rescore)
