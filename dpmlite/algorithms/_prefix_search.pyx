"""Kernel of search.py: A* and beam search among clusterings of prefixes.

What a row costs in a cluster is the same for every clustering that shares it: it is computed once
for each length of prefix and slot, for all slots at once where most of them are asked for. Labels
are read off a trail at the end: each expanded state knows its last row's cluster and its parent.
"""

from array import array

from libc.math cimport INFINITY, log
from libc.stdlib cimport free

from dpmlite.core._constants cimport EMPTY, SPARE
from dpmlite.algorithms._max_queue cimport MaxQueue
from dpmlite.algorithms._shared_clusters cimport NONE, SharedClusters
from dpmlite.core._memory cimport double_array, index_array, resized
from dpmlite.core._rows cimport Row, Rows, inlined_row
from dpmlite.core._simd cimport inlined_double, inlined_void
from dpmlite.core._special cimport log_gamma_c, log_rising_c
from dpmlite.families._component cimport Component
from dpmlite.partition._crp cimport log_best_completion_c

from dpmlite.core._rows import as_rows

SCORINGS = ("trivial", "tight", "inadmissible")

cdef enum:
    MOST_QUEUED = 2147483647
    ALL_IF = 16  # a slot on its own takes as long as so many together

cdef struct State:
    Py_ssize_t clustering, k, depth
    Py_ssize_t trail           # of its parent
    double log_joint, n_largest, score
    Py_ssize_t next_unused

cdef struct Step:
    Py_ssize_t parent, k


