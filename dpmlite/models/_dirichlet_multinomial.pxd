from dpmlite.models._component cimport Component
from dpmlite.models._log_counts cimport LogCounts
from dpmlite.models._rows cimport Row
from dpmlite.models._urns cimport Urns


cdef class DirichletMultinomial(Component):
    cdef readonly list beta0
    cdef double[::1] beta      # [word] beta0
    cdef double total          # B
    cdef const double[::1] growth  # what urns.growth points to
    cdef double longest        # words of the longest row that `bound_over` was given

    cdef double *size          # [slot] N, the number of words
    cdef double *kept          # [slot] part that removals left
    cdef double *evidence      # [slot] log marginal; NaN until it is asked for
    cdef double *count         # [word][slot]
    cdef Urns urns             # the same for those who score
    cdef LogCounts logs
    cdef bint has_bounds       # whether they serve

    cdef double[::1] own_counts  # a slot's words as one sparse row
    cdef Py_ssize_t[::1] own_words

    cdef int use(self, const double[::1] growth) except -1
    cdef int set_up(self, list beta0, double[::1] beta) except -1
    cdef Row row_of_slot(self, Py_ssize_t k) noexcept nogil
