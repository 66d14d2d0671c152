"""Kernel of prediction.py: prediction for new rows, leave-one-out likelihood of old ones."""

cdef enum:
    LOO_ROWS = 16384   # that are added up at a time
    LOO_CELLS = 65536  # of rows that are looked at together, if they have to be copied
    MANY_SCORES = 1048576  # of rows, columns and slots: worth to wake a thread


cdef class Mixture:
    """The terms of eq. (17) for one row after another."""

    cdef Rows X
    cdef Component component
    cdef double[::1] log_weight, cost  # per slot
    cdef const Py_ssize_t[::1] rows    # of X; None: all
    cdef Py_ssize_t n_rows, n_slots

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


cdef Mixture weighed_mixture(X, Component component, log_weights, Py_ssize_t n_out):
    cdef Mixture mixture = Mixture(X, component, n_out)
    mixture.weigh(log_weights)
    return mixture


def log_density(X, Component component, double alpha, double[::1] out):
    log_mixture_density(X, component, log_weights(component, alpha), out)


def log_weights(Component component, double alpha):
    cdef double n, log_total = log(alpha + sum(component.counts))
    return [log(n if n > 0.0 else alpha) - log_total for n in component.counts]


def log_mixture_density(X, Component component, log_weights, double[::1] out):
    cdef Mixture mixture = weighed_mixture(X, component, log_weights, out.shape[0])
    cdef Py_ssize_t i
    cdef double least
    with nogil:
        for i in range(mixture.n_rows):
            least = mixture.score(i)
            out[i] = log(shares_of(&mixture.cost[0], mixture.n_slots, least)) - least


cdef clones_double shares_of(double *cost, Py_ssize_t n, double least) noexcept nogil:
    """cost[k] becomes exp(least - cost[k]) for whole vectors of slots; returns the sum."""
    cdef double sums[LANES]
    cdef Py_ssize_t first = 0, j
    for j in range(LANES):
        sums[j] = 0.0
    while first < n:
        for j in range(LANES):
            cost[first + j] = exp_above(LEAST_LOG, least - cost[first + j])
            sums[j] += cost[first + j]
        first += LANES
    return sum_of(sums)


def assign(X, Component component, double alpha, Py_ssize_t[::1] out, Py_ssize_t n_threads=1,
           const Py_ssize_t[::1] rows=None):
    check_n_threads(n_threads)
    cdef Mixture mixture = Mixture(X, component, out.shape[0], rows)
    cdef Partition unplaced = None
    if mixture.n_rows >= CHUNK and component.densities() != NULL:
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
    cdef Py_ssize_t n_parts = n_rows * mixture.X.n_columns * mixture.n_slots // MANY_SCORES
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


def responsibilities(X, Component component, double alpha, double[:, ::1] out):
    mixture_responsibilities(X, component, log_weights(component, alpha), out)


def mixture_responsibilities(X, Component component, log_weights, double[:, ::1] out):
    cdef Mixture mixture = weighed_mixture(X, component, log_weights, out.shape[0])
    if out.shape[1] != mixture.n_slots:
        raise ValueError(f"out must have {mixture.n_slots} columns, got {out.shape[1]}")
    cdef Py_ssize_t i, k
    cdef double total
    with nogil:
        for i in range(mixture.n_rows):
            total = shares_of(&mixture.cost[0], mixture.n_slots, mixture.score(i))
            for k in range(mixture.n_slots):
                out[i, k] = mixture.cost[k] / total


def neg_log_loo(Partition partition, Py_ssize_t n_threads=1):
    check_n_threads(n_threads)
    cdef Component component = partition.component
    check_placed(partition)
    cdef double total = -log_prob_counts_c(component.n, component.n_slots, partition.alpha)

    def part(Py_ssize_t first):
        return loo_of(partition, first, min(first + LOO_ROWS, partition.n_rows))

    for share in on_threads(part, range(0, partition.n_rows, LOO_ROWS), n_threads):
        total += share
    return total


cdef double loo_of(Partition partition, Py_ssize_t first, Py_ssize_t last) except? -1.0:
    """The share of some rows: sums of as many on every thread, so that they are always the same."""
    # If rows have to be copied, they all are there at once.
    cdef Py_ssize_t width = partition.X.n_columns if partition.X.first == NULL else 0
    cdef Py_ssize_t most = min(max(LOO_CELLS // (width + 1), 1), <Py_ssize_t> MOST_TOGETHER)
    cdef double[::1] room = double_array(most * width + 1)
    cdef double total = 0.0
    with nogil:
        partition.component.begin_turn()
        while first < last:
            total += loo_of_some(partition, first, min(last - first, most), &room[0], width)
            first += most
        partition.component.end_turn()
    return total


cdef double loo_of_some(Partition partition, Py_ssize_t first, Py_ssize_t n, double *room,
                        Py_ssize_t width) except? -1.0 nogil:
    """Of n rows from `first`; `room` has `width` for each."""
    cdef Row[MOST_TOGETHER] rows
    cdef Py_ssize_t[MOST_TOGETHER] slots
    cdef double[MOST_TOGETHER] scores
    cdef double total = 0.0
    cdef Py_ssize_t i, j
    for j in range(n):
        i = first + j
        partition.prefetch(i + AHEAD)
        rows[j], slots[j] = partition.row_into(i, room + j * width), partition.label[i]
    partition.component.score_members(rows, slots, n, scores)
    for j in range(n):
        if partition.size[slots[j]] == 1 or scores[j] != scores[j]:
            scores[j] = -partition.shared_stay_cost(first + j, &rows[j])
            scores[j] -= partition.member_weight(first + j, rows[j].weight)
        total -= scores[j]
    return total


def own_costs(Partition partition, double[::1] out, double[::1] weights):
    cdef double cost
    cdef Py_ssize_t i
    cdef Row row
    check_placed(partition)
    for name, places in (("out", out), ("weights", weights)):
        if len(places) != partition.n_rows:
            raise ValueError(f"{name} must be for {partition.n_rows} rows, got {len(places)}")
    with nogil:
        for i in range(partition.n_rows):
            partition.prefetch(i + AHEAD)
            weights[i] = partition.row_weight(i)
            cost = partition.stay_cost(i)
            row = partition.row(i)  # the cost may have read others into its room
            out[i] = -partition.component.score_per_copy(-cost, &row)


cdef int check_placed(Partition partition) except -1:
    cdef Py_ssize_t least = 0, most = 0
    if partition.n_rows > 0:
        find_range(&partition.label[0], partition.n_rows, &least, &most)
    if least == UNPLACED:
        raise ValueError("every row must have a label")
    return 0
