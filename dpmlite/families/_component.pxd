from dpmlite.core._rows cimport Row
from dpmlite.families._family cimport Family


cdef class Component(Family):
    cdef Component copied(self)
    cdef double score_per_copy(self, double score, const Row *row) noexcept nogil
    cdef Row checked_row(self, const double[::1] row, double weight) except *