cdef class PrefixSearch:
    cdef readonly Py_ssize_t n_enqueued, n_expanded, longest
    cdef readonly double neg_log_joint
    cdef Rows rows
    cdef SharedClusters clusters
    cdef Component component
    cdef MaxQueue queue, longer    # the latter is for what a beam keeps
    cdef const Py_ssize_t[::1] order
    cdef double[::1] before, data_left, alone_left  # [row] as in the plain twin
    cdef double[::1] alone                          # [row] what it adds in a cluster of its own
    cdef double[::1] best, second                   # [row] bounds: the greatest, and the next
    cdef Py_ssize_t[::1] best_slot
    cdef double[::1] tight_left                     # [cluster] of the state that is expanded
    cdef Py_ssize_t[::1] n_expanded_at              # [length]
    cdef Py_ssize_t n, beam, max_queue
    cdef bint has_beam, unit_weights, tight, found
    cdef double alpha, log_alpha, log_dropped

    cdef State *states
    cdef Py_ssize_t n_states, state_capacity, unused_state
    cdef Step *steps
    cdef Py_ssize_t n_steps, step_capacity, last_step

    # By slot: what the next row of prefixes of a length adds to the joint in it.
    cdef Py_ssize_t slot_capacity
    cdef Py_ssize_t *gain_length
    cdef double *gain
    cdef double *cost          # scratch
    cdef double *log_n         # log of the slot's weight; of alpha, if it is slot EMPTY

    def __cinit__(self):
        self.states = NULL
        self.steps = NULL
        self.gain_length = NULL
        self.gain = self.cost = self.log_n = NULL

    def __dealloc__(self):
        free(self.states)
        free(self.steps)
        free(self.gain_length)
        free(self.gain)
        free(self.cost)
        free(self.log_n)

    def __init__(self, X, Component component, double alpha, const Py_ssize_t[::1] order, scoring,
                 beam=None, max_queue=None):
        cdef Rows rows = as_rows(X)
        check_search(rows, component, alpha, order, scoring, beam, max_queue)
        if scoring == "tight":
            component.bound_over(rows)
        self.rows, self.order, self.n = rows, order, rows.n_rows
        self.alpha, self.log_alpha = alpha, log(alpha)
        self.has_beam = beam is not None
        self.beam = min(beam, MOST_QUEUED) if self.has_beam else MOST_QUEUED
        self.max_queue = min(max_queue, MOST_QUEUED) if max_queue is not None else MOST_QUEUED
        if self.has_beam:
            self.beam = min(self.beam, self.max_queue)
        self.tight = scoring == "tight"
        self.clusters, self.component = SharedClusters(component), component
        self.queue, self.longer = MaxQueue(), MaxQueue()
        self.unused_state = self.last_step = NONE
        self.log_dropped, self.neg_log_joint = -INFINITY, INFINITY
        self.before, self.data_left = double_array(self.n + 1), double_array(self.n + 1)
        self.alone_left, self.tight_left = double_array(self.n + 1), double_array(self.n + 1)
        self.best, self.second = double_array(self.n + 1), double_array(self.n + 1)
        self.alone = double_array(self.n + 1)
        self.best_slot, self.n_expanded_at = index_array(self.n + 1), index_array(self.n + 1)
        self.sum_from_the_end(scoring == "inadmissible", getattr(component, "m0", None))
        self.start()

    @property
    def n_queued(self):
        return self.queue.n + self.longer.n

    @property
    def neg_log_bound(self):
        cdef double most = max(-self.neg_log_joint, self.log_dropped)
        cdef MaxQueue queue
        cdef Py_ssize_t i
        for queue in (self.queue, self.longer):
            for i in range(queue.n):
                most = max(most, self.states[queue.heap[i].item].score)
        return -most

    def run(self, Py_ssize_t n_expansions):
        with nogil:
            self.expand_best(n_expansions)
        return self.found

    def write_labels(self, Py_ssize_t[::1] out):
        cdef Py_ssize_t step = self.last_step, d = self.n
        if not self.found:
            raise ValueError("no clustering is found yet")
        if out.shape[0] != self.n:
            raise ValueError(f"out must have {self.n} values, got {out.shape[0]}")
        while d > 0:
            d -= 1
            out[self.order[d]] = self.steps[step].k
            step = self.steps[step].parent

    cdef int sum_from_the_end(self, bint inadmissible, means) except -1:
        """What needs to be known of the rows of each length of prefix."""
        cdef Py_ssize_t j
        cdef double w
        cdef Row row
        self.unit_weights = True
        for j in range(self.n):
            w = self.row_weight(j)
            self.before[j + 1] = self.before[j] + w
            self.unit_weights = self.unit_weights and w == 1.0
        for j in reversed(range(self.n)):
            row = self.row(j)
            w = self.log_weight(0.0, row.weight) - log_rising_c(self.row_weight(0), row.weight)
            self.alone_left[j] = self.alone_left[j + 1] + (w if w > 0.0 else 0.0)
            self.data_left[j] = self.data_left[j + 1]
            if self.tight:
                self.alone[j] = self.log_weight(0.0, row.weight) + (
                    self.component.score_slot(&row, EMPTY))
            elif inadmissible:
                self.data_left[j] += self.component.score_slot(&row, EMPTY)
            elif means is not None:
                self.data_left[j] += self.greatest_density(j, means)
        return 0

    cdef double greatest_density(self, Py_ssize_t j, means) except *:
        values = self.rows.values(self.order[j])
        cdef double[::1] centre = array("d", [m if x == x else x for x, m in zip(values, means)])
        self.component.clear(SPARE)
        if j > 0:
            self.component.add(centre, SPARE, self.before[j])
        return self.component.log_predictive(centre, SPARE, self.row_weight(j))

    cdef int start(self) except -1:
        """The clustering of no row."""
        cdef State state
        self.make_slot_room()
        state.clustering, state.k, state.depth = self.clusters.make(0), 0, 0
        state.trail, state.n_largest = NONE, 0.0
        state.log_joint = state.score = -log_rising_c(self.alpha, self.before[self.n])
        return self.push(&state, self.queue)

    cdef inline inlined_row row(self, Py_ssize_t j) noexcept nogil:
        return self.rows.row(self.order[j])

    cdef inline inlined_double row_weight(self, Py_ssize_t j) noexcept nogil:
        return self.rows.weight_of(self.order[j])

    cdef int expand_best(self, Py_ssize_t n_expansions) except -1 nogil:
        cdef State state
        cdef Py_ssize_t i, number
        for i in range(n_expansions):
            if self.found:
                break
            if self.queue.n == 0:
                self.queue.exchange(self.longer)
            number = self.queue.take_best()
            state = self.states[number]
            self.forget(number)
            if state.depth == self.n:
                self.found, self.neg_log_joint = True, -state.log_joint
                self.last_step = self.step(&state)
                self.clusters.let_go(state.clustering)
            else:
                self.expand(&state)
        return 0

    cdef int expand(self, State *state) except -1 nogil:
        cdef Py_ssize_t d = state.depth, c = state.clustering
        cdef Row row
        if d > 0:
            row = self.row(d - 1)
            c = self.clusters.grown(c, state.k, &row)
            self.note_change(self.clusters.clusterings[c].slots[state.k])
            state.trail = self.step(state)
        self.n_expanded += 1
        self.longest = d if d > self.longest else self.longest
        self.count_expansion(d)
        self.score_clusters(c, d)
        if self.tight:
            self.bound_data_left(c, d)
        if self.has_beam:
            self.push_children(state, c, self.longer, self.beam)
        else:
            self.push_children(state, c, self.queue, self.max_queue)
        self.clusters.let_go(c)
        return 0

    cdef int push_children(self, const State *parent, Py_ssize_t c, MaxQueue queue,
                           Py_ssize_t limit) except -1 nogil:
        """Put what a row makes of clustering c, the parent, into a queue of so many at most."""
        cdef State child
        cdef Py_ssize_t k, slot, d = parent.depth, n_clusters = self.clusters.clusterings[c].n
        cdef double w = self.row_weight(d), n, least = queue.least(limit)
        cdef double left = self.data_left[d + 1], prior_left = self.prior_left(
            parent.n_largest, d + 1)
        child.clustering, child.depth, child.trail = c, d + 1, parent.trail
        for k in range(n_clusters + 1):
            slot = self.clusters.clusterings[c].slots[k] if k < n_clusters else <Py_ssize_t> EMPTY
            n = self.component.n[slot] + w
            child.log_joint = parent.log_joint + self.gain[slot]
            child.score = child.log_joint + (self.tight_left[k] if self.tight else left)
            if not self.tight:
                child.score += prior_left if n <= parent.n_largest else self.prior_left(n, d + 1)
            if child.score < least or queue.n >= limit and not queue.beats(child.score, d + 1):
                self.note_dropped(child.score)
                continue
            child.k, child.n_largest = k, n if n > parent.n_largest else parent.n_largest
            self.clusters.keep(c)
            self.push(&child, queue)
            if queue.n > limit:
                self.drop(queue.take_worst())
            least = queue.least(limit)
        self.n_enqueued += n_clusters + 1
        return 0

    cdef int push(self, const State *state, MaxQueue queue) except -1 nogil:
        cdef Py_ssize_t number = self.unused_state, capacity
        if number != NONE:
            self.unused_state = self.states[number].next_unused
        else:
            number = self.n_states
            if number == self.state_capacity:
                capacity = 2 * number if number > 0 else 64
                self.states = <State *> resized(self.states, capacity * sizeof(State))
                self.state_capacity = capacity
            self.n_states += 1
        self.states[number] = state[0]
        queue.push_entry(state.score, state.depth, number)
        return 0

    cdef void forget(self, Py_ssize_t number) noexcept nogil:
        self.states[number].next_unused = self.unused_state
        self.unused_state = number

    cdef Py_ssize_t step(self, const State *state) except -1 nogil:
        """Put the state on the trail; returns where."""
        cdef Py_ssize_t capacity = 2 * self.n_steps if self.n_steps > 0 else 64
        if self.n_steps == self.step_capacity:
            self.steps = <Step *> resized(self.steps, capacity * sizeof(Step))
            self.step_capacity = capacity
        self.steps[self.n_steps].parent, self.steps[self.n_steps].k = state.trail, state.k
        self.n_steps += 1
        return self.n_steps - 1

    cdef int count_expansion(self, Py_ssize_t d) except -1 nogil:
        cdef Py_ssize_t i, n, number
        cdef Py_ssize_t *numbers
        self.n_expanded_at[d] += 1
        if self.has_beam or self.n_expanded_at[d] != self.max_queue or self.queue.n == 0:
            return 0
        n = self.queue.n
        numbers = <Py_ssize_t *> resized(NULL, n * sizeof(Py_ssize_t))
        for i in range(n):
            numbers[i] = self.queue.take_best()
        for i in range(n):  # there is room for all of them: no push can fail
            number = numbers[i]
            if self.states[number].depth > d:
                self.queue.push_entry(self.states[number].score, self.states[number].depth, number)
            else:
                self.drop(number)
        free(numbers)
        return 0

    cdef void drop(self, Py_ssize_t number) noexcept nogil:
        self.note_dropped(self.states[number].score)
        self.clusters.let_go(self.states[number].clustering)
        self.forget(number)

    cdef inline inlined_void note_dropped(self, double score) noexcept nogil:
        self.log_dropped = score if score > self.log_dropped else self.log_dropped

    cdef double log_weight(self, double n, double weight) noexcept nogil:
        return log_rising_c(n, weight) if n > 0.0 else self.log_alpha + log_gamma_c(weight)

    cdef double prior_left(self, double n_largest, Py_ssize_t d) noexcept nogil:
        cdef double n_left = self.before[self.n] - self.before[d]
        if n_largest == 0.0:  # of no child
            return 0.0
        if self.unit_weights:
            return log_best_completion_c(n_largest, n_left, self.log_alpha)
        return log_rising_c(n_largest, n_left) + self.alone_left[d]

    cdef int note_change(self, Py_ssize_t slot) except -1 nogil:
        self.make_slot_room()
        self.gain_length[slot] = NONE
        self.log_n[slot] = log(self.component.n[slot])
        return 0

    cdef int make_slot_room(self) except -1 nogil:
        cdef Py_ssize_t slot, capacity = self.component.capacity
        if capacity == self.slot_capacity:
            return 0
        self.gain_length = <Py_ssize_t *> resized(self.gain_length, capacity * sizeof(Py_ssize_t))
        self.gain = <double *> resized(self.gain, capacity * sizeof(double))
        self.cost = <double *> resized(self.cost, capacity * sizeof(double))
        self.log_n = <double *> resized(self.log_n, capacity * sizeof(double))
        for slot in range(self.slot_capacity, capacity):
            self.gain_length[slot] = NONE
            self.log_n[slot] = self.log_alpha  # slot EMPTY keeps it
        self.slot_capacity = capacity
        return 0

    cdef void score_clusters(self, Py_ssize_t c, Py_ssize_t d) noexcept nogil:
        """Gains of row d in every cluster of a clustering, and in a new one."""
        cdef Py_ssize_t k, n_clusters = self.clusters.clusterings[c].n, n_unknown
        cdef const Py_ssize_t *slots = self.clusters.clusterings[c].slots
        cdef Row row = self.row(d)
        n_unknown = self.gain_length[EMPTY] != d
        for k in range(n_clusters):
            n_unknown += self.gain_length[slots[k]] != d
        if n_unknown * ALL_IF >= self.component.n_slots and self.unit_weights:
            self.component.costs_below(&row, self.log_n, INFINITY, self.cost)
            for k in range(self.component.n_slots):
                self.gain[k], self.gain_length[k] = -self.cost[k], d
        elif n_unknown > 0:
            self.score_slot(&row, EMPTY, d)
            for k in range(n_clusters):
                self.score_slot(&row, slots[k], d)

    cdef void score_slot(self, const Row *row, Py_ssize_t slot, Py_ssize_t d) noexcept nogil:
        if self.gain_length[slot] != d:
            self.gain_length[slot] = d
            self.gain[slot] = self.component.score_slot(row, slot) + (
                self.log_n[slot] if self.unit_weights
                else self.log_weight(self.component.n[slot], row.weight))

    cdef void bound_data_left(self, Py_ssize_t c, Py_ssize_t d) noexcept nogil:
        """Section 3.3: row d being in cluster 0, 1, ... or a new one, what comes after it."""
        cdef Py_ssize_t j, k, slot, n_clusters = self.clusters.clusterings[c].n
        cdef const Py_ssize_t *slots = self.clusters.clusterings[c].slots
        cdef double bound, total
        cdef Row row = self.row(d)
        for j in range(d + 1, self.n):
            self.best[j] = self.bound(j, EMPTY, d)
            self.best_slot[j], self.second[j] = EMPTY, -INFINITY
            for k in range(n_clusters):
                self.note_bound(j, slots[k], self.bound(j, slots[k], d))
        for k in range(n_clusters + 1):
            slot = slots[k] if k < n_clusters else <Py_ssize_t> EMPTY
            self.component.copy_slot(SPARE, self.component, slot)
            self.component.add_row(&row, SPARE)
            total = 0.0
            for j in range(d + 1, self.n):
                bound = self.best[j]
                if self.best_slot[j] == slot and slot != EMPTY:  # it is not there any more
                    bound = self.second[j]
                total += max(bound, self.bound(j, SPARE, d))
            self.tight_left[k] = total

    cdef double bound(self, Py_ssize_t j, Py_ssize_t slot, Py_ssize_t d) noexcept nogil:
        cdef Row row = self.row(j)
        cdef double between = self.before[j] - self.before[d + 1]
        cdef double n = self.component.n[slot] + between, bound
        if n == 0.0:
            return self.alone[j]
        bound = self.log_weight(n, row.weight) + self.component.score_bound(&row, slot, between)
        return bound if slot != EMPTY or bound > self.alone[j] else self.alone[j]

    cdef void note_bound(self, Py_ssize_t j, Py_ssize_t slot, double bound) noexcept nogil:
        if bound > self.best[j]:
            self.second[j] = self.best[j]
            self.best[j], self.best_slot[j] = bound, slot
        elif bound > self.second[j]:
            self.second[j] = bound


