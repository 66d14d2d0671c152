"""Rows visited in turn by several threads.

Where many rows move, bounds do not hold for long. But while a chunk of rows is visited, only few slots
change. So threads take chunks, and screen them while others visit those before; when it is its turn, a
thread finds bounds anew of the slots that have changed since, and visits. Labels are those of visits
one by one.

Each thread has a screen of its own, by which it knows the slots. Of what is shared, all threads read
rows, and the label of each before its turn; the rest is for the thread whose turn it is.
"""

# What another thread has written before it stored a value is there when that value is loaded.
cdef extern from *:
    """
    #if defined(__GNUC__)
    #  include <sched.h>
    #  define DPM_CAN_RELAY 1
    #  define dpm_load(x) __atomic_load_n(x, __ATOMIC_ACQUIRE)
    #  define dpm_store(x, value) __atomic_store_n(x, value, __ATOMIC_RELEASE)
    #  define dpm_add(x, value) __atomic_fetch_add(x, value, __ATOMIC_RELAXED)
    #  define dpm_let_others_run() sched_yield()
    #else  /* never called */
    #  define DPM_CAN_RELAY 0
    #  define dpm_load(x) (*(x))
    #  define dpm_store(x, value) (*(x) = (value))
    #  define dpm_add(x, value) (*(x))
    #  define dpm_let_others_run()
    #endif
    #if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    #  define dpm_wait_a_little() __builtin_ia32_pause()
    #elif defined(__GNUC__) && defined(__aarch64__)
    #  define dpm_wait_a_little() __asm__ __volatile__("yield")
    #else
    #  define dpm_wait_a_little()
    #endif
    """
    const bint CAN_RELAY "DPM_CAN_RELAY"
    Py_ssize_t load "dpm_load"(const Py_ssize_t *x) noexcept nogil
    void store "dpm_store"(Py_ssize_t *x, Py_ssize_t value) noexcept nogil
    Py_ssize_t fetch_add "dpm_add"(Py_ssize_t *x, Py_ssize_t value) noexcept nogil
    void let_others_run "dpm_let_others_run"() noexcept nogil
    void wait_a_little "dpm_wait_a_little"() noexcept nogil

cdef enum:
    OVER = -1
    NEVER = -1
    MOST_RUNNERS = 4  # visits, which are one after the other, are about a third of the work
    PATIENCE = 1000   # looks at whose turn it is before another program may run


