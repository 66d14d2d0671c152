"""Rows screened ahead, on threads.

What is noted of a row holds while others move, as long as clusters do not drift too far (_drift.pyx).
So threads note it of many rows; then these are visited in order, and most are passed over.
"""

from dpmlite.inference._bounds cimport Chunk
from dpmlite.inference._crew cimport Crew
from dpmlite.inference._screening cimport Screen, look_closely, screen_chunk
from dpmlite.models._partition cimport Partition

cdef enum:
    LEAST_AHEAD = 2048  # rows that are worth to wake a thread for,
    MOST_AHEAD = 32768  # and of which most are still known when it is their turn
    FEW = 4             # a thread is not worth while for one row in so many


cdef class LookAhead(Crew):
    """Threads that look at different rows, each in a chunk of the screen of its own."""

    def __init__(self, Py_ssize_t n_threads, Partition partition):
        self.partition, self.drift = partition, partition.drift
        self.first = self.last = self.n_screened = self.n_visited = 0

    cdef int meet(self, Screen *screen) except -1 nogil:
        """Look at slots that are apart, for all rows."""
        self.screen, self.last, self.meeting = screen, self.partition.n_rows, True
        self.share()
        self.last, self.meeting = 0, False
        return 0

    cdef bint is_worth_while(self, Py_ssize_t first) noexcept nogil:
        """If all rows were visited that were looked at, few were known before, and most since."""
        cdef Py_ssize_t n = self.last - self.first
        if first < LEAST_AHEAD or first < self.last or self.drift.lost:
            return False
        return n == 0 or (
            FEW * (self.n_helpers + 1) * self.n_screened >= n and 2 * self.n_visited <= n)

    cdef int look(self, Screen *screen, Py_ssize_t first) except -1 nogil:
        """Screen rows from `first` on that are not known to stay."""
        self.screen, self.first = screen, first
        self.last = min(first + min(first, <Py_ssize_t> MOST_AHEAD), self.partition.n_rows)
        self.drift.blank = False
        self.n_visited = 0
        return self.share()

    cdef void work(self, Py_ssize_t part, Py_ssize_t n_parts) noexcept nogil:
        cdef Chunk *chunk = &self.screen.chunk[part]
        cdef Py_ssize_t n = self.last - self.first, n_screened = 0
        cdef Py_ssize_t first = self.first + part * n // n_parts
        cdef Py_ssize_t last = self.first + (part + 1) * n // n_parts
        if self.meeting:
            self.drift.meet(self.partition, self.screen, chunk, first, last)
            return
        while first < last:
            self.drift.gather(self.partition, chunk, first, last)
            screen_chunk(self.screen, self.partition, chunk)
            look_closely(self.screen, self.partition, chunk)
            self.drift.note(chunk)
            n_screened += chunk.n_rows
            first = chunk.end
        if part == 0:
            self.n_screened = n_screened
