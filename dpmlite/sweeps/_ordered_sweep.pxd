from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._screened_slots cimport Screen
from dpmlite.sweeps._stay_bounds cimport StayBounds

cdef enum:
    NO_TURN = -1               # after an error
    NEVER = -1
    MAX_THREADS = 4            # visits, which take turns, are about a third of the work
    MIN_SHARED_CELLS = 1000000  # cells to screen, in all slots, that make up for waking a thread
    ROWS_PER_SHARED_MOVE = 16  # rows per row that moves; with fewer, turns take most of the time
    MAX_LONG_WAITS = 16        # in a sweep; after more, one thread goes on alone


cdef class OrderedSweep:
    cdef Partition partition
    cdef StayBounds bounds
    cdef Py_ssize_t first, last        # the batch has rows first..last-1,
    cdef Py_ssize_t next_row           # and those from here on are in no chunk yet
    cdef Py_ssize_t n_moves            # rows that have moved
    cdef Py_ssize_t n_batch_moves      # rows of the batch that have moved,
    cdef Py_ssize_t n_batch_screened   # and that were screened
    cdef Py_ssize_t n_active           # threads that take chunks
    cdef Py_ssize_t n_long_waits       # waits in this sweep, as for threads that do not run
    cdef Py_ssize_t *turn              # the ticket whose turn it is, or NO_TURN
    cdef Py_ssize_t *n_tickets         # tickets that were taken
    cdef Py_ssize_t *changed           # [slot] ticket in whose turn it last changed, or NEVER
    cdef Py_ssize_t capacity           # slots that `changed` has memory for
    cdef Py_ssize_t opened             # ticket in whose turn the open slots last changed,
    cdef Py_ssize_t all_changed        # and all slots

    cdef int visit_rows_until(self, Py_ssize_t last, Py_ssize_t n_threads) except -1
    cdef bint threads_pay(self, Py_ssize_t n_rows) noexcept nogil
    cdef int take_turns(self, Screen *screen) except -1 nogil
    cdef bint wait_for_turn(self, Py_ssize_t ticket) noexcept nogil
    cdef bint take_chunk(self, Screen *screen, Py_ssize_t first, Py_ssize_t last) except -1 nogil
    cdef int visit_rest(self, Screen *screen, Py_ssize_t first, Py_ssize_t last,
                        Py_ssize_t ticket) except -1 nogil
    cdef bint catch_up(self, Screen *screen, Py_ssize_t seen,
                       Py_ssize_t ticket) noexcept nogil
    cdef Py_ssize_t place_rows(self, Screen *screen, Py_ssize_t first, Py_ssize_t last,
                               Py_ssize_t ticket) except -1 nogil
    cdef Py_ssize_t visit_chunk(self, Screen *screen, Py_ssize_t first,
                                Py_ssize_t ticket) except -1 nogil
    cdef int record_move(self, Py_ssize_t left, Py_ssize_t joined,
                         Py_ssize_t ticket) except -1 nogil
    cdef int make_room(self, Py_ssize_t n_slots) except -1 nogil
