"""Chunks of rows that need no visit, found ahead on threads.

What holds of a row holds for as long as no row has moved. So threads look for chunks in which no
row would move as things stand; the next one where one might is visited as it is without threads.
"""

from libc.math cimport INFINITY
from libc.string cimport memset

from dpmlite.inference._bounds cimport CHUNK, Chunk
from dpmlite.inference._crew cimport Crew
from dpmlite.inference._screening cimport Screen, score_some, screen_chunk
from dpmlite.models._partition cimport TIE, Partition
from dpmlite.models._rows cimport Row


cdef class LookAhead(Crew):
    """Threads that look at different chunks, each in a chunk of the screen of its own."""

    def __init__(self, Py_ssize_t n_threads, Partition partition):
        self.partition, self.drift = partition, partition.drift
        self.n_chunks = 0

    cdef Py_ssize_t skip(self, Screen *screen, Py_ssize_t first,
                         Py_ssize_t n_chunks) noexcept nogil:
        """The first row of the next chunk in which one may move, or after those looked at.

        `n_chunks`, MOST_AHEAD at most, are looked at if those from row `first` on were not yet.
        """
        if self.clock != screen.clock or not self.first <= first < self.end():
            self.screen, self.clock = screen, screen.clock
            self.first, self.n_chunks = first, n_chunks
            self.share()
        cdef Py_ssize_t i = (first - self.first) // CHUNK
        while first < self.end() and self.quiet[i]:
            i += 1
            first = self.first + i * CHUNK
        return first

    cdef Py_ssize_t end(self) noexcept nogil:
        return min(self.first + self.n_chunks * CHUNK, self.partition.n_rows)

    cdef void work(self, Py_ssize_t part, Py_ssize_t n_parts) noexcept nogil:
        cdef Chunk *chunk = &self.screen.chunk[part]
        cdef Py_ssize_t i = part * self.n_chunks // n_parts
        cdef Py_ssize_t end = (part + 1) * self.n_chunks // n_parts
        memset(self.quiet + i, True, end - i)
        end = min(self.first + end * CHUNK, self.partition.n_rows)
        i = self.first + i * CHUNK
        while i < end:
            self.drift.gather(self.partition, chunk, i, end)
            screen_chunk(self.screen, self.partition, chunk)
            self.drift.note(chunk)
            self.look_at(chunk)
            i = chunk.end

    cdef void look_at(self, Chunk *chunk) noexcept nogil:
        """Find the rows that would move. It only reads the partition: other threads do too."""
        cdef Py_ssize_t j
        for j in range(chunk.n_rows):
            if not chunk.stays[j] and may_move(self.screen, self.partition, chunk, j):
                self.quiet[(chunk.index[j] - self.first) // CHUNK] = False


cdef bint may_move(const Screen *screen, Partition partition, Chunk *chunk,
                   Py_ssize_t j) noexcept nogil:
    cdef Row row = partition.row_into(chunk.index[j], chunk.row)
    cdef double stay = partition.quick_ceiling(chunk.index[j], &row)
    if not stay < INFINITY:
        return True
    return score_some(partition, &row, screen, chunk.bound + j, stay, chunk.cost) < stay - TIE
