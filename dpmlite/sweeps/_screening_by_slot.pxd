from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._near_slots cimport NearSlots
from dpmlite.sweeps._screening cimport Screen
from dpmlite.sweeps._stay_bounds cimport StayBounds


cdef class ScreeningBySlot:
    cdef Partition partition
    cdef StayBounds bounds
    cdef NearSlots near
    cdef Py_ssize_t n_finds    # times that near slots were found in this sweep,
    cdef Py_ssize_t stage_row  # and the row at which their stage began
    cdef Py_ssize_t part_rows  # rows that are sorted at a time

    cdef bint pays(self) except -1
    cdef int screen_rows(self, Py_ssize_t first, Py_ssize_t last) except -1
    cdef int screen_sorted(self, Screen *screen, const Py_ssize_t *row, Py_ssize_t n,
                           Py_ssize_t *slots) except -1 nogil
    cdef Py_ssize_t sort_by_slot(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t *row,
                                 Py_ssize_t *start) noexcept nogil

cdef bint may_pay(Partition partition, StayBounds bounds) noexcept nogil