def prior_log_densities(X, Component component, double[::1] out):
    cdef Rows rows = as_rows(X)
    component._check_rows(rows)
    if out.shape[0] != rows.n_rows:
        raise ValueError(f"out must have {rows.n_rows} values, got {out.shape[0]}")
    cdef Py_ssize_t i
    cdef Row row
    with nogil:
        component.make_slots(0)
        component.make_slots(1)
        for i in range(rows.n_rows):
            row = rows.row(i)
            out[i] = component.score_per_copy(component.score_slot(&row, 0), &row)


cdef int check_search(Rows rows, Component component, double alpha, const Py_ssize_t[::1] order,
                      scoring, beam, max_queue) except -1:
    component._check_rows(rows)
    if not alpha > 0.0:
        raise ValueError(f"alpha must be positive, got {alpha}")
    cdef Py_ssize_t i
    cdef Py_ssize_t[::1] seen = index_array(rows.n_rows)
    cdef bint good = order.shape[0] == rows.n_rows
    for i in range(rows.n_rows if good else 0):
        good = good and 0 <= order[i] < rows.n_rows and seen[order[i]] == 0
        if good:
            seen[order[i]] = 1
    if not good:
        raise ValueError(f"order must have each number from 0 to {rows.n_rows - 1} once")
    if scoring not in SCORINGS:
        raise ValueError(f"scoring must be one of {', '.join(SCORINGS)}, got {scoring!r}")
    for name, value in (("beam", beam), ("max_queue", max_queue)):
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    return 0
