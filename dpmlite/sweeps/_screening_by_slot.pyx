"""Rows screened by slot, before they are visited: those of a slot together, in near slots alone.

Where clusters lie far apart, few slots are near (_near_slots.pyx), and this takes a fraction of the
time of all slots. What is found is recorded in the stay bounds, and visits then pass over rows that
are known to stay. Those that are not are screened in all slots when it is their turn. So labels
are those of visits one by one.
"""

from libc.stdlib cimport free, malloc
from libc.string cimport memset

from dpmlite.core._constants cimport UNPLACED
from dpmlite.sweeps._screening cimport (
    begin_screen, end_screen, load_slots_if_needed, screen_near)
from dpmlite.sweeps._screening_bounds cimport CHUNK, Chunk

from dpmlite.core.threads import on_threads

cdef enum:
    PART_CELLS = 65536      # cells of rows that are sorted at a time: they stay in the cache
    MIN_FAR_CELLS = 256     # columns times far slots, on average, that make up for sorting rows
    MIN_ROWS_PER_SLOT = 64  # rows of the sweep, each time that near slots are found


cdef class ScreeningBySlot:

    def __cinit__(self, Partition partition, StayBounds bounds):
        self.partition, self.bounds, self.near = partition, bounds, NearSlots(bounds)
        self.stage_row = -1
        self.part_rows = max(PART_CELLS // bounds.n_columns, CHUNK * bounds.n_slots)

    cdef bint pays(self) except -1:
        """Return whether many slots are far from each other, on average."""
        cdef Py_ssize_t n = self.bounds.n_slots, D = self.bounds.n_columns
        if self.bounds.is_lost:
            return False
        if self.stage_row != self.bounds.stage_row:
            if self.bounds.n_rows < MIN_ROWS_PER_SLOT * n * (self.n_finds + 1):
                return False
            self.near.find()
            self.n_finds += 1
            self.stage_row = self.bounds.stage_row
        return (n * n - self.near.n_near) * D >= MIN_FAR_CELLS * n

    cdef int screen_rows(self, Py_ssize_t first, Py_ssize_t last) except -1:
        """Record how long rows first..last-1 are known to stay."""
        cdef Py_ssize_t n = self.part_rows
        on_threads(self.screen_part, [(i, min(i + n, last)) for i in range(first, last, n)])
        self.bounds.is_blank = False
        return 0

    def screen_part(self, rows):
        """Screen rows of one part, from the first of a pair to before the second."""
        cdef Py_ssize_t first = rows[0], last = rows[1]
        cdef Screen screen
        begin_screen(&screen, self.partition)
        cdef Py_ssize_t *row = <Py_ssize_t *> malloc(
            (last - first + 2 * (self.bounds.n_slots + 1)) * sizeof(Py_ssize_t))
        if row == NULL:
            raise MemoryError(f"no memory for {last - first} rows")
        cdef Py_ssize_t *slots = row + last - first
        cdef Py_ssize_t *start = slots + self.bounds.n_slots + 1
        try:
            with nogil:
                load_slots_if_needed(&screen, self.partition)
                self.screen_sorted(
                    &screen, row, self.sort_by_slot(first, last, row, start), slots)
        finally:
            end_screen(&screen)
            free(row)

    cdef Py_ssize_t sort_by_slot(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t *row,
                                 Py_ssize_t *start) noexcept nogil:
        """List those of rows first..last-1 that have labels, sorted by these; return how many.

        start[k] becomes the place of the first row of a slot above k.
        """
        cdef Py_ssize_t i, k, n = 0, n_slots = self.bounds.n_slots
        cdef const Py_ssize_t *label = &self.partition.label[0]
        start -= UNPLACED
        memset(start + UNPLACED, 0, (n_slots - UNPLACED) * sizeof(Py_ssize_t))
        for i in range(first, last):
            self.partition.X.prefetch(self.partition.in_use(i))
            start[label[i]] += 1
        for k in range(n_slots):
            n += start[k]
            start[k] = n - start[k]
        for i in range(first, last):
            k = label[i]
            if k != UNPLACED:
                row[start[k]] = i
                start[k] += 1
        return n

    cdef int screen_sorted(self, Screen *screen, const Py_ssize_t *row, Py_ssize_t n,
                           Py_ssize_t *slots) except -1 nogil:
        """Screen n rows, sorted by slot, in slots near theirs, and record what is found."""
        cdef Chunk *chunk = screen.chunk
        cdef const Py_ssize_t *label = &self.partition.label[0]
        cdef Py_ssize_t j, n_near, done = 0
        while done < n:
            chunk.n_rows = min(n - done, <Py_ssize_t> CHUNK)
            for j in range(chunk.n_rows):
                chunk.index[j] = row[done + j]
            done += chunk.n_rows
            n_near = self.near.list_near(
                self.partition, label[chunk.index[0]], label[chunk.index[chunk.n_rows - 1]], slots)
            screen_near(screen, self.partition, chunk, slots, n_near, self.near.level)
            self.near.unbound_rows_near_others(chunk)
            self.bounds.record(self.partition, chunk)
        return 0


cdef bint may_pay(Partition partition, StayBounds bounds) noexcept nogil:
    """Return whether a sweep begins, of which nothing is known, of many rows, side by side, and slots.
    """
    return (bounds.is_blank and not bounds.is_lost and partition.X.first != NULL
            and bounds.n_slots * bounds.n_columns >= MIN_FAR_CELLS
            and bounds.n_rows >= MIN_ROWS_PER_SLOT * bounds.n_slots)
