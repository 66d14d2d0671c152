"""Kernel of listener.py: what a partition tells of its changes."""

from libc.stdlib cimport free

from dpmlite.core._memory cimport resized


cdef class PartitionListener:

    cdef void row_moved(self, Py_ssize_t i, Py_ssize_t left, Py_ssize_t joined) noexcept nogil:
        """Row i has moved from slot `left`, or from none (UNPLACED), into slot `joined`."""

    cdef void slots_merged(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        """The rows of slot k have moved into slot j; `row_moved` has told of each."""

    cdef int slots_replaced(self, slots, targets, division) except -1:
        """The rows of `slots` are divided as in `division`: its cluster j is in slot targets[j]."""
        return 0

    cdef void slots_renumbered(self, const Py_ssize_t *new_slot, Py_ssize_t n_slots) noexcept nogil:
        """Slot k has become new_slot[k], not above k, or is gone (UNPLACED); there were n_slots."""

    cdef int slots_made(self, Py_ssize_t first, Py_ssize_t n_slots) except -1 nogil:
        """There are n_slots slots now, and those from `first` on are new."""
        return 0

    cdef void rebuilt(self) noexcept nogil:
        """Any row may be in another slot than before."""


cdef class ListenerList(PartitionListener):
    """Tells each listener of a list what it is told."""

    def __cinit__(self):
        self.listeners = []

    def __dealloc__(self):
        free(self.listener)

    cdef int append(self, PartitionListener listener) except -1:
        self.listener = <void **> resized(
            self.listener, (self.n_listeners + 1) * sizeof(void *))
        self.listener[self.n_listeners] = <void *> listener
        self.listeners.append(listener)
        self.n_listeners += 1
        return 0

    cdef void row_moved(self, Py_ssize_t i, Py_ssize_t left, Py_ssize_t joined) noexcept nogil:
        cdef Py_ssize_t n
        for n in range(self.n_listeners):
            (<PartitionListener> self.listener[n]).row_moved(i, left, joined)

    cdef void slots_merged(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t n
        for n in range(self.n_listeners):
            (<PartitionListener> self.listener[n]).slots_merged(j, k)

    cdef int slots_replaced(self, slots, targets, division) except -1:
        cdef Py_ssize_t n
        for n in range(self.n_listeners):
            (<PartitionListener> self.listener[n]).slots_replaced(slots, targets, division)
        return 0

    cdef void slots_renumbered(self, const Py_ssize_t *new_slot, Py_ssize_t n_slots) noexcept nogil:
        cdef Py_ssize_t n
        for n in range(self.n_listeners):
            (<PartitionListener> self.listener[n]).slots_renumbered(new_slot, n_slots)

    cdef int slots_made(self, Py_ssize_t first, Py_ssize_t n_slots) except -1 nogil:
        cdef Py_ssize_t n
        for n in range(self.n_listeners):
            (<PartitionListener> self.listener[n]).slots_made(first, n_slots)
        return 0

    cdef void rebuilt(self) noexcept nogil:
        cdef Py_ssize_t n
        for n in range(self.n_listeners):
            (<PartitionListener> self.listener[n]).rebuilt()
