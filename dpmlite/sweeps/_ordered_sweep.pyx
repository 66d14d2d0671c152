"""Rows visited in their order by several threads, which screen ahead.

Each thread takes a chunk of rows and screens it while others visit the rows before. Then it waits
for its turn, finds bounds anew of the slots that have changed since, visits its rows and takes the
next chunk. So labels are those of visits one by one, on any number of threads.

Between its turns, a thread reads the rows and labels of its own chunk, and the slots as its own
screen has them. All else that is shared is read and written in turns only. A ticket is a place in
the order of turns; a thread that comes late takes its first ticket without a chunk. Where threads
often wait long, other programs keep them from running: then one goes on alone.
"""

from libc.stdlib cimport free

from dpmlite.core._constants cimport UNPLACED
from dpmlite.core._atomics cimport (
    CACHE_LINE, LOADS_PER_YIELD, fetch_add, load, pause, store, yield_processor)
from dpmlite.core._memory cimport resized, zeroed_memory
from dpmlite.sweeps._screened_slots cimport begin_screen, end_screen, load_slots_if_needed
from dpmlite.sweeps._screening cimport rebound_slot, screen_chunk
from dpmlite.sweeps._screening_bounds cimport CHUNK, Chunk
from dpmlite.sweeps._visits cimport pays_to_screen, rebound_open_slots, visit, visit_unscreened

from dpmlite.core.threads import on_threads


