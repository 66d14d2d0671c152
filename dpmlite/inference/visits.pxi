"""Visits of rows that have been screened.

A row is scored only in slots that its bounds do not rule out. When it moves, bounds in its two slots
are found anew. What a visit in vain has found out counts too, for bounds say nothing of rows between
large clusters.
"""

cdef enum:
    MANY_SLOTS = 64  # to look at takes longer than to score a row where it is


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
    if not move_if_better(partition, i, stay, best, False):
        if drift is not None and not drift.lost:
            take_costs(screen, chunk, j, partition.quick_stay_cost(i, &row), elsewhere)
        return False
    if screen.room >= partition.component.n_slots:
        follow(partition, screen, chunk, own, partition.label[i])
    return True


cdef double ceiling_of(Partition partition, const Screen *screen, Chunk *chunk,
                       Py_ssize_t j) except? -1.0 nogil:
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
    renew_screen(screen, chunk, k)


cdef bint move_if_better(Partition partition, Py_ssize_t i, double ceiling, double best,
                         bint again) except -1 nogil:
    """Whether row i moved: if the best cost elsewhere is less than what it costs to stay."""
    if not best < ceiling - TIE:
        return False
    cdef Py_ssize_t own = partition.label[i]
    cdef double stay = partition.stay_cost(i)
    if own != UNPLACED and partition.size[own] == 1:
        # As good as the empty slot, whose cost was found in the way of the others, and so rounded.
        stay = min(stay, partition.cost[partition.component.n_slots - 1])
    if not best < stay - TIE:
        return False
    move_to_best(partition, i, best, stay, again)
    return True


cdef int move_to_best(Partition partition, Py_ssize_t i, double best, double stay,
                      bint again) except -1 nogil:
    """To the lowest slot among those that cost the least.

    What it costs there is found `again` if it was found for many slots at once, and so may be rounded
    in another way: joints do not depend on whether rows were screened.
    """
    cdef Py_ssize_t k = first_within(partition.cost, partition.component.n_slots, best + TIE)
    cdef Row row = partition.row(i)
    cdef double cost = partition.any_cost_in(&row, k) if again else partition.cost[k]
    return partition.move_row(i, k, cost if stay == INFINITY else cost - stay)
