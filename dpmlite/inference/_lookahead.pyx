"""Rows screened ahead, on threads.

What is noted of a row holds while others move, as long as clusters do not drift too far (_drift.pyx).
So threads note it of many rows; then these are visited in order, and most are passed over.
"""

from dpmlite.inference._bounds cimport Chunk
from dpmlite.inference._crew cimport Crew
from dpmlite.inference._screening cimport Screen, look_closely, next_rows, screen_chunk
from dpmlite.models._partition cimport Partition

cdef enum:
    LEAST_AHEAD = 2048  # rows that are worth to wake a thread for,
    MOST_AHEAD = 32768  # and of which most are still known when it is their turn
    FEW = 4             # threads are not worth while for one row in so many
    PIECE = 512         # rows that a thread looks at before it takes others, at least,
    PIECES = 8          # and for each thread so many times, where there are more


cdef class LookAhead(Crew):
    """Threads that look at different rows, each in a chunk of the screen of its own."""

    def __init__(self, Py_ssize_t n_threads, Partition partition):
        self.partition, self.drift = partition, partition.drift
        self.first = self.last = self.n_screened = self.n_visited = 0
        self.all_blank = False

    cdef int meet(self, Screen *screen) except -1 nogil:
        """Look at slots that are apart, for all rows."""
        self.screen, self.last, self.meeting = screen, self.partition.n_rows, True
        self.share(self.n_pieces_of(self.last))
        self.last, self.meeting = 0, False
        return 0

    cdef Py_ssize_t n_pieces_of(self, Py_ssize_t n_rows) noexcept nogil:
        return max(min(n_rows // PIECE, PIECES * (self.n_helpers + 1)), <Py_ssize_t> 1)

    cdef bint is_worth_while(self, Py_ssize_t first) noexcept nogil:
        """If of the rows so far, or those looked at last, enough were not known, and are now."""
        cdef Py_ssize_t n = self.last - self.first
        if first < LEAST_AHEAD or first < self.last or self.drift.lost:
            return False
        if n == 0:
            return FEW * self.n_visited >= first
        return FEW * self.n_screened >= n and 2 * self.n_visited <= n

    cdef int look(self, Screen *screen, Py_ssize_t first) except -1 nogil:
        """Screen rows from `first` on that are not known to stay."""
        self.screen, self.first = screen, first
        self.last = min(first + min(first, <Py_ssize_t> MOST_AHEAD), self.partition.n_rows)
        self.all_blank = self.all_blank or self.drift.blank
        self.drift.blank = False
        self.n_visited = 0
        self.n_screened = self.share(self.n_pieces_of(self.last - first))
        return 0

    cdef Py_ssize_t do(self, Py_ssize_t i, Py_ssize_t piece, Py_ssize_t n_pieces) noexcept nogil:
        """Look at rows that are not known to stay; returns how many."""
        cdef Chunk *chunk = &self.screen.chunk[i]
        cdef Py_ssize_t n = self.last - self.first, n_screened = 0
        cdef Py_ssize_t first = self.first + piece * n // n_pieces
        cdef Py_ssize_t last = self.first + (piece + 1) * n // n_pieces
        if self.meeting:
            self.drift.meet(self.partition, self.screen, chunk, first, last)
            return 0
        while first < last:
            if self.all_blank:
                next_rows(chunk, first, last)
            else:
                self.drift.gather(self.partition, chunk, first, last)
            screen_chunk(self.screen, self.partition, chunk)
            look_closely(self.screen, self.partition, chunk)
            self.drift.note(self.partition, chunk)
            n_screened += chunk.n_rows
            first = chunk.end
        return n_screened
