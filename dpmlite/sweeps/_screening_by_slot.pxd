from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._near_slots cimport NearSlots
from dpmlite.sweeps._ordered_sweep cimport OrderedSweep
from dpmlite.sweeps._screened_slots cimport Screen
from dpmlite.sweeps._stay_bounds cimport StayBounds


cdef class ScreeningBySlot:
    cdef Partition partition
    cdef StayBounds bounds
    cdef NearSlots near
    cdef Py_ssize_t stage_row  # row at which the stage began whose near slots are found, or -1
    cdef Py_ssize_t n_finds    # times that they were found in this sweep

    cdef bint pays(self, OrderedSweep ordered) except -1
    cdef bint slots_are_far(self) except -1
    cdef int screen_rows(self, Py_ssize_t first, Py_ssize_t last) except -1
    cdef Py_ssize_t sort_by_slot(self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t *row,
                                 Py_ssize_t *start) noexcept nogil
    cdef void screen_sorted(self, Screen *screen, const Py_ssize_t *row, Py_ssize_t n,
                            Py_ssize_t *slots) noexcept nogil

cdef ScreeningBySlot screening_by_slot(Partition partition, StayBounds bounds)
