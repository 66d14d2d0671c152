"""Rows screened ahead, on threads or slot by slot.

What is noted of a row holds while others move, as long as clusters do not drift too far (drift.pxi).
So it is noted of many rows; then these are visited in order, and most are passed over. Threads can
share that, and look at those that come after them meanwhile, by slots as they were before any of
these moved (snapshot.pxi). And rows of a slot can be looked at together, in the slots alone that they
may be near (reach.pxi): of clusters that lie far apart, that takes a fraction of the time, even of
one thread. Where so many rows move that all this would not hold, threads visit them in turn
(relay.pxi).
"""

cdef enum:
    LEAST_CELLS = 1000000  # times slots: rows that are worth to wake a thread for,
    LEAST_AHEAD = 2048     # rows that tell whether it is worth while at all,
    MOST_AHEAD = 65536     # and of which most are still known when it is their turn
    FEW_AHEAD = 16         # threads are not worth while for one row in so many,
    MANY = 8               # nor is one thread, if it had to visit one in so many all the same
    OFTEN = 16             # rows are visited in turn if no more than one in so many moves,
    SELDOM = 128           # but not less than one in so many
    PIECE = 512            # rows that a thread looks at before it takes others, at least,
    PIECES = 8             # and for each thread so many times, where there are more
    PIECE_CELLS = 65536    # of rows that are sorted, which stay in the cache meanwhile

cdef enum Task:  # what threads share:
    LOOK         # to look at rows,
    MEET         # or at slots that are apart, for all rows;
    NEAR         # to find what is near each slot;
    TURNS        # to visit rows in turn


