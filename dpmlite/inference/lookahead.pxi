"""Rows screened ahead, on threads or slot by slot.

What is noted of a row holds while others move, as long as clusters do not drift too far (drift.pxi).
So it is noted of many rows; then these are visited in order, and most are passed over. Threads can
share that. And rows of a slot can be looked at together, in the slots alone that they may be near
(reach.pxi): of clusters that lie far apart, that takes a fraction of the time, even of one thread.
Where so many rows move that all this would not hold, threads visit them in turn (relay.pxi).
"""

cdef enum:
    MOST_IN_TURN = 65536  # rows that are visited in turn before it is asked again whether to

cdef enum:
    LEAST_CELLS = 1000000  # times slots: rows that are worth to wake a thread for,
    LEAST_AHEAD = 2048     # rows that tell whether it is worth while at all,
    MOST_AHEAD = 65536     # and of which most are still known when it is their turn
    FEW_AHEAD = 4                # threads are not worth while for one row in so many,
    MANY = 8               # nor is one thread, if it had to visit one in so many all the same
    OFTEN = 16             # rows are visited in turn if no more than one in so many moves,
    SELDOM = 128           # but not less than one in so many
    PIECE = 512            # rows that a thread looks at before it takes others, at least,
    PIECES = 8             # and for each thread so many times, where there are more
    PIECE_CELLS = 65536    # of rows that are sorted, which stay in the cache meanwhile

cdef enum Task:      # what threads share:
    LOOK, MEET,      # to look at rows; at slots that are apart, for all rows;
    NEAR, TURNS     # to find what is near each slot; to visit rows in turn


