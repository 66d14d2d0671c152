# Rows screened ahead, on threads or slot by slot.

from dpmlite.inference._bounds cimport Chunk
from dpmlite.inference._crew cimport Crew
from dpmlite.inference._drift cimport Drift
from dpmlite.inference._reach cimport Reach
from dpmlite.inference._relay cimport Relay
from dpmlite.inference._screening cimport Screen
from dpmlite.models._partition cimport Partition

cdef enum:
    MOST_IN_TURN = 65536  # rows that are visited in turn before it is asked again whether to


cdef class LookAhead(Crew):
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
    cdef Py_ssize_t *slots       # [thread][slot, one more] where each begins, or which are near
    cdef Py_ssize_t n_slots      # that there is memory for
    cdef bint meeting            # slots that are apart, rather
    cdef Relay relay
    cdef bint relaying           # no row is looked at ahead, but all are visited in turn

    cdef int meet(self, Screen *screen) except -1 nogil
    cdef bint is_worth_while(self, Py_ssize_t first) noexcept nogil
    cdef int look(self, Screen *screen, Py_ssize_t first) except -1 nogil
    cdef bint can_take_turns(self, Py_ssize_t first, Py_ssize_t moves) noexcept nogil
    cdef Py_ssize_t take_turns(self, Py_ssize_t first, Py_ssize_t last,
                               Py_ssize_t *moves) except -1 nogil
    cdef bint has_short_reach(self) except -1 nogil
    cdef int make_room(self) except -1 nogil
    cdef Py_ssize_t n_pieces_of(self, Py_ssize_t n_rows) noexcept nogil
    cdef Py_ssize_t look_in_order(self, Chunk *chunk, Py_ssize_t first,
                                  Py_ssize_t last) noexcept nogil
    cdef Py_ssize_t look_by_slot(self, Chunk *chunk, Py_ssize_t *slots, Py_ssize_t first,
                                 Py_ssize_t last) noexcept nogil
    cdef Py_ssize_t sort_by_slot(self, Py_ssize_t *order, Py_ssize_t *start, Py_ssize_t first,
                                 Py_ssize_t last) noexcept nogil
    cdef Py_ssize_t look_near(self, Chunk *chunk, Py_ssize_t *slots, Py_ssize_t *order,
                              Py_ssize_t n) noexcept nogil
    cdef void look_everywhere(self, Chunk *chunk, const Py_ssize_t *order,
                              Py_ssize_t n) noexcept nogil
    cdef void look_at(self, Chunk *chunk) noexcept nogil
