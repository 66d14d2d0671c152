# Chunks of rows that need no visit, found ahead on threads.

from dpmlite.inference._bounds cimport Chunk
from dpmlite.inference._crew cimport Crew
from dpmlite.inference._drift cimport Drift
from dpmlite.inference._screening cimport Screen
from dpmlite.models._partition cimport Partition

cdef enum:
    MOST_AHEAD = 512  # chunks


cdef class LookAhead(Crew):
    cdef Partition partition
    cdef Drift drift
    cdef Screen *screen
    cdef Py_ssize_t first        # row of the chunks that were looked at,
    cdef Py_ssize_t n_chunks     # their number,
    cdef long long clock         # and the screen's clock then
    cdef char[MOST_AHEAD] quiet  # [CHUNK rows] whether none of them would move

    cdef Py_ssize_t skip(self, Screen *screen, Py_ssize_t first, Py_ssize_t n_chunks) noexcept nogil
    cdef Py_ssize_t end(self) noexcept nogil
    cdef void look_at(self, Chunk *chunk) noexcept nogil
