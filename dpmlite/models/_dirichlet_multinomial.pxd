from dpmlite.models._component cimport Component
from dpmlite.models._log_counts cimport LogCounts
from dpmlite.models._rows cimport Row


cdef class DirichletMultinomial(Component):
    cdef readonly list beta0
    cdef double[::1] beta      # [word] beta0
    cdef double total          # B
    cdef double largest_beta
    cdef const double[::1] growth  # [n] log of Gamma(beta + n) / Gamma(beta), if all beta are equal
    cdef double longest        # words of the longest row that `bound_over` was given

    cdef double *size          # [slot] N, the number of words
    cdef double *kept          # [slot] part that removals left
    cdef double *evidence      # [slot] log marginal; NaN until it is asked for
    cdef double *product       # [slot] factors of a score, and the exponent split off them
    cdef double *exponent
    cdef double *count         # [word][slot]
    cdef LogCounts logs
    cdef bint has_bounds       # whether they serve

    cdef double[::1] own_counts  # a slot's words as one sparse row
    cdef Py_ssize_t[::1] own_words

    cdef int set_up(self, list beta0, double[::1] beta) except -1
    cdef Row row_of_slot(self, Py_ssize_t k) noexcept nogil
