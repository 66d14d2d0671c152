"""Screening: which rows a sweep need not visit, from bounds of what they cost."""

from libc.math cimport INFINITY, NAN
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from dpmlite.core._constants cimport (
    HUGE_COST, LOG_2, MAX_POWER, MAX_SCREENED_WEIGHT, SINGLE_EPSILON, SINGLE_ERROR, UNPLACED)
from dpmlite.core._atomics cimport CACHE_LINE
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport inlined_void
from dpmlite.families._product cimport Product, densities_in
from dpmlite.families._screenable cimport densities_of
from dpmlite.sweeps._screening_beside cimport add_beside, add_beside_to_stay
from dpmlite.sweeps._screening_bounds cimport (
    CHUNK, StayTerms, add_costs_beside, add_own_log_bounds, choose_line, clip_values,
    compare_bounds, copy_to_single, find_stay_ceilings, find_stays, line_bounds, log_bounds,
    standardise_into_chunk)
from dpmlite.sweeps._screening_gaps cimport (
    N_GAP_TERMS, bound_slot_with_gaps, densities_with_gaps, load_slot_with_gaps, mark_gaps,
    set_stay_terms_with_gaps)
from dpmlite.sweeps._screening_weights cimport (
    begin_weights, bound_weighted_own_slots, bound_weighted_slot, load_weighted_slot, read_weights,
    set_weighted_join_terms, set_weighted_stay_terms)


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


cdef bint can_be_screened(Partition partition) noexcept nogil:
    """Return whether there are bounds that can be remembered, those of Student-t families."""
    return densities_to_screen(partition) != NULL


cdef const Densities *densities_to_screen(Partition partition) noexcept nogil:
    """Return densities of Student-t families; NULL for others."""
    return usual_densities(partition, densities_of(partition.component))


cdef const Densities *usual_densities(Partition partition, const Densities *t) noexcept nogil:
    """Return densities; NULL if weights or prior are too unusual, or there is a discount."""
    # Under a discount, each new cluster changes what all rows pay to found one: no bound lasts.
    if (t == NULL or partition.discount > 0.0 or not t.power[0] < MAX_POWER
            or not partition.X.most_weight < MAX_SCREENED_WEIGHT):
        return NULL
    return t


cdef void begin_screen(Screen *s, Partition partition) noexcept nogil:
    """Prepare to screen rows, also those of a product, which `can_be_screened` does not count."""
    s.t = densities_to_screen(partition)
    s.first_column, s.is_part = 0, False
    s.has_weights = partition.X.row_weights != NULL
    if s.t == NULL and not s.has_weights:
        s.t = usual_densities(partition, densities_in(partition.component, &s.first_column))
        s.is_part = s.t != NULL
    s.has_gaps = False
    if s.t == NULL:
        s.t = densities_with_gaps(partition)
        s.has_gaps = s.t != NULL
    s.n_terms = N_GAP_TERMS if s.has_gaps else 2
    s.weights.of_one_row = False
    s.n_slots = s.capacity = s.n_unscreened = 0
    s.memory = NULL


cdef void end_screen(Screen *s) noexcept nogil:
    free(s.memory)


cdef int load_slots_if_needed(Screen *s, Partition partition) except -1 nogil:
    """Load all slots if there is not enough memory for them; the chunk's bounds are lost then."""
    cdef Py_ssize_t k
    if s.capacity >= partition.component.n_slots:
        return 0
    allocate_screen(s, partition.component.n_slots, partition.X.n_columns)
    list_open_slots(s, partition)
    if not s.has_gaps:
        find_high_cost(s, partition)
    if s.has_weights:
        begin_weights(&s.weights, partition)
    for k in range(s.n_open):
        load_slot(s, partition, s.open[k])
    return 0


