"""Screening: which rows a sweep need not visit, from bounds of what they cost."""

from libc.math cimport NAN
from libc.string cimport memset

from dpmlite.core._constants cimport HUGE_COST, UNPLACED
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport inlined_void
from dpmlite.sweeps._screened_slots cimport (
    begin_screen, end_screen, load_slot, load_slots_if_needed)
from dpmlite.sweeps._screening_beside cimport add_beside, add_beside_to_stay
from dpmlite.sweeps._screening_bounds cimport (
    CHUNK, SlotBound, StayTerms, add_costs_beside, clip_values, compare_bounds, find_stay_ceilings,
    find_stays, line_bounds, log_bounds, standardise_into_chunk)
from dpmlite.sweeps._screening_gaps cimport (
    bound_slot_with_gaps, mark_gaps, set_stay_terms_with_gaps)
from dpmlite.sweeps._screening_weights cimport (
    bound_weighted_slot, find_new_floors, read_weights, set_weighted_join_terms,
    set_weighted_stay_terms)


def screen(Partition partition, Py_ssize_t first, Py_ssize_t last):
    """Whether each of the rows first..last-1 is known to stay; False also if that is not known."""
    if not 0 <= first <= last <= partition.n_rows:
        raise IndexError(f"rows must be in 0..{partition.n_rows}, got {first}..{last}")
    cdef Screen s
    cdef Py_ssize_t j, row = first
    stays = [False] * (last - first)
    begin_screen(&s, partition)
    try:
        while s.t != NULL and row < last:
            load_slots_if_needed(&s, partition)
            take_rows(s.chunk, row, partition.n_rows)
            screen_chunk(&s, partition, s.chunk)
            for j in range(min(s.chunk.n_rows, last - row)):
                stays[row - first] = bool(s.chunk.stays[j])
                row += 1
    finally:
        end_screen(&s)
    return stays