cdef class Relay:
    """As many runners as threads, or fewer: each is to `run` at the same time."""

    cdef Partition partition
    cdef Drift drift
    cdef Py_ssize_t n_runners
    cdef Screen *screen        # [runner]
    cdef Py_ssize_t *turn      # the chunk whose turn it is, or OVER; and the memory of what follows:
    cdef Py_ssize_t *n_taken   # chunks that runners have taken
    cdef Py_ssize_t *changed   # [slot] the chunk in which it last changed, or NEVER
    cdef Py_ssize_t opened     # the same of which slots are open
    cdef Py_ssize_t first, last  # rows to visit
    cdef Py_ssize_t visited    # row after those that were, if there is room for all slots `last`
    cdef Py_ssize_t n_moves    # of the sweep
    cdef object error          # why

    def __cinit__(self, Py_ssize_t n_threads, Partition partition, Drift drift):
        self.partition, self.drift = partition, drift
        self.n_runners = min(n_threads, <Py_ssize_t> MOST_RUNNERS)
        self.screen = <Screen *> PyMem_RawCalloc(self.n_runners, sizeof(Screen))
        if self.screen == NULL:
            raise MemoryError(f"no memory for {n_threads} threads")

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_runners if self.screen != NULL else 0):
            end_screen(&self.screen[i])
        PyMem_RawFree(self.screen)
        PyMem_RawFree(self.turn)

    cdef int begin(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t moves) except -1 nogil:
        """Rows first..last-1 are to be visited; so many moved before."""
        cdef Py_ssize_t i, k
        for i in range(self.n_runners):
            end_screen(&self.screen[i])
            begin_screen(&self.screen[i], self.partition, 1)
            prepare(&self.screen[i], self.partition)
        PyMem_RawFree(self.turn)
        self.turn = <Py_ssize_t *> PyMem_RawCalloc(2 * APART + self.screen.room, sizeof(Py_ssize_t))
        if self.turn == NULL:
            with gil:
                raise MemoryError(f"no memory for {self.screen.room} clusters")
        self.n_taken = self.turn + APART
        self.changed = self.n_taken + APART
        for k in range(self.screen.room):
            self.changed[k] = NEVER
        self.opened = NEVER
        self.first, self.last, self.visited = first, last, last
        self.n_moves = moves
        return 0

    cdef Py_ssize_t end(self) except -1 nogil:
        """All threads are back; returns the row after those that were visited."""
        if self.error is not None:
            with gil:
                error, self.error = self.error, None
                raise error
        return self.visited

    cdef Py_ssize_t run(self, Py_ssize_t i) noexcept with gil:
        """What runner i does; returns how many rows it moved."""
        cdef Py_ssize_t moves = 0
        try:
            with nogil:
                moves = self.take_chunks(&self.screen[i])
        except BaseException as error:
            self.error = error
            store(self.turn, OVER)
        return moves

    cdef Py_ssize_t take_chunks(self, Screen *screen) except -1 nogil:
        cdef Py_ssize_t c, row, known = 0, moves = 0
        while True:
            c = fetch_add(self.n_taken, 1)
            row = self.first + c * CHUNK
            if row >= self.last:
                break
            next_rows(screen.chunk, row, self.last)
            screen_chunk(screen, self.partition, screen.chunk)
            if not self.wait_for_turn(c):
                break
            self.catch_up(screen, known)
            moves += self.visit_all(screen, c)
            known = c + 1
        return moves

    cdef bint wait_for_turn(self, Py_ssize_t c) noexcept nogil:
        """False if it does not come."""
        cdef const Py_ssize_t *place = self.turn  # what is beside it here is written meanwhile
        cdef Py_ssize_t turn = load(place), n = 0
        while turn != c and turn != OVER:
            n += 1
            if n % PATIENCE == 0:
                let_others_run()
            else:
                wait_a_little()
            turn = load(place)
        return turn == c

    cdef void catch_up(self, Screen *screen, Py_ssize_t known) noexcept nogil:
        """Renew what has changed since the thread knew of all before the chunk `known`."""
        cdef const double *n = self.partition.component.n
        cdef Py_ssize_t k
        if self.opened >= known:
            renew_slot(self.partition, screen, screen.chunk, list_open(screen, self.partition))
        for k in range(screen.n_slots):
            if self.changed[k] >= known and n[k] > 0.0:
                renew_slot(self.partition, screen, screen.chunk, k)

    cdef Py_ssize_t visit_all(self, Screen *screen, Py_ssize_t c) except -1 nogil:
        """Visit the rows of chunk c, and give the turn away; returns how many moved."""
        cdef Chunk *chunk = screen.chunk
        cdef Py_ssize_t i, j, left, moves = 0
        self.drift.lose_if_busy(self.n_moves, chunk.index[0])
        for j in range(chunk.n_rows):
            i = chunk.index[j]
            left = self.partition.label[i]
            if not chunk.stays[j] and visit(self.partition, screen, chunk, self.drift, j):
                moves += 1
                self.n_moves += 1
                self.drift.row_moved(self.partition, chunk, j)
                self.note_move(left, self.partition.label[i], c)
                if screen.room < self.partition.component.n_slots:
                    self.visited = i + 1
                    store(self.turn, OVER)
                    return moves
        self.drift.note(self.partition, chunk, self.drift.cap)
        store(self.turn, c + 1)
        return moves

    cdef void note_move(self, Py_ssize_t left, Py_ssize_t joined, Py_ssize_t c) noexcept nogil:
        """A row has in chunk c."""
        self.changed[joined] = c
        if left != UNPLACED:
            self.changed[left] = c
        if self.partition.size[joined] == 1 or left != UNPLACED and self.partition.size[left] == 0:
            self.opened = c
