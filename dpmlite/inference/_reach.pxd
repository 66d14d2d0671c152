# Which slots the rows of a slot may be near.

from libc.stdint cimport uint64_t

from dpmlite.inference._bounds cimport Chunk
from dpmlite.inference._drift cimport Drift
from dpmlite.inference._screening cimport Screen


cdef class Reach:
    cdef Py_ssize_t n_words    # of bits
    cdef uint64_t *near        # [slot][word] a bit for each slot that its rows may be near,
    cdef float *most           # [slot] if they paid no more than this to stay
    cdef float level           # what the others cost them, at least
    cdef int stage             # when that was,
    cdef Py_ssize_t n_found    # and how many times it was found
    cdef bint is_short         # few slots are near most rows

    cdef int find(self, Drift drift, const Screen *screen) except -1 nogil
    cdef Py_ssize_t find_all(self, Drift drift, const Screen *screen) except -1 nogil
    cdef int make_room(self, Py_ssize_t n_slots) except -1 nogil
    cdef Py_ssize_t find_near(self, Drift drift, const Screen *screen, Py_ssize_t k) noexcept nogil
    cdef Py_ssize_t near_any(self, Py_ssize_t first, Py_ssize_t last,
                             Py_ssize_t *slots) noexcept nogil
    cdef bint holds(self, Drift drift, const Chunk *chunk, Py_ssize_t j) noexcept nogil
