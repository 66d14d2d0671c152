from dpmlite.core._rows cimport Row
from dpmlite.families._soft_component cimport SoftComponent


cdef class BetaBernoulliCounts(SoftComponent):
    cdef readonly list a0, b0
    cdef double[::1] a, b       # a0 and b0, typed
    cdef double[::1] empty_delta, empty_log_zero  # what an empty slot has of the values below
    cdef double empty_base
    cdef double *base           # [slot] log density of a row of zeros
    cdef double *member_base    # [slot] log density of a member of zeros, given the others
    cdef double *delta          # [column][slot] log p(1) - log p(0)
    cdef double *log_zero       # [column][slot] log p(0)
    cdef double *ones           # [slot][columns] weight of the rows with a 1 there
    cdef double *zeros
    cdef double *member_delta   # [slot][columns] delta of a member, given the others
    cdef double *occupied       # [slot] its OccupiedColumns

    cdef int begin(self, list a0, list b0) except -1
    cdef void lay_out(self) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void clear_slots(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil

cdef void refresh_empty(BetaBernoulliCounts self, Py_ssize_t first,
                        Py_ssize_t last) noexcept nogil
