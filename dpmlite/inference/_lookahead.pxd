# Rows screened ahead, on threads.

from dpmlite.inference._crew cimport Crew
from dpmlite.inference._drift cimport Drift
from dpmlite.inference._screening cimport Screen
from dpmlite.models._partition cimport Partition


cdef class LookAhead(Crew):
    cdef Partition partition
    cdef Drift drift
    cdef Screen *screen
    cdef Py_ssize_t first, last  # rows to look at
    cdef Py_ssize_t n_screened   # of these, for they were not known to stay,
    cdef Py_ssize_t n_visited    # and since, because nothing was known of them
    cdef bint all_blank          # nothing was noted of any row when the sweep began
    cdef bint meeting            # slots that are apart, rather

    cdef bint is_worth_while(self, Py_ssize_t first) noexcept nogil
    cdef int meet(self, Screen *screen) except -1 nogil
    cdef Py_ssize_t n_pieces_of(self, Py_ssize_t n_rows) noexcept nogil
    cdef int look(self, Screen *screen, Py_ssize_t first) except -1 nogil
