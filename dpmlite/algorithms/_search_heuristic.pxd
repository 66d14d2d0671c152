cimport cython

from dpmlite.core._rows cimport Row, Rows, inlined_row
from dpmlite.core._simd cimport inlined_double
from dpmlite.families._component cimport Component


@cython.final
cdef class SearchHeuristic:
    cdef readonly double total_weight
    cdef Component component
    cdef Rows X
    cdef const Py_ssize_t[::1] order
    cdef Py_ssize_t n_rows
    cdef bint unit_weights, tight, of_sizes
    cdef double alpha, log_alpha
    cdef double log_new              # the largest factor of new clusters in a score of sizes
    cdef double[::1] before          # [length] weight of the rows of a prefix
    cdef double[::1] data_left       # [length] what the data of the rows to come add at best
    cdef double[::1] alone_left      # [length] what the rows to come gain by being alone, at most
    cdef double[::1] alone           # [row] what it adds in a cluster of its own
    cdef double[::1] best, second    # [row] the greatest bound of any cluster, and the next
    cdef Py_ssize_t[::1] best_slot   # [row]
    cdef double[::1] score           # [cluster] of `find_scores`

    cdef inline inlined_row row(self, Py_ssize_t j) noexcept nogil:
        """Row j of the order."""
        return self.X.row(self.order[j])

    cdef inline inlined_double weight(self, Py_ssize_t j) noexcept nogil:
        """Weight of row j of the order."""
        return self.X.weight_of(self.order[j])

    cpdef double log_factor(self, double n, double weight) noexcept nogil
    cpdef double log_denominator(self) noexcept nogil
    cdef double log_repeats_in(self, const Py_ssize_t *slots, Py_ssize_t n_clusters) noexcept nogil
    cdef double log_repeats_gained(self, const Py_ssize_t *slots, Py_ssize_t n_clusters,
                                   Py_ssize_t slot) noexcept nogil
    cdef double n_equal(self, const Py_ssize_t *slots, Py_ssize_t n_clusters,
                        double n) noexcept nogil
    cdef void find_scores(self, const Py_ssize_t *slots, Py_ssize_t n_clusters, Py_ssize_t d,
                          double n_largest) noexcept nogil
    cdef int allocate(self) except -1
    cdef int sum_from_the_end(self, bint inadmissible, means) except -1
    cdef double greatest_density(self, Py_ssize_t j, means) except *
    cdef double prior_left(self, double n_largest, Py_ssize_t d) noexcept nogil
    cdef void find_tight_scores(self, const Py_ssize_t *slots, Py_ssize_t n_clusters,
                                Py_ssize_t d) noexcept nogil
    cdef double bound(self, Py_ssize_t j, Py_ssize_t slot, Py_ssize_t d) noexcept nogil
    cdef void record_bound(self, Py_ssize_t j, Py_ssize_t slot, double bound) noexcept nogil
