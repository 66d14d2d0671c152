"""Rows screened by slot, before they are visited: the rows of a slot together, in near slots only.

Where clusters lie far apart, few slots are near (_near_slots.pyx), and this takes a fraction of the
time of all slots. The stay bounds record how long the rows are known to stay. Then rows are visited
in their order, and those known to stay are passed over. The others are screened in all slots. So
labels are those of visits one by one.
"""

from dpmlite.core._constants cimport UNPLACED
from dpmlite.core._memory cimport index_array
from dpmlite.sweeps._screened_slots cimport begin_screen, end_screen, load_slots_if_needed
from dpmlite.sweeps._screening cimport screen_near
from dpmlite.sweeps._screening_bounds cimport CHUNK, Chunk

from dpmlite.core.threads import on_threads

cdef enum:
    PART_CELLS = 65536         # cells of rows that are sorted together and fit into the cache
    MIN_FAR_CELLS = 256        # columns times far slots of a slot that make up for sorting
    MIN_ROWS_PER_SLOT = 128    # rows of a sweep that make up for finding near slots once
    MIN_ROWS_PER_MOVE = 16     # rows of the last batch per row that moved,
    MIN_ROWS_PER_UNKNOWN = 8   # and, if it was screened by slot, per row to screen again


cdef class ScreeningBySlot:

    def __cinit__(self, Partition partition, StayBounds bounds):
        self.partition, self.bounds, self.near = partition, bounds, NearSlots(bounds)
        self.stage_row = -1

    cdef bint pays(self, OrderedSweep ordered) except -1:
        """Return whether to screen the next rows by slot, if they are like the last batch."""
        cdef Py_ssize_t n_rows = ordered.last - ordered.first, n_unknown = 0
        if self.bounds.n_rows_by_slot > 0:
            n_unknown = ordered.n_batch_screened
        return (not self.bounds.is_lost
                and MIN_ROWS_PER_MOVE * ordered.n_batch_moves <= n_rows
                and MIN_ROWS_PER_UNKNOWN * n_unknown <= n_rows
                and self.slots_are_far())

    cdef bint slots_are_far(self) except -1:
        """Find the near slots of this stage; return whether enough others are far."""
        cdef Py_ssize_t n = self.bounds.n_slots
        if self.stage_row != self.bounds.stage_row:
            if self.bounds.n_rows < MIN_ROWS_PER_SLOT * n * (self.n_finds + 1):
                return False
            self.near.find()
            self.stage_row = self.bounds.stage_row
            self.n_finds += 1
        return (n * n - self.near.n_near) * self.bounds.n_columns >= MIN_FAR_CELLS * n

    cdef int screen_rows(self, Py_ssize_t first, Py_ssize_t last) except -1:
        """Record how long rows first..last-1 are known to stay, in parts."""
        cdef Py_ssize_t n = max(PART_CELLS // self.bounds.n_columns, CHUNK * self.bounds.n_slots)
        on_threads(self.screen_part, [(i, min(i + n, last)) for i in range(first, last, n)])
        self.bounds.is_blank = False
        self.bounds.n_rows_by_slot += last - first
        return 0

    def screen_part(self, rows):
        """Screen the rows of one part, from the first to before the second of two row numbers."""
        cdef Py_ssize_t first = rows[0], last = rows[1], n_unplaced
        cdef Py_ssize_t[::1] row = index_array(last - first)
        cdef Py_ssize_t[::1] start = index_array(self.bounds.n_slots - UNPLACED)
        cdef Py_ssize_t[::1] slots = index_array(self.bounds.n_slots + 1)
        cdef Screen screen
        begin_screen(&screen, self.partition)
        try:
            with nogil:
                load_slots_if_needed(&screen, self.partition)
                n_unplaced = self.sort_by_slot(first, last, &row[0], &start[0])
                self.screen_sorted(
                    &screen, &row[0] + n_unplaced, last - first - n_unplaced, &slots[0])
        finally:
            end_screen(&screen)

    cdef Py_ssize_t sort_by_slot(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t *row,
                                 Py_ssize_t *start) noexcept nogil:
        """List rows first..last-1 by label; return how many have none, which come first.

        They are prefetched in the order in which they lie in memory: to read them in another one
        from there would take much longer. `start` must be 0 for each label.
        """
        cdef Py_ssize_t i, k, n, total = 0
        for i in range(first, last):
            self.partition.prefetch(i)
            start[self.partition.label[i] - UNPLACED] += 1
        for k in range(self.bounds.n_slots - UNPLACED):
            n, start[k] = start[k], total
            total += n
        for i in range(first, last):
            k = self.partition.label[i] - UNPLACED
            row[start[k]] = i
            start[k] += 1
        return start[0]

    cdef void screen_sorted(self, Screen *screen, const Py_ssize_t *row, Py_ssize_t n,
                            Py_ssize_t *slots) noexcept nogil:
        """Screen n rows, sorted by slot, in slots near theirs, and record how long they stay."""
        cdef Chunk *chunk = screen.chunk
        cdef const Py_ssize_t *label = &self.partition.label[0]
        cdef Py_ssize_t j, n_near, first = 0
        while first < n:
            chunk.n_rows = min(n - first, <Py_ssize_t> CHUNK)
            for j in range(chunk.n_rows):
                chunk.index[j] = row[first + j]
            n_near = self.near.list_near(
                self.partition, label[row[first]], label[row[first + chunk.n_rows - 1]], slots)
            screen_near(screen, self.partition, chunk, slots, n_near, self.near.level)
            self.near.remove_high_ceilings(chunk)
            self.bounds.record(self.partition, chunk)
            first += chunk.n_rows


cdef ScreeningBySlot screening_by_slot(Partition partition, StayBounds bounds):
    """Return what screens the rows of a sweep that begins; None if it would not pay.

    It needs rows of weight 1 that lie side by side, of which nothing is known, and many slots and
    columns.
    """
    if (bounds.is_lost or not bounds.is_blank or partition.X.first == NULL
            or partition.X.row_weights != NULL
            or bounds.n_slots * bounds.n_columns < MIN_FAR_CELLS
            or bounds.n_rows < MIN_ROWS_PER_SLOT * bounds.n_slots):
        return None
    return ScreeningBySlot(partition, bounds)
