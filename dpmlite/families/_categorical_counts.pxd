from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_double, clones_void
from dpmlite.families._categorical_prior cimport CategoricalPrior
from dpmlite.families._soft_component cimport SoftComponent

cdef enum:
    LINE_CHUNK = 128  # cells of a row whose lines are read at a time, a multiple of LANES


cdef class CategoricalCounts(SoftComponent):
    cdef CategoricalPrior prior
    cdef double *base           # [slot] minus the scores of all column lines
    cdef double *member_base    # [slot] the same for a member, given the others
    cdef double *line_score     # [line][slot] log of beta + count, or what is in its place
    cdef double *count          # [slot][3 widths] weight of the cells of each line
    cdef double *score          # [slot][3 widths] line_score once more
    cdef double *member_score   # [slot][3 widths] the same for a member, given the others

    cdef int begin(self, CategoricalPrior prior) except -1
    cdef void lay_out(self) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void add_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