cdef class OrderedSweep:

    def __cinit__(self, Partition partition, StayBounds bounds):
        self.partition, self.bounds = partition, bounds
        self.opened = self.all_changed = NEVER
        self.turn = <Py_ssize_t *> zeroed_memory(3 * CACHE_LINE)
        self.turn += CACHE_LINE // sizeof(Py_ssize_t)
        self.n_tickets = self.turn + CACHE_LINE // sizeof(Py_ssize_t)

    def __dealloc__(self):
        if self.turn != NULL:
            free(self.turn - CACHE_LINE // sizeof(Py_ssize_t))
        free(self.changed)

    cdef int visit_rows_until(self, Py_ssize_t last, Py_ssize_t n_threads) except -1:
        """Visit the next batch, up to row last - 1."""
        n_threads = min(n_threads, <Py_ssize_t> MAX_THREADS)
        self.first, self.last = self.next_row, min(last, self.partition.n_rows)
        self.n_batch_moves = self.n_batch_screened = 0
        if n_threads == 1:
            self.run(0)
        else:
            on_threads(self.run, range(n_threads))
        self.n_moves += self.n_batch_moves
        if n_threads > 1:
            self.bounds.n_rows_shared += self.last - self.first
        return 0

    cdef bint threads_pay(self, Py_ssize_t n_rows) noexcept nogil:
        """Return whether threads should share the next n_rows, if these are like this batch."""
        cdef Py_ssize_t n_here = self.last - self.first
        cdef double n_screened = <double> self.n_batch_screened * n_rows / n_here
        cdef Py_ssize_t n_slots = self.partition.component.n_slots
        return (n_screened * self.bounds.n_columns * n_slots >= MIN_SHARED_CELLS
                and self.n_long_waits < MAX_LONG_WAITS
                and ROWS_PER_SHARED_MOVE * self.n_batch_moves <= n_here)

    def run(self, _):
        """Visit rows of the batch, alone or with other threads that run this at the same time."""
        cdef Screen screen
        screen.memory = NULL
        try:
            with nogil:
                self.take_turns(&screen)
        except BaseException:
            store(self.turn, NO_TURN)
            raise
        finally:
            end_screen(&screen)

    cdef int take_turns(self, Screen *screen) except -1 nogil:
        """Take chunks, and visit their rows, until all rows of the batch are taken."""
        cdef Py_ssize_t first, end, seen, ticket = fetch_add(self.n_tickets, 1)
        cdef bint is_screened
        if not self.wait_for_turn(ticket):
            return 0
        begin_screen(screen, self.partition)
        self.n_active += 1
        while self.next_row < self.last and (
                load(&self.n_long_waits) < MAX_LONG_WAITS or self.n_active == 1):
            first, seen = self.next_row, ticket
            self.bounds.lose_if_busy(self.n_moves + self.n_batch_moves, first)
            is_screened = self.take_chunk(screen, first, self.last)
            end = self.next_row = screen.chunk.end
            ticket = fetch_add(self.n_tickets, 1)
            store(self.turn, seen + 1)
            if is_screened:
                screen_chunk(screen, self.partition, screen.chunk)
            if not self.wait_for_turn(ticket):
                return 0
            if self.catch_up(screen, seen, ticket) and is_screened:
                first = self.visit_chunk(screen, first, ticket)
            self.visit_rest(screen, first, end, ticket)
        self.n_active -= 1
        store(self.turn, ticket + 1)
        return 0

    cdef bint wait_for_turn(self, Py_ssize_t ticket) noexcept nogil:
        """Return True when it is the turn of a ticket, False after an error."""
        cdef const Py_ssize_t *place = self.turn
        cdef Py_ssize_t turn = load(place), n = 0
        while turn != ticket and turn != NO_TURN:
            n += 1
            if n == LOADS_PER_YIELD:
                fetch_add(&self.n_long_waits, 1)
            if n % LOADS_PER_YIELD == 0:
                yield_processor()
            else:
                pause()
            turn = load(place)
        return turn == ticket

    cdef bint take_chunk(self, Screen *screen, Py_ssize_t first, Py_ssize_t last) except -1 nogil:
        """Take rows of first..last-1 that are not known to stay; return whether to screen them."""
        cdef Py_ssize_t end = min(first + CHUNK, last)
        load_slots_if_needed(screen, self.partition)
        if pays_to_screen(self.partition, first, end):
            self.bounds.take_unknown_rows(self.partition, screen.chunk, first, last)
            return True
        screen.chunk.end = end
        return False

    cdef int visit_rest(self, Screen *screen, Py_ssize_t first, Py_ssize_t last,
                        Py_ssize_t ticket) except -1 nogil:
        """Screen and visit rows first..last-1 within one turn."""
        while first < last:
            if self.take_chunk(screen, first, last):
                screen_chunk(screen, self.partition, screen.chunk)
                first = self.visit_chunk(screen, first, ticket)
            else:
                first = self.place_rows(screen, first, screen.chunk.end, ticket)
        return 0

    cdef bint catch_up(self, Screen *screen, Py_ssize_t seen,
                       Py_ssize_t ticket) noexcept nogil:
        """Find bounds anew of slots that changed between the turns of two tickets.

        Return False if all bounds are out of date.
        """
        cdef Py_ssize_t k
        if self.all_changed > seen or screen.capacity < self.partition.component.n_slots:
            screen.capacity = 0
            return False
        if ticket == seen + 1:  # no other thread had a turn
            return True
        if self.opened > seen:
            rebound_open_slots(self.partition, screen)
        for k in range(min(screen.n_slots, self.capacity)):
            if self.changed[k] > seen and self.partition.component.n[k] > 0.0:
                rebound_slot(screen, self.partition, screen.chunk, k)
        return True

    cdef Py_ssize_t place_rows(self, Screen *screen, Py_ssize_t first, Py_ssize_t last,
                               Py_ssize_t ticket) except -1 nogil:
        """Visit rows without labels, and lose all bounds; return the row after them."""
        self.n_batch_moves += visit_unscreened(self.partition, first, last, True)
        self.bounds.lose()
        self.all_changed = ticket
        screen.capacity = 0
        return last

    cdef Py_ssize_t visit_chunk(self, Screen *screen, Py_ssize_t first,
                                Py_ssize_t ticket) except -1 nogil:
        """Visit rows of a screened chunk, and pass over those between; return the next row.

        It is before the chunk's end if a row between is not known to stay any more, because
        others have moved, or if a new slot needs more memory.
        """
        cdef Chunk *chunk = screen.chunk
        cdef Py_ssize_t i, j, left
        self.n_batch_screened += chunk.n_rows
        for j in range(chunk.n_rows):
            i = chunk.index[j]
            if first < i and not self.bounds.still_knows(self.partition, chunk, first, i):
                break
            first, left = i + 1, chunk.label[j]
            if not chunk.stays[j] and visit(self.partition, screen, j, not self.bounds.is_lost):
                self.n_batch_moves += 1
                self.bounds.track_move(self.partition, chunk, j)
                self.record_move(left, self.partition.label[i], ticket)
                if screen.capacity < self.partition.component.n_slots:
                    return first
        self.bounds.still_knows(self.partition, chunk, first, chunk.end)
        self.bounds.record(self.partition, chunk)
        return chunk.end

    cdef int record_move(self, Py_ssize_t left, Py_ssize_t joined,
                         Py_ssize_t ticket) except -1 nogil:
        """A row has moved in the turn of a ticket."""
        if self.capacity < self.partition.component.n_slots:
            self.make_room(self.partition.component.n_slots)
        self.changed[joined] = ticket
        if left != UNPLACED:
            self.changed[left] = ticket
        if self.partition.size[joined] == 1 or left != UNPLACED and self.partition.size[left] == 0:
            self.opened = ticket
        return 0

    cdef int make_room(self, Py_ssize_t n_slots) except -1 nogil:
        """Reallocate `changed` for n_slots and as many more."""
        self.changed = <Py_ssize_t *> resized(self.changed, 2 * n_slots * sizeof(Py_ssize_t))
        while self.capacity < 2 * n_slots:
            self.changed[self.capacity] = NEVER
            self.capacity += 1
        return 0