cdef class LookAhead(Crew):
    """Threads that look at different rows, each in a chunk of the screen of its own."""

    cdef Partition partition
    cdef Drift drift
    cdef Reach reach
    cdef Screen *screen
    cdef Py_ssize_t first_ahead  # row from which on it may be worth while
    cdef Py_ssize_t first, last  # rows to look at
    cdef Py_ssize_t n_screened   # of these, for they were not known to stay,
    cdef Py_ssize_t n_visited    # and since, because nothing was known of them
    cdef bint all_blank          # nothing was noted of any row when the sweep began
    cdef bint is_by_slot         # rows of a slot are looked at together:
    cdef Py_ssize_t *order       # [row from `first`] sorted by slot,
    cdef Py_ssize_t *slots       # [thread][slot, and APART] where each begins, or which are near
    cdef Py_ssize_t n_slots      # that there is memory for
    cdef Relay relay
    cdef Task task

    def __init__(self, Py_ssize_t n_threads, Partition partition):
        self.partition, self.drift, self.reach = partition, partition.drift, Reach()
        self.relay = Relay(n_threads, partition, self.drift)
        self.first = self.last = self.n_screened = self.n_visited = 0
        self.all_blank = False
        self.task = LOOK
        self.first_ahead = max(LEAST_AHEAD, LEAST_CELLS // (
            self.drift.n_columns * partition.component.n_slots))

    def __dealloc__(self):
        PyMem_RawFree(self.order)

    cdef int meet(self, Screen *screen) except -1 nogil:
        """Look at slots that are apart, for all rows."""
        self.screen, self.last = screen, self.partition.n_rows
        self.share_out(MEET, max(self.n_pieces_of(self.last // PIECE), <Py_ssize_t> 1))
        self.last = 0
        return 0

    cdef bint is_worth_while(self, Py_ssize_t first) noexcept nogil:
        """If of the rows so far, or those looked at last, enough were not known, and are now."""
        cdef Py_ssize_t n = self.last - self.first
        if first < self.first_ahead or first < self.last or self.drift.lost:
            return False
        if n == 0:
            return FEW_AHEAD * self.n_visited >= first
        if self.n_helpers == 0 and MANY * self.n_visited > n:
            return False
        return FEW_AHEAD * self.n_screened >= n and 2 * self.n_visited <= n

    cdef int look(self, Screen *screen, Py_ssize_t first) except -1 nogil:
        """Screen rows from `first` on that are not known to stay.

        One thread does so slot by slot, or not at all.
        """
        self.screen, self.first = screen, first
        self.all_blank = self.all_blank or self.drift.blank
        self.is_by_slot = self.all_blank and self.has_short_reach()
        if self.n_helpers == 0 and not self.is_by_slot:
            self.last = self.partition.n_rows
            return 0
        self.last = min(first + min(first, <Py_ssize_t> MOST_AHEAD), self.partition.n_rows)
        self.drift.blank = False
        self.n_visited = 0
        self.n_screened = self.share_out(LOOK, self.n_looks_of(self.last - first))
        return 0

    cdef bint can_take_turns(self, Py_ssize_t first, Py_ssize_t moves) noexcept nogil:
        """If nothing is known of the rows to come, and it is not better to look ahead, nor in vain."""
        cdef bint tried = self.last > 0 and first >= self.last
        cdef bint unknown = (self.drift.lost or self.all_blank and tried
                             or self.drift.blank and SELDOM * moves >= first)
        return (CAN_RELAY and self.n_helpers > 0 and unknown and first >= LEAST_AHEAD
                and self.partition.n_rows - first >= self.first_ahead and OFTEN * moves <= first)

    cdef Py_ssize_t take_turns(self, Py_ssize_t first, Py_ssize_t last,
                               Py_ssize_t *moves) except -1 nogil:
        """Visit rows from `first` on in turn, if they are worth it; returns the row to go on from."""
        if last - first < self.first_ahead:
            return first
        self.relay.begin(first, last, moves[0])
        moves[0] += self.share_out(TURNS, self.relay.n_runners)
        last = self.relay.end()
        self.n_visited += last - first
        self.drift.n_in_turn += last - first
        return last

    cdef bint has_short_reach(self) except -1 nogil:
        """Whether few slots are near most rows, which lie side by side.

        Nothing is known of a slot that is new in this sweep: rows near it could be anywhere.
        """
        if self.partition.X.first == NULL or self.screen.n_slots > self.drift.n_slots:
            return False
        if self.reach.begin(self.drift, self.screen):
            self.reach.end(self.share_out(NEAR, self.n_pieces_of(self.screen.n_open)))
        if self.reach.is_short and self.n_slots != self.drift.n_slots:
            self.make_room()
        return self.reach.is_short

    cdef int make_room(self) except -1 nogil:
        cdef Py_ssize_t n = self.drift.n_slots, n_threads = self.n_helpers + 1
        PyMem_RawFree(self.order)
        self.order = <Py_ssize_t *> PyMem_RawMalloc(
            (MOST_AHEAD + n_threads * (n + APART)) * sizeof(Py_ssize_t))
        if self.order == NULL:
            with gil:
                raise MemoryError(f"no memory for {MOST_AHEAD} rows and {n} clusters")
        self.slots, self.n_slots = self.order + MOST_AHEAD, n
        return 0

    cdef Py_ssize_t share_out(self, Task task, Py_ssize_t n_pieces) except -1 nogil:
        self.task = task
        return self.share(n_pieces)

    cdef Py_ssize_t n_pieces_of(self, Py_ssize_t n) noexcept nogil:
        """Of so many things, which take about as long: some for each thread."""
        return min(n, <Py_ssize_t> PIECES * (self.n_helpers + 1))

    cdef Py_ssize_t n_looks_of(self, Py_ssize_t n_rows) noexcept nogil:
        if self.is_by_slot:
            return max(n_rows * self.drift.n_columns // PIECE_CELLS, self.n_helpers + 1)
        return max(self.n_pieces_of(n_rows // PIECE), <Py_ssize_t> 1)

    cdef Py_ssize_t do(self, Py_ssize_t i, Py_ssize_t piece, Py_ssize_t n_pieces) noexcept nogil:
        """A piece of the task on thread i; returns how many rows, or pairs of slots, were found."""
        if self.task == TURNS:
            return self.relay.run(piece)
        cdef Py_ssize_t n = self.screen.n_open if self.task == NEAR else self.last - self.first
        cdef Py_ssize_t first = piece * n // n_pieces, last = (piece + 1) * n // n_pieces
        cdef Chunk *chunk = &self.screen.chunk[i]
        if self.task == NEAR:
            return self.reach.find_some(self.drift, self.screen, first, last)
        first, last = self.first + first, self.first + last
        if self.task == MEET:
            self.drift.meet(self.partition, self.screen, chunk, first, last)
            return 0
        if self.is_by_slot:
            return self.look_by_slot(
                chunk, self.slots + i * (self.n_slots + APART), first, last)
        return self.look_in_order(chunk, first, last)

    cdef Py_ssize_t look_in_order(self, Chunk *chunk, Py_ssize_t first,
                                  Py_ssize_t last) noexcept nogil:
        cdef Py_ssize_t n_screened = 0
        while first < last:
            if self.all_blank:
                next_rows(chunk, first, last)
            else:
                self.drift.gather(self.partition, chunk, first, last)
            self.look_at(chunk)
            n_screened += chunk.n_rows
            first = chunk.end
        return n_screened

    cdef Py_ssize_t look_by_slot(self, Chunk *chunk, Py_ssize_t *slots, Py_ssize_t first,
                                 Py_ssize_t last) noexcept nogil:
        cdef Py_ssize_t *order = self.order + first - self.first
        cdef Py_ssize_t n = self.sort_by_slot(order, slots - UNPLACED, first, last)
        self.look_everywhere(chunk, order, self.look_near(chunk, slots, order, n))
        return n

    cdef Py_ssize_t sort_by_slot(self, Py_ssize_t *order, Py_ssize_t *start, Py_ssize_t first,
                                 Py_ssize_t last) noexcept nogil:
        """List those of rows first..last-1 that have a slot; returns how many.

        They are read once in the order in which they lie: processors foresee that, and ask memory for
        rows to come. To ask for so many ahead, as `expect` does, has been of no use.
        """
        cdef Py_ssize_t i, k, total = 0
        for k in range(-1, self.n_slots):
            start[k] = 0
        for i in range(first, last):
            self.partition.X.read(self.partition.in_use(i))
            start[self.partition.label[i]] += 1
        for k in range(self.n_slots):
            total += start[k]
            start[k] = total - start[k]
        for i in range(first, last):
            k = self.partition.label[i]
            if k != UNPLACED:
                order[start[k]] = i
                start[k] += 1
        return total

    cdef Py_ssize_t look_near(self, Chunk *chunk, Py_ssize_t *slots, Py_ssize_t *order,
                              Py_ssize_t n) noexcept nogil:
        """Look at sorted rows where they may be; returns how many tell little, which come first."""
        cdef Py_ssize_t at = 0, j, n_left = 0, n_near
        while at < n:
            at = next_of(chunk, order, at, n)
            n_near = self.reach.near_any(
                self.partition.label[chunk.index[0]],
                self.partition.label[chunk.index[chunk.n_rows - 1]], slots)
            screen_some(self.screen, self.partition, chunk, slots, n_near)
            self.drift.note(self.partition, chunk, self.reach.level)
            for j in range(chunk.n_rows):
                order[n_left] = chunk.index[j]
                n_left += not (chunk.stays[j] and self.reach.holds(self.drift, chunk, j))
        return n_left

    cdef void look_everywhere(self, Chunk *chunk, const Py_ssize_t *order,
                              Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t at = 0
        while at < n:
            at = next_of(chunk, order, at, n)
            self.look_at(chunk)

    cdef void look_at(self, Chunk *chunk) noexcept nogil:
        screen_chunk(self.screen, self.partition, chunk)
        look_closely(self.screen, self.partition, chunk)
        self.drift.note(self.partition, chunk, self.drift.cap)


cdef Py_ssize_t next_of(Chunk *chunk, const Py_ssize_t *order, Py_ssize_t at,
                        Py_ssize_t n) noexcept nogil:
    """Rows `at` .. n-1 of a list, as many as fill a chunk; returns where it goes on."""
    cdef Py_ssize_t j
    chunk.n_rows = min(n - at, <Py_ssize_t> CHUNK)
    for j in range(chunk.n_rows):
        chunk.index[j] = order[at + j]
    return at + chunk.n_rows
