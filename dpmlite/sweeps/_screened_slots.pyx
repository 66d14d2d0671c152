"""What screening holds of slots: memory, which slots are open, and the terms of their bounds."""

from libc.math cimport INFINITY, fabs
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc

from dpmlite.core._atomics cimport CACHE_LINE
from dpmlite.core._constants cimport (
    LOG_2, MAX_POWER, MAX_SCREENED_WEIGHT, SINGLE_EPSILON, SINGLE_ERROR)
from dpmlite.families._component cimport Component
from dpmlite.families._incomplete_normal_gamma_statistics cimport IncompleteStatistics
from dpmlite.families._product cimport Product, part_with_densities
from dpmlite.families._screenable cimport Screenable, densities_of
from dpmlite.families._student_t cimport Densities
from dpmlite.sweeps._screening_bounds cimport CHUNK, choose_line, copy_to_single
from dpmlite.sweeps._screening_gaps cimport (
    N_GAP_TERMS, begin_gaps, densities_with_gaps, load_slot_with_gaps)
from dpmlite.sweeps._screening_weights cimport (
    begin_weights, find_new_floors, load_weighted_slot)


cdef bint can_be_screened(Partition partition) noexcept nogil:
    """Return whether there are bounds that can be remembered, those of Student-t families."""
    # Under a discount, each new cluster changes what all rows pay to found one: no bound lasts.
    return (partition.discount == 0.0
            and usual_densities(partition, densities_of(partition.component)) != NULL)


cdef const Densities *usual_densities(Partition partition, const Densities *t) noexcept nogil:
    """Return densities; NULL if weights or prior are too unusual."""
    if (t == NULL or not t.power[0] < MAX_POWER
            or not partition.X.most_weight < MAX_SCREENED_WEIGHT):
        return NULL
    return t


cdef bint rows_have_bounds(Partition partition) noexcept nogil:
    """Return whether rows can be screened, if only for once."""
    cdef Screen s
    begin_screen(&s, partition)
    return s.t != NULL


cdef void begin_screen(Screen *s, Partition partition) noexcept nogil:
    """Prepare to screen rows, also those of a product, which `can_be_screened` does not count."""
    s.first_column = 0
    s.part = part_with_densities(partition.component, &s.first_column)
    s.is_part = s.part != NULL
    if not s.is_part:
        s.part = <void *> partition.component
    s.has_weights, s.has_gaps = partition.X.row_weights != NULL, False
    s.t = usual_densities(partition, densities_of(<Component> s.part))
    if s.t == NULL:
        s.t = densities_with_gaps(partition, <Component> s.part)
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
    if s.has_gaps:
        begin_gaps(&s.weights, partition)
    elif s.has_weights:
        begin_weights(&s.weights, partition, <Screenable> s.part)
    else:
        find_high_cost(s, partition)
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


cdef void weigh_new(Screen *s, Partition partition) noexcept nogil:
    """Weigh a new cluster, which depends on how many there are under a discount."""
    partition.weigh_new(partition.count_clusters())
    if s.has_weights and not s.has_gaps:
        begin_weights(&s.weights, partition, <Screenable> s.part)
        find_new_floors(&s.weights, partition, s.chunk)


cdef void load_slot(Screen *s, Partition partition, Py_ssize_t k) noexcept nogil:
    """Read slot k, which is new or has changed; bounds of rows in it are out of date."""
    cdef const Densities *t = s.t
    cdef Py_ssize_t D = t.n_columns
    cdef SlotBound *slot = &s.slot[k]
    cdef float *slope = s.slope + s.n_terms * k * D
    if partition.discount > 0.0 and partition.component.n[k] == 0.0:
        weigh_new(s, partition)
    if s.has_gaps:
        load_slot_with_gaps(&s.with_gaps[k], slope, &s.weights, partition,
                            <IncompleteStatistics> s.part, k)
        return
    cdef double slopes = copy_to_single(slope, t.slot_slope + k * t.n_along, D)
    cdef double shifts = copy_to_single(slope + D, t.slot_shift + k * t.n_along, D)
    if s.has_weights:
        load_weighted_slot(&s.weighted[k], &s.weights, partition, <Screenable> s.part, k, slopes,
                           shifts)
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
