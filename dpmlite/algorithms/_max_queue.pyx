"""Kernel of max_queue.py: a min-max heap (Atkinson, Sack, Santoro & Strothotte 1986).

Levels of a binary heap alternate: an entry on an even level, such as the root, is better than all
entries below it; an entry on an odd level is worse than all below it.
"""

from libc.math cimport INFINITY, rint
from libc.stdlib cimport free

from dpmlite.core._constants cimport SCORE_STEPS_PER_NAT
from dpmlite.core._memory cimport resized
from dpmlite.core._simd cimport inlined_bint, inlined_double, inlined_void


cdef class MaxQueue:

    def __cinit__(self):
        self.heap = NULL

    def __dealloc__(self):
        free(self.heap)

    def __len__(self):
        return self.n

    def push(self, double score, Py_ssize_t depth, Py_ssize_t item):
        self.push_entry(score, depth, item)

    def pop_best(self):
        require_items(self.n)
        return self.take_best()

    def pop_worst(self):
        require_items(self.n)
        return self.take_worst()

    def beats_worst(self, double score, Py_ssize_t depth):
        require_items(self.n)
        return self.beats(score, depth)

    cdef void exchange(self, MaxQueue other) noexcept nogil:
        """Exchange the items of two queues."""
        cdef Entry *heap = self.heap
        cdef Py_ssize_t n = self.n, capacity = self.capacity, n_pushed = self.n_pushed
        self.heap, self.n = other.heap, other.n
        self.capacity, self.n_pushed = other.capacity, other.n_pushed
        other.heap, other.n, other.capacity, other.n_pushed = heap, n, capacity, n_pushed

    cdef int push_entry(self, double score, Py_ssize_t depth, Py_ssize_t item) except -1 nogil:
        cdef Py_ssize_t capacity = 2 * self.capacity if self.capacity > 0 else 64
        if self.n == self.capacity:
            self.heap = <Entry *> resized(self.heap, capacity * sizeof(Entry))
            self.capacity = capacity
        self.heap[self.n].score, self.heap[self.n].depth = rounded(score), depth
        self.heap[self.n].serial, self.heap[self.n].item = self.n_pushed, item
        self.n += 1
        self.n_pushed += 1
        rise(self.heap, self.n - 1)
        return 0

    cdef Py_ssize_t take_best(self) noexcept nogil:
        return self.take(0)

    cdef Py_ssize_t take_worst(self) noexcept nogil:
        return self.take(self.worst())

    cdef bint beats(self, double score, Py_ssize_t depth) noexcept nogil:
        cdef Entry entry
        entry.score, entry.depth = rounded(score), depth
        entry.serial = self.n_pushed
        return better(&entry, &self.heap[self.worst()])

    cdef double least(self, Py_ssize_t limit) noexcept nogil:
        """The score below which an item would be the worst of a queue of more than `limit`."""
        if self.n < limit:
            return -INFINITY
        return (self.heap[self.worst()].score - 1.0) / SCORE_STEPS_PER_NAT

    cdef Py_ssize_t worst(self) noexcept nogil:
        """Index of the worst entry: it is on the first odd level, if there is one."""
        if self.n <= 2:
            return self.n - 1
        return 1 if better(&self.heap[2], &self.heap[1]) else 2

    cdef Py_ssize_t take(self, Py_ssize_t i) noexcept nogil:
        """Remove entry i, the best or the worst one; return its item."""
        cdef Py_ssize_t item = self.heap[i].item
        self.n -= 1
        if i < self.n:
            self.heap[i] = self.heap[self.n]
            sink(self.heap, self.n, i)
        return item


cdef int require_items(Py_ssize_t n) except -1:
    if n == 0:
        raise IndexError("the queue is empty")
    return 0


cdef inline inlined_double rounded(double score) noexcept nogil:
    """A score, in whole steps."""
    return rint(score * SCORE_STEPS_PER_NAT)


cdef inline inlined_bint better(const Entry *a, const Entry *b) noexcept nogil:
    """Whether entry a is better than entry b."""
    if a.score != b.score:
        return a.score > b.score
    if a.depth != b.depth:
        return a.depth > b.depth
    return a.serial < b.serial


cdef inline inlined_bint is_best_level(Py_ssize_t i) noexcept nogil:
    """Whether entry i is on an even level."""
    cdef bint even = True
    while i > 0:
        i, even = (i - 1) // 2, not even
    return even


cdef inline inlined_bint ahead(const Entry *a, const Entry *b, bint best) noexcept nogil:
    """Whether a belongs above b, on even levels (`best`) or on odd levels."""
    return better(a, b) if best else better(b, a)


cdef inline inlined_void swap(Entry *heap, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    cdef Entry entry = heap[i]
    heap[i] = heap[j]
    heap[j] = entry


cdef void rise(Entry *heap, Py_ssize_t i) noexcept nogil:
    """Move a new last entry up to its place."""
    cdef bint best = is_best_level(i)
    cdef Py_ssize_t parent = (i - 1) // 2
    if i > 0 and ahead(&heap[i], &heap[parent], not best):
        swap(heap, i, parent)
        i, best = parent, not best
    while i >= 3 and ahead(&heap[i], &heap[((i - 1) // 2 - 1) // 2], best):
        parent = ((i - 1) // 2 - 1) // 2
        swap(heap, i, parent)
        i = parent


cdef void sink(Entry *heap, Py_ssize_t n, Py_ssize_t i) noexcept nogil:
    """Move an entry down to its place: below it, compare children and grandchildren."""
    cdef bint best = is_best_level(i)
    cdef Py_ssize_t j, first
    while 2 * i + 1 < n:
        first = 2 * i + 1
        for j in range(2 * i + 2, min(2 * i + 3, n)):
            first = j if ahead(&heap[j], &heap[first], best) else first
        for j in range(4 * i + 3, min(4 * i + 7, n)):
            first = j if ahead(&heap[j], &heap[first], best) else first
        if not ahead(&heap[first], &heap[i], best):
            return
        swap(heap, i, first)
        if first <= 2 * i + 2:  # a child
            return
        if ahead(&heap[(first - 1) // 2], &heap[first], best):
            swap(heap, first, (first - 1) // 2)
        i = first
