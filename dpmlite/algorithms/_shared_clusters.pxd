cimport cython
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport inlined_void
from dpmlite.families._component cimport Component

cdef enum:
    NONE = -1  # no clustering, no slot

cdef struct Clustering:
    Py_ssize_t *slots
    Py_ssize_t n, capacity  # clusters, and the number there is memory for
    Py_ssize_t holders      # 0: unused
    Py_ssize_t next_unused


@cython.final
cdef class SharedClusters:
    cdef readonly Component component
    cdef readonly Py_ssize_t n_clusterings
    cdef Clustering *clusterings
    cdef Py_ssize_t n_made, capacity, unused
    cdef Py_ssize_t *users      # [slot] number of clusterings that have it
    cdef Py_ssize_t *next_free  # [slot] list of the slots that no clustering has
    cdef Py_ssize_t free_slot, slot_capacity

    cdef inline inlined_void keep(self, Py_ssize_t c) noexcept nogil:
        """Add a holder of clustering c."""
        self.clusterings[c].holders += 1

    cdef Py_ssize_t make(self, Py_ssize_t n) except -1 nogil
    cdef int make_room(self, Py_ssize_t c, Py_ssize_t n) except -1 nogil
    cdef int let_go(self, Py_ssize_t c) noexcept nogil
    cdef int give_back(self, Py_ssize_t slot) noexcept nogil
    cdef Py_ssize_t take_slot(self) except -1 nogil
    cdef Py_ssize_t grown(self, Py_ssize_t c, Py_ssize_t k, const Row *row) except -1 nogil
    cdef Py_ssize_t grown_copy(self, Py_ssize_t c, Py_ssize_t k, const Row *row) except -1 nogil