cdef void take_rows(Chunk *chunk, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    """Fill a chunk with the rows from `first` on, up to last - 1."""
    cdef Py_ssize_t j
    chunk.n_rows = max(min(last - first, <Py_ssize_t> CHUNK), <Py_ssize_t> 0)
    for j in range(chunk.n_rows):
        chunk.index[j] = first + j
    chunk.end = first + chunk.n_rows


cdef void screen_chunk(const Screen *s, Partition partition, Chunk *chunk) noexcept nogil:
    """Find the bounds of a chunk's rows in all open slots."""
    screen_near(s, partition, chunk, s.open, s.n_open, HUGE_COST)


cdef void screen_near(const Screen *s, Partition partition, Chunk *chunk, const Py_ssize_t *slots,
                      Py_ssize_t n, float elsewhere) noexcept nogil:
    """Find the bounds of a chunk's rows in n slots, where their own are among these.

    In all others they cost at least `elsewhere`.
    """
    cdef Py_ssize_t i, k
    read_rows(s, partition, chunk)
    for k in range(n):
        bound_slot(s, chunk, slots[k])
    for i in range(chunk.n_rows):
        separate_own_bound(s, chunk, i)
    if s.is_part:
        add_beside(partition, chunk, slots, n)
    find_stays(chunk, slots, n, elsewhere)


cdef void read_rows(const Screen *s, Partition partition, Chunk *chunk) noexcept nogil:
    """Read the standardised values and labels of a chunk's rows."""
    cdef Py_ssize_t i, D = s.t.n_columns
    cdef Row row
    if chunk.n_rows < CHUNK:
        memset(chunk.u, 0, D * CHUNK * sizeof(float))
    for i in range(chunk.n_rows):
        partition.prefetch(chunk.index[i])
    for i in range(chunk.n_rows):
        row = partition.row_into(chunk.index[i], chunk.row)
        chunk.label[i] = <int> partition.label[chunk.index[i]]
        standardise_into_chunk(s.t, row.values + s.first_column, chunk.u + i)
    if s.has_gaps:
        mark_gaps(chunk, D)
    chunk.max_value = clip_values(chunk.u, D)
    if s.has_weights:
        read_weights(&s.weights, partition, chunk)
        if not s.has_gaps:
            find_new_floors(&s.weights, partition, chunk)


cdef void bound_slot(const Screen *s, Chunk *chunk, Py_ssize_t k) noexcept nogil:
    """Find the bounds of a chunk's rows in slot k, as if all rows were new to it."""
    cdef const SlotBound *slot = &s.slot[k]
    cdef Py_ssize_t D = s.t.n_columns
    cdef const float *slope = s.slope + s.n_terms * k * D
    cdef float floor
    if s.has_gaps:
        bound_slot_with_gaps(&s.with_gaps[k], slope, chunk, D, k)
        return
    if s.has_weights:
        bound_weighted_slot(&s.weighted[k], chunk, slope, D, chunk.bound + k * CHUNK)
        return
    floor = <float> (slot.floor - chunk.max_value * slot.floor_error)
    if slot.line_slope > 0.0:
        line_bounds(chunk.u, D, slope, <float> slot.line_slope, <float> slot.line_end, floor,
                    chunk.bound + k * CHUNK)
    else:
        log_bounds(chunk.u, D, slope, <float> slot.power, floor, chunk.bound + k * CHUNK)


cdef void rebound_slot(Screen *s, Partition partition, Chunk *chunk, Py_ssize_t k) noexcept nogil:
    """Slot k has changed: find the bounds in it anew.

    Its older bounds still count in `least_bound`: some rows are visited in vain, none is missed.
    """
    load_slot(s, partition, k)
    bound_slot(s, chunk, k)
    if separate_own_bounds(s, chunk, k):
        if s.is_part:
            add_beside_to_stay(partition, chunk, k)
        find_stay_ceilings(&chunk.stay_terms, chunk.own_bound, chunk.stay_ceiling)
    if s.is_part:
        add_costs_beside(chunk.beside, chunk.bound + k * CHUNK)
    compare_bounds(chunk, &k, 1)


cdef bint separate_own_bounds(const Screen *s, Chunk *chunk, Py_ssize_t k) noexcept nogil:
    """Separate the bounds of the rows of slot k; return whether there are such rows.

    There are few: masked vector stores would take as long.
    """
    cdef Py_ssize_t i
    cdef bint found = False
    for i in range(chunk.n_rows):
        if chunk.label[i] == k:
            separate_own_bound(s, chunk, i)
            found = True
    return found


cdef inline inlined_void separate_own_bound(const Screen *s, Chunk *chunk,
                                            Py_ssize_t i) noexcept nogil:
    """Take row i's bound in its own slot out of the others; a row without a label has none."""
    cdef Py_ssize_t k = chunk.label[i]
    if k == UNPLACED:
        chunk.stay_terms.ratio[i] = NAN  # then the ceiling is HUGE_COST
        return
    if not s.has_gaps:  # else they are apart
        chunk.own_bound[i] = chunk.bound[k * CHUNK + i]
    chunk.bound[k * CHUNK + i] = HUGE_COST
    set_stay_terms(s, chunk, i, k)


cdef void find_join_ceilings(const Screen *s, Partition partition, Chunk *chunk,
                             const int *slots) noexcept nogil:
    """Find upper bounds of what it costs each row, which has no label, to join one of the slots.

    prod_d (1 + t_d) <= exp(sum_d t_d) <= exp(P - 1), and P - 1 <= -log(1 - (P - 1)): the bound of
    staying with r = 1 (_screening_bounds.pyx) is no less.
    """
    cdef StayTerms *terms = &chunk.stay_terms
    cdef Py_ssize_t i, k
    for i in range(CHUNK):
        k = slots[i]
        chunk.own_bound[i] = chunk.bound[k * CHUNK + i]
        if s.has_weights:
            set_weighted_join_terms(&s.weighted[k], chunk, i)
            continue
        set_stay_terms(s, chunk, i, k)
        terms.stay[i] = <float> (-s.t.constant[k] - partition.log_weight[k])
        terms.power[i], terms.ratio[i] = <float> s.t.power[k], 1.0
    find_stay_ceilings(terms, chunk.own_bound, chunk.stay_ceiling)


cdef inline inlined_void set_stay_terms(const Screen *s, Chunk *chunk, Py_ssize_t i,
                                        Py_ssize_t k) noexcept nogil:
    """Set the terms of what it costs row i of a chunk to stay in slot k."""
    cdef StayTerms *terms = &chunk.stay_terms
    cdef const SlotBound *slot = &s.slot[k]
    if s.has_gaps:
        set_stay_terms_with_gaps(&s.with_gaps[k], s.slope + s.n_terms * k * s.t.n_columns, chunk,
                                 s.t.n_columns, i)
        return
    if s.has_weights:
        set_weighted_stay_terms(&s.weighted[k], chunk, i)
        return
    terms.base[i] = <float> (slot.base + chunk.max_value * slot.base_error)
    terms.per_power[i], terms.stay[i] = <float> slot.per_power, <float> slot.stay
    terms.power[i], terms.ratio[i] = <float> slot.member_power, <float> slot.member_ratio
    terms.max_x[i] = <float> slot.max_x