cdef int allocate_screen(Screen *s, Py_ssize_t n_slots, Py_ssize_t row_length) except -1 nogil:
    """Allocate memory for n_slots and half as many again, and for a chunk."""
    cdef Py_ssize_t i, D = s.t.n_columns
    s.capacity = (n_slots + n_slots // 2 + 15) & ~(<Py_ssize_t> 15)
    free(s.memory)
    s.memory = malloc(
        2 * CACHE_LINE
        + s.capacity * (sizeof(SlotBound) + sizeof(WeightedSlot) + sizeof(GapSlot)
                        + sizeof(Py_ssize_t))
        + ((2 * D + s.capacity) * CHUNK + s.n_terms * D * s.capacity) * sizeof(float)
        + sizeof(Chunk) + row_length * sizeof(double))
    if s.memory == NULL:
        s.capacity = 0
        with gil:
            raise MemoryError(f"no memory for bounds of {n_slots} clusters")
    cdef float *numbers = <float *> (
        (<uintptr_t> s.memory + CACHE_LINE - 1) & ~(<uintptr_t> (CACHE_LINE - 1)))
    s.slope = numbers + (2 * D + s.capacity) * CHUNK
    s.slot = <SlotBound *> (s.slope + s.n_terms * D * s.capacity)
    s.weighted = <WeightedSlot *> (s.slot + s.capacity)
    s.with_gaps = <GapSlot *> (s.weighted + s.capacity)
    s.open = <Py_ssize_t *> (s.with_gaps + s.capacity)
    s.chunk = <Chunk *> (s.open + s.capacity)
    s.chunk.u, s.chunk.has_value = numbers, numbers + D * CHUNK
    s.chunk.bound = numbers + 2 * D * CHUNK
    s.chunk.row = <double *> (s.chunk + 1)
    s.chunk.n_rows = 0
    for i in range(CHUNK):
        s.chunk.weight[i] = 1
    return 0


cdef void find_high_cost(Screen *s, Partition partition) noexcept nogil:
    """Set a cost that few rows exceed: the highest stay cost at a slot's mean, D and 16 nats.

    On the average, a row pays D / 2 more than at the mean.
    """
    cdef Py_ssize_t j, k
    cdef double stay
    s.high_cost = -INFINITY
    for j in range(s.n_open):
        k = s.open[j]
        stay = -s.t.member_constant[k] - partition.light_member_weight[k]
        if s.is_part:
            stay += (<Product> partition.component).mean_cost_beside(k)
        if s.t.member_ratio[k] > 0.0 and stay > s.high_cost:  # neither is NaN
            s.high_cost = stay
    s.high_cost += s.t.n_columns + 16.0


cdef Py_ssize_t list_open_slots(Screen *s, Partition partition) noexcept nogil:
    """List the slots that a row may go to; return the empty one among them.

    A row that founds a cluster takes the first empty slot.
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


cdef void load_slot(Screen *s, Partition partition, Py_ssize_t k) noexcept nogil:
    """Read slot k, which is new or has changed; bounds of rows in it are out of date."""
    cdef const Densities *t = s.t
    cdef Py_ssize_t D = t.n_columns
    cdef SlotBound *slot = &s.slot[k]
    cdef float *slope = s.slope + s.n_terms * k * D
    if s.has_gaps:
        load_slot_with_gaps(&s.with_gaps[k], slope, partition, k)
        return
    cdef double slopes = copy_to_single(slope, t.slot_slope + k * t.n_along, D)
    cdef double shifts = copy_to_single(slope + D, t.slot_shift + k * t.n_along, D)
    if s.has_weights:
        load_weighted_slot(&s.weighted[k], &s.weights, partition, k, slopes, shifts)
        return
    cdef double fixed = -t.constant[k] - partition.log_weight[k]
    cdef double error = SINGLE_EPSILON * (2 * D + 16 + 3.0 * shifts)
    cdef double error_per_value = SINGLE_EPSILON * 3.0 * slopes
    slot.power = LOG_2 * t.power[k]
    slot.floor_error = t.power[k] * error_per_value
    slot.floor = fixed - SINGLE_ERROR * fabs(fixed) - t.power[k] * error
    choose_line(slot, t.power[k], s.high_cost - fixed)
    slot.per_power = 1.001 / (slot.line_slope if slot.line_slope > 0.0 else t.power[k])
    slot.base = slot.per_power * (SINGLE_ERROR * fabs(slot.floor) - slot.floor) + 2.0 * error
    slot.base_error = 1.001 * slot.per_power * slot.floor_error + 2.0 * error_per_value
    slot.stay = -t.member_constant[k] - partition.light_member_weight[k]
    slot.member_power = t.power[k] - 1.0
    slot.member_ratio = t.member_ratio[k]


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
        add_beside(s.slot, partition, chunk, slots, n)
    find_stays(chunk, slots, n, elsewhere)


cdef void screen_against(const Screen *s, Partition partition, Chunk *chunk,
                         const Py_ssize_t *slots, Py_ssize_t n) noexcept nogil:
    """Find the bounds of a chunk's rows, which all have labels, in n slots and their own."""
    cdef Py_ssize_t i, k
    read_rows(s, partition, chunk)
    bound_own_slots(s, chunk, slots[0])
    for k in range(n):
        bound_slot(s, chunk, slots[k])
        for i in range(chunk.n_rows):
            if chunk.label[i] == slots[k]:
                chunk.bound[slots[k] * CHUNK + i] = HUGE_COST
    find_stays(chunk, slots, n, HUGE_COST)


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


cdef void bound_own_slots(const Screen *s, Chunk *chunk, Py_ssize_t any_slot) noexcept nogil:
    """Find each row's bound in its own slot alone; `any_slot` fills up the chunk."""
    cdef Py_ssize_t[CHUNK] own
    cdef Py_ssize_t[CHUNK] offset
    cdef float[CHUNK] power
    cdef Py_ssize_t i, k, D = s.t.n_columns
    for i in range(CHUNK):
        own[i] = chunk.label[i] if i < chunk.n_rows else any_slot
    if s.has_weights:
        bound_weighted_own_slots(s.weighted, own, chunk, s.slope, D)
        return
    for i in range(CHUNK):
        k = own[i]
        set_stay_terms(s, chunk, i, k)
        offset[i], power[i] = 2 * k * D, <float> s.slot[k].power
        chunk.own_bound[i] = <float> (s.slot[k].floor - chunk.max_value * s.slot[k].floor_error)
    add_own_log_bounds(chunk.u, D, s.slope, offset, power, chunk.own_bound)


cdef void rebound_slot(Screen *s, Partition partition, Chunk *chunk, Py_ssize_t k) noexcept nogil:
    """Slot k has changed: find the bounds in it anew.

    Its older bounds still count in `least_bound`: some rows are visited in vain, none is missed.
    """
    load_slot(s, partition, k)
    bound_slot(s, chunk, k)
    if separate_own_bounds(s, chunk, k):
        if s.is_part:
            add_beside_to_stay(s.slot, partition, chunk, k)
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
    if s.has_weights:
        set_weighted_stay_terms(&s.weighted[k], chunk, i)
        return
    if s.has_gaps:
        set_stay_terms_with_gaps(&s.with_gaps[k], s.slope + s.n_terms * k * s.t.n_columns, chunk,
                                 s.t.n_columns, i)
        return
    terms.base[i] = <float> (slot.base + chunk.max_value * slot.base_error)
    terms.per_power[i], terms.stay[i] = <float> slot.per_power, <float> slot.stay
    terms.power[i], terms.ratio[i] = <float> slot.member_power, <float> slot.member_ratio
    terms.max_x[i] = <float> slot.max_x