cdef class LookAhead(Crew):
    """Threads that look at different rows, each in a chunk of the screen of its own."""

    cdef Partition partition
    cdef Drift drift
    cdef Snapshot snapshot       # for threads; None if there is one
    cdef Partition seen          # what is looked at: the snapshot's, or the partition,
    cdef Drift seen_drift        # what is noted by,
    cdef Screen *screen          # and bounds of it
    cdef Reach reach
    cdef Py_ssize_t first_ahead  # row from which on it may be worth while
    cdef Py_ssize_t first, last  # rows that were looked at last, to be visited,
    cdef Py_ssize_t ahead        # and the row after those that are looked at meanwhile
    cdef Py_ssize_t n_screened   # of those looked at last, for they were not known to stay,
    cdef Py_ssize_t n_visited    # and since, because nothing was known of them
    cdef bint all_blank          # nothing was noted of any row when the sweep began
    cdef bint is_by_slot         # rows of a slot are looked at together:
    cdef Py_ssize_t *order       # [row from `last`] sorted by slot,
    cdef Py_ssize_t *slots       # [thread][slot, and APART] where each begins, or which are near
    cdef Py_ssize_t n_slots      # that there is memory for
    cdef Relay relay
    cdef Task task

    def __init__(self, Py_ssize_t n_threads, Partition partition):
        self.partition, self.drift, self.reach = partition, partition.drift, Reach()
        self.seen, self.seen_drift = partition, self.drift
        if n_threads > 1:
            self.snapshot = Snapshot(partition, n_threads)
            self.seen, self.seen_drift = self.snapshot.partition, self.snapshot.drift
        self.relay = Relay(n_threads, partition, self.drift)
        self.first_ahead = max(LEAST_AHEAD, LEAST_CELLS // max(
            self.drift.n_columns * partition.component.n_slots, <Py_ssize_t> 1))

    def __dealloc__(self):
        PyMem_RawFree(self.order)

    cdef int see(self, Screen *screen) except -1 nogil:
        """What is looked at is as things are now."""
        self.screen = screen
        if self.snapshot is not None:
            self.snapshot.take(self.partition, self.drift)
            self.screen = &self.snapshot.screen
        return 0

    cdef int meet(self, Screen *screen) except -1 nogil:
        """Look at slots that are apart, for all rows."""
        self.see(screen)
        self.ahead = self.partition.n_rows
        self.task = MEET
        self.share(self.n_pieces_of(self.ahead))
        self.ahead = 0
        return 0

    cdef bint advance(self, Screen *screen, Py_ssize_t first) except -1 nogil:
        """Whether rows from `first` on are looked at now: if none has been, and it is worth while.

        Threads go on with the rows after these then, while these are visited.
        """
        cdef bint was_of_use = True
        if first < self.last:
            return False
        if self.ahead > self.last:
            was_of_use = self.was_of_use()
        elif self.is_worth_while(first):
            self.last = first
            self.begin_look(screen)
        else:
            return False
        self.end_look()
        if was_of_use and self.can_go_on():
            self.begin_look(screen)
        return True

    cdef bint is_worth_while(self, Py_ssize_t first) noexcept nogil:
        """If of the rows so far, or those looked at last, enough were not known, and are now."""
        if first < self.first_ahead or self.drift.lost:
            return False
        if self.last == 0:
            return FEW_AHEAD * self.n_visited >= first
        if self.n_helpers == 0 and MANY * self.n_visited > self.last - self.first:
            return False
        return self.found_many() and self.was_of_use()

    cdef bint can_go_on(self) noexcept nogil:
        """Whether threads may look at the rows that come next, and it is worth while."""
        return (self.snapshot is not None and self.last < self.partition.n_rows
                and self.found_many() and not self.drift.lost)

    cdef bint found_many(self) noexcept nogil:
        """Whether enough of the rows looked at last were not known to stay."""
        return FEW_AHEAD * self.n_screened >= self.last - self.first

    cdef bint was_of_use(self) noexcept nogil:
        """Whether most of them were known to when it was their turn."""
        return 2 * self.n_visited <= self.last - self.first

    cdef int begin_look(self, Screen *screen) except -1 nogil:
        """Screen rows from `last` on that are not known to stay.

        One thread does so slot by slot, or not at all.
        """
        self.see(screen)
        self.all_blank = self.all_blank or self.drift.blank
        self.is_by_slot = self.all_blank and self.has_short_reach()
        if self.n_helpers == 0 and not self.is_by_slot:
            self.ahead = self.partition.n_rows
            return 0
        self.ahead = min(self.last + min(self.last, <Py_ssize_t> MOST_AHEAD), self.partition.n_rows)
        self.drift.blank = False
        self.task = LOOK
        return self.hand_out(self.n_looks_of(self.ahead - self.last))

    cdef void end_look(self) noexcept nogil:
        """Rows up to `ahead` have been looked at."""
        self.n_screened = self.finish()  # of no use where the rest is not looked at
        self.first, self.last, self.n_visited = self.last, self.ahead, 0

    cdef void wait(self) noexcept nogil:
        """Until no row is looked at."""
        if self.ahead > self.last:
            self.end_look()

    cdef Py_ssize_t end(self) noexcept nogil:
        """The row up to which rows may be visited now."""
        return self.last if self.ahead > self.last else self.partition.n_rows

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
        self.wait()
        self.relay.begin(first, last, moves[0])
        self.task = TURNS
        moves[0] += self.share(self.relay.n_runners)
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
        if self.reach.begin(self.seen_drift, self.screen):
            self.task = NEAR
            self.reach.end(self.share(self.n_pieces_of(self.screen.n_open)))
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

    cdef Py_ssize_t n_pieces_of(self, Py_ssize_t n) noexcept nogil:
        """Of so many rows or slots."""
        if self.task != NEAR:
            n //= PIECE
        return max(min(n, <Py_ssize_t> PIECES * (self.n_helpers + 1)), <Py_ssize_t> 1)

    cdef Py_ssize_t n_looks_of(self, Py_ssize_t n_rows) noexcept nogil:
        if not self.is_by_slot:
            return self.n_pieces_of(n_rows)
        cdef Py_ssize_t n = n_rows * self.drift.n_columns // PIECE_CELLS
        return n + 2 if n > self.n_helpers > 0 else max(n, self.n_helpers + 1)

    cdef Py_ssize_t begin_of(self, Py_ssize_t piece, Py_ssize_t n_pieces,
                             Py_ssize_t n) noexcept nogil:
        """Where a piece of n rows or slots begins. One thread does not wait for any other."""
        if self.n_helpers == 0:
            return piece * n // n_pieces
        return start_of(piece, n_pieces, n)

    cdef Py_ssize_t do(self, Py_ssize_t i, Py_ssize_t piece, Py_ssize_t n_pieces) noexcept nogil:
        """A piece of the task on thread i; returns how many rows, or pairs of slots, were found."""
        if self.task == TURNS:
            return self.relay.run(piece)
        cdef Py_ssize_t n = self.screen.n_open if self.task == NEAR else self.ahead - self.last
        cdef Py_ssize_t first = self.begin_of(piece, n_pieces, n)
        cdef Py_ssize_t last = self.begin_of(piece + 1, n_pieces, n)
        cdef Chunk *chunk = &self.screen.chunk[i]
        if self.task == NEAR:
            return self.reach.find_some(self.seen_drift, self.screen, first, last)
        first, last = self.last + first, self.last + last
        if self.task == MEET:
            self.seen_drift.meet(self.seen, self.screen, chunk, first, last)
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
                self.seen_drift.gather(self.seen, chunk, first, last)
            self.look_at(chunk)
            n_screened += chunk.n_rows
            first = chunk.end
        return n_screened

    cdef Py_ssize_t look_by_slot(self, Chunk *chunk, Py_ssize_t *slots, Py_ssize_t first,
                                 Py_ssize_t last) noexcept nogil:
        cdef Py_ssize_t *order = self.order + first - self.last
        cdef Py_ssize_t n = self.sort_by_slot(order, slots - UNPLACED, first, last)
        self.look_everywhere(chunk, order, self.look_near(chunk, slots, order, n))
        return n

    cdef Py_ssize_t sort_by_slot(self, Py_ssize_t *order, Py_ssize_t *start, Py_ssize_t first,
                                 Py_ssize_t last) noexcept nogil:
        """List those of rows first..last-1 that have a slot; returns how many.

        They are read once in the order in which they lie: processors foresee that, and ask memory for
        rows to come. To ask for so many ahead, as `prefetch` does, has been of no use.
        """
        cdef Py_ssize_t i, k, total = 0
        for k in range(-1, self.n_slots):
            start[k] = 0
        for i in range(first, last):
            self.seen.X.read(self.seen.in_use(i))
            start[self.seen.label[i]] += 1
        for k in range(self.n_slots):
            total += start[k]
            start[k] = total - start[k]
        for i in range(first, last):
            k = self.seen.label[i]
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
                self.seen.label[chunk.index[0]],
                self.seen.label[chunk.index[chunk.n_rows - 1]], slots)
            screen_some(self.screen, self.seen, chunk, slots, n_near)
            self.seen_drift.note(self.seen, chunk, self.reach.level)
            for j in range(chunk.n_rows):
                order[n_left] = chunk.index[j]
                n_left += not (chunk.stays[j] and self.reach.holds(self.seen_drift, chunk, j))
        return n_left

    cdef void look_everywhere(self, Chunk *chunk, const Py_ssize_t *order,
                              Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t at = 0
        while at < n:
            at = next_of(chunk, order, at, n)
            self.look_at(chunk)

    cdef void look_at(self, Chunk *chunk) noexcept nogil:
        screen_chunk(self.screen, self.seen, chunk)
        look_closely(self.screen, self.seen, chunk)
        self.seen_drift.note(self.seen, chunk, self.seen_drift.cap)


cdef Py_ssize_t next_of(Chunk *chunk, const Py_ssize_t *order, Py_ssize_t at,
                        Py_ssize_t n) noexcept nogil:
    """Rows `at` .. n-1 of a list, as many as fill a chunk; returns where it goes on."""
    cdef Py_ssize_t j
    chunk.n_rows = min(n - at, <Py_ssize_t> CHUNK)
    for j in range(chunk.n_rows):
        chunk.index[j] = order[at + j]
    return at + chunk.n_rows
