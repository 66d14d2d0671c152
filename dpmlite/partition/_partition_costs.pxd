from libc.math cimport fabs

from dpmlite.core._constants cimport MIN_OTHERS_FRACTION, ROUNDING_MARGIN, TIE, UNPLACED
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport inlined_bint, inlined_double
from dpmlite.families._component cimport Component
from dpmlite.partition._partition_slots cimport PartitionSlots


# A cost that is more than a tie above this one, however either is rounded.
cdef inline inlined_double just_above(double log_weight, double score) noexcept nogil:
    return -log_weight - score + (2.0 * TIE + ROUNDING_MARGIN * (fabs(log_weight) + fabs(score)))


cdef class PartitionCosts(PartitionSlots):
    cdef Component others       # scratch: a slot for a cluster without one of its rows

    # Cost of a row of weight 1 in a slot that is not its own, eq. (15).
    cdef inline inlined_double cost_in(self, const Row *row, Py_ssize_t k) noexcept nogil:
        return -self.log_weight[k] - self.component.score_slot(row, k)

    # Whether a row of this weight leaves too few digits of the others in its slot's sums.
    cdef inline inlined_bint outweighs(self, double weight, Py_ssize_t own) noexcept nogil:
        return self.component.n[own] - weight < MIN_OTHERS_FRACTION * weight

    # The number of clusters of all rows but row i; 0, which does as well, without a discount.
    cdef inline Py_ssize_t n_clusters_without(self, Py_ssize_t i) noexcept nogil:
        cdef Py_ssize_t own = self.label[i]
        if self.discount == 0.0:
            return 0
        return self.count_clusters() - (own != UNPLACED and self.size[own] == 1)

    # Log of the numerator of eq. (22) for row i of this weight in its own slot.
    cdef inline inlined_double member_weight(self, Py_ssize_t i, double weight) noexcept nogil:
        cdef double light = self.light_member_weight[self.label[i]]
        if weight == 1.0 and light == light:
            return light
        return self.weight_of(self.weight_of_others(i, weight), weight, self.n_clusters_without(i))

    cdef double score(self, Py_ssize_t i, double stay) noexcept nogil
    cdef void weigh_new(self, Py_ssize_t n_clusters) noexcept nogil
    cdef void find_heavy_log_weights(self, double weight, Py_ssize_t n_clusters) noexcept nogil
    cdef double limit_of(self, Py_ssize_t i) except? -1.0 nogil
    cdef double any_cost_in(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef double stay_cost(self, Py_ssize_t i) except? -1.0 nogil
    cdef double shared_stay_cost(self, Py_ssize_t i, const Row *row) except? -1.0 nogil
    cdef double quick_stay_cost(self, Py_ssize_t i, const Row *row) noexcept nogil
    cdef double stay_ceiling(self, Py_ssize_t i) except? -1.0 nogil
    cdef double score_from_others(self, Py_ssize_t i) except? -1.0 nogil
    cdef int score_with(self, Py_ssize_t i, const Py_ssize_t[::1] members, Component alone,
                        double *room, double[::1] scores) except -1 nogil
    cdef double weight_of(self, double n, double weight, Py_ssize_t n_clusters) noexcept nogil
    cdef double weight_of_others(self, Py_ssize_t i, double weight) noexcept nogil
