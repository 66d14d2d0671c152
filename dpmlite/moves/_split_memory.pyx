"""Kernel of split_memory.py: what is known of slots from attempts to split them."""

from libc.stdlib cimport free

from dpmlite.core._constants cimport UNPLACED
from dpmlite.core._memory cimport resized


cdef class SplitMemory(PartitionListener):

    def __init__(self, Py_ssize_t n_rows):
        self.n_rows = n_rows

    def __dealloc__(self):
        free(self.changed)
        free(self.normal)

    @property
    def n_changed(self):
        return [self.changed[k] for k in range(self.n_slots)]

    @property
    def looked_normal(self):
        return [self.normal[k] != 0 for k in range(self.n_slots)]

    def mark_tried(self, Py_ssize_t k, bint looked_normal=False):
        self.check_slot(k)
        self.mark(k, 0, looked_normal)

    def mark_untried(self, Py_ssize_t k):
        self.check_slot(k)
        self.mark(k, self.n_rows, False)

    cdef void mark(self, Py_ssize_t k, Py_ssize_t n_changed, bint normal) noexcept nogil:
        self.changed[k], self.normal[k] = n_changed, normal

    cdef int check_slot(self, Py_ssize_t k) except -1:
        if not 0 <= k < self.n_slots:
            raise IndexError(f"slot must be in 0..{self.n_slots - 1}, got {k}")
        return 0

    cdef void row_moved(self, Py_ssize_t i, Py_ssize_t left, Py_ssize_t joined) noexcept nogil:
        if left != UNPLACED:
            self.changed[left] += 1
        self.changed[joined] += 1

    cdef void slots_merged(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        self.mark(j, self.n_rows, False)
        self.mark(k, self.n_rows, False)

    cdef int slots_replaced(self, slots, targets, division) except -1:
        cdef SplitMemory memory = split_memory_of(division)
        cdef Py_ssize_t j, k
        for k in slots:
            self.mark(k, self.n_rows, False)
        for j, k in enumerate(targets):
            self.mark(k, memory.changed[j], memory.normal[j])
        return 0

    cdef void slots_renumbered(self, const Py_ssize_t *new_slot, Py_ssize_t n_slots) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(n_slots):
            if new_slot[k] != UNPLACED:
                self.mark(new_slot[k], self.changed[k], self.normal[k])

    cdef int slots_made(self, Py_ssize_t first, Py_ssize_t n_slots) except -1 nogil:
        cdef Py_ssize_t k
        if self.capacity < n_slots:
            self.changed = <Py_ssize_t *> resized(
                self.changed, 2 * n_slots * sizeof(Py_ssize_t))
            self.normal = <char *> resized(self.normal, 2 * n_slots)
            self.capacity = 2 * n_slots
        self.n_slots = n_slots
        for k in range(first, n_slots):
            self.mark(k, self.n_rows, False)
        return 0


cpdef SplitMemory split_memory_of(Partition partition):
    for listener in partition.listener_list.listeners:
        if isinstance(listener, SplitMemory):
            return listener
    cdef SplitMemory memory = SplitMemory(partition.n_rows)
    partition.add_listener(memory)
    return memory
