"""Kernel of prefix_search.py: A* and beam search among clusterings of prefixes.

Labels are read off a trail at the end: each expanded state leaves its last row's cluster and the
place of its parent there.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport free

from dpmlite.algorithms._max_queue cimport MaxQueue
from dpmlite.algorithms._prefix_gains cimport PrefixGains
from dpmlite.algorithms._search_heuristic cimport SearchHeuristic
from dpmlite.algorithms._shared_clusters cimport NONE, SharedClusters
from dpmlite.core._constants cimport EMPTY_SLOT
from dpmlite.core._memory cimport index_array, resized
from dpmlite.core._rows cimport Row, Rows, check_order
from dpmlite.core._simd cimport inlined_void
from dpmlite.families._component cimport Component

from dpmlite.core._rows import as_rows

SCORINGS = ("trivial", "tight", "inadmissible")
PRIOR_SCORES = ("partition", "sizes")

cdef enum:
    MAX_QUEUED = 2147483647  # states of a queue without a limit

cdef struct State:         # a clustering of a prefix, once its last row has joined a cluster
    Py_ssize_t clustering  # before
    Py_ssize_t k           # the cluster
    Py_ssize_t depth       # rows of the prefix
    Py_ssize_t trail       # its parent's place on the trail
    double log_joint, n_largest, score
    Py_ssize_t next_unused

cdef struct Step:          # of the trail
    Py_ssize_t parent, k


cdef class PrefixSearch:
    cdef readonly Py_ssize_t n_enqueued, n_expanded, longest
    cdef readonly double neg_log_joint
    cdef Component component
    cdef SharedClusters clusters
    cdef SearchHeuristic heuristic
    cdef PrefixGains gains
    cdef MaxQueue queue, longer           # prefixes to expand; with a beam: longer ones for later
    cdef const Py_ssize_t[::1] order
    cdef Py_ssize_t[::1] n_expanded_at    # [length]
    cdef Py_ssize_t n, beam, max_queue
    cdef bint has_beam, found
    cdef double log_dropped               # greatest score of a state that was dropped

    cdef State *states
    cdef Py_ssize_t n_states, state_capacity, unused_state
    cdef Step *steps
    cdef Py_ssize_t n_steps, step_capacity, last_step

    def __cinit__(self):
        self.states = NULL
        self.steps = NULL

    def __dealloc__(self):
        free(self.states)
        free(self.steps)

    def __init__(self, X, Component component, double alpha, const Py_ssize_t[::1] order, scoring,
                 beam=None, max_queue=None, prior_score="partition"):
        cdef Rows rows = as_rows(X)
        check_search(rows, component, alpha, order, scoring, beam, max_queue)
        check_prior_score(rows, prior_score)
        self.order, self.n = order, rows.n_rows
        self.has_beam = beam is not None
        self.beam = min(beam, MAX_QUEUED) if self.has_beam else MAX_QUEUED
        self.max_queue = min(max_queue, MAX_QUEUED) if max_queue is not None else MAX_QUEUED
        if self.has_beam:
            self.beam = min(self.beam, self.max_queue)
        self.clusters, self.component = SharedClusters(component), component
        self.heuristic = SearchHeuristic(
            rows, component, alpha, order, scoring, prior_score)
        self.gains = PrefixGains(self.heuristic)
        self.queue, self.longer = MaxQueue(), MaxQueue()
        self.unused_state = self.last_step = NONE
        self.log_dropped, self.neg_log_joint = -INFINITY, INFINITY
        self.n_expanded_at = index_array(self.n + 1)
        self.push_root(-self.heuristic.log_denominator())

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

    cdef int expand_best(self, Py_ssize_t n_expansions) except -1 nogil:
        """Expand the best states until one of all rows is the best."""
        cdef State state
        cdef Py_ssize_t i, number
        for i in range(n_expansions):
            if self.found:
                break
            if self.queue.n == 0:
                self.queue.exchange(self.longer)
            number = self.queue.take_best()
            state = self.states[number]
            self.free_state(number)
            if state.depth == self.n:
                self.found, self.neg_log_joint = True, -state.log_joint
                self.last_step = self.record_step(&state)
                self.clusters.let_go(state.clustering)
            else:
                self.expand(&state)
        return 0

    cdef int expand(self, State *state) except -1 nogil:
        """Put every clustering into the queue that the state becomes by one row."""
        cdef Py_ssize_t d = state.depth, c = state.clustering, n_clusters
        cdef const Py_ssize_t *slots
        cdef Row row
        if d > 0:
            row = self.heuristic.row(d - 1)
            c = self.clusters.grown(c, state.k, &row)
            self.gains.update_slot(self.clusters.clusterings[c].slots[state.k])
            state.trail = self.record_step(state)
        self.n_expanded += 1
        self.longest = d if d > self.longest else self.longest
        self.count_expansion(d)
        slots, n_clusters = self.clusters.clusterings[c].slots, self.clusters.clusterings[c].n
        self.gains.find(slots, n_clusters, d)
        self.heuristic.find_scores(slots, n_clusters, d, state.n_largest)
        if self.has_beam:
            self.push_children(state, c, self.longer, self.beam)
        else:
            self.push_children(state, c, self.queue, self.max_queue)
        self.clusters.let_go(c)
        return 0

    cdef int push_children(self, const State *parent, Py_ssize_t c, MaxQueue queue,
                           Py_ssize_t limit) except -1 nogil:
        """Put the clusterings that clustering c becomes into a queue of at most `limit` states."""
        cdef State child
        cdef Py_ssize_t k, slot, d = parent.depth, n_clusters = self.clusters.clusterings[c].n
        cdef const Py_ssize_t *slots = self.clusters.clusterings[c].slots
        cdef double w = self.heuristic.weight(d), n, least = queue.least(limit), repeats = 0.0
        cdef bint is_last = d + 1 == self.n
        if is_last:
            repeats = self.heuristic.log_repeats_in(slots, n_clusters)
        child.clustering, child.depth, child.trail = c, d + 1, parent.trail
        for k in range(n_clusters + 1):
            slot = slots[k] if k < n_clusters else <Py_ssize_t> EMPTY_SLOT
            n = self.component.n[slot] + w
            child.log_joint = parent.log_joint + self.gains.gain[slot]
            if is_last:
                child.log_joint -= repeats + self.heuristic.log_repeats_gained(
                    slots, n_clusters, slot)
            child.score = child.log_joint + self.heuristic.score[k]
            if child.score < least or queue.n >= limit and not queue.beats(child.score, d + 1):
                self.record_dropped(child.score)
                continue
            child.k, child.n_largest = k, n if n > parent.n_largest else parent.n_largest
            self.clusters.keep(c)
            self.push(&child, queue)
            if queue.n > limit:
                self.drop(queue.take_worst())
            least = queue.least(limit)
        self.n_enqueued += n_clusters + 1
        return 0

    cdef int push_root(self, double log_joint) except -1:
        """Put the clustering of no row into the queue."""
        cdef State state
        state.clustering, state.k, state.depth = self.clusters.make(0), 0, 0
        state.trail, state.n_largest = NONE, 0.0
        state.log_joint = state.score = log_joint
        return self.push(&state, self.queue)

    cdef int push(self, const State *state, MaxQueue queue) except -1 nogil:
        """Put a copy of a state into a queue."""
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

    cdef void free_state(self, Py_ssize_t number) noexcept nogil:
        """Leave the memory of a state to the next one."""
        self.states[number].next_unused = self.unused_state
        self.unused_state = number

    cdef Py_ssize_t record_step(self, const State *state) except -1 nogil:
        """Put a state on the trail; returns its place there."""
        cdef Py_ssize_t capacity = 2 * self.n_steps if self.n_steps > 0 else 64
        if self.n_steps == self.step_capacity:
            self.steps = <Step *> resized(self.steps, capacity * sizeof(Step))
            self.step_capacity = capacity
        self.steps[self.n_steps].parent, self.steps[self.n_steps].k = state.trail, state.k
        self.n_steps += 1
        return self.n_steps - 1

    cdef int count_expansion(self, Py_ssize_t d) except -1 nogil:
        """Count the expansion of a prefix of d rows; after the last allowed, drop the others."""
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
        """Give up a state that was taken out of its queue."""
        self.record_dropped(self.states[number].score)
        self.clusters.let_go(self.states[number].clustering)
        self.free_state(number)

    cdef inline inlined_void record_dropped(self, double score) noexcept nogil:
        self.log_dropped = score if score > self.log_dropped else self.log_dropped


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
    check_order(order, rows.n_rows)
    if scoring not in SCORINGS:
        raise ValueError(f"scoring must be one of {', '.join(SCORINGS)}, got {scoring!r}")
    for name, value in (("beam", beam), ("max_queue", max_queue)):
        if value is not None and value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    return 0


cdef int check_prior_score(Rows rows, prior_score) except -1:
    cdef Py_ssize_t i
    if prior_score not in PRIOR_SCORES:
        raise ValueError(
            f"prior_score must be one of {', '.join(PRIOR_SCORES)}, got {prior_score!r}")
    for i in range(rows.n_rows if prior_score == "sizes" else 0):
        if rows.weight_of(i) != 1.0:
            raise ValueError(f"prior_score 'sizes' needs rows of weight 1, got {rows.weight_of(i)}")
    return 0
