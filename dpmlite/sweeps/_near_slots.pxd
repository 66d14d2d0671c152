from libc.stdint cimport uint64_t

from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._drifting_slots cimport DriftingSlots
from dpmlite.sweeps._screening_bounds cimport Chunk


cdef class NearSlots:
    cdef DriftingSlots drifting
    cdef Py_ssize_t n_slots
    cdef Py_ssize_t n_near    # pairs of a slot and one near it, or itself
    cdef float level          # rows cost at least this in slots that are not near their own,
    cdef double *max_stay     # [slot] if they cost less than this to stay; the memory begins here
    cdef double *far_squares  # [slot] sum of z_d^2 at which a row costs the level there, or 0
    cdef uint64_t *near       # [slot][word] a bit for each slot, 1 if it is near
    cdef Py_ssize_t n_words

    cdef int find(self) except -1
    cdef int allocate(self, Py_ssize_t n_slots) except -1
    cdef double far_squares_in(self, Py_ssize_t k) noexcept nogil
    cdef Py_ssize_t find_near(self, Py_ssize_t k) noexcept nogil
    cdef bint is_near(self, Py_ssize_t k, Py_ssize_t j, double max_squares) noexcept nogil
    cdef Py_ssize_t list_near(self, Partition partition, Py_ssize_t first, Py_ssize_t last,
                              Py_ssize_t *slots) noexcept nogil
    cdef void remove_high_ceilings(self, Chunk *chunk) noexcept nogil
