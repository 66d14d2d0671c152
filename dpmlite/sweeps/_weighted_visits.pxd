from dpmlite.core._rows cimport Row, Rows
from dpmlite.families._component cimport Component
from dpmlite.families._normal_inverse_wishart_statistics cimport WishartStatistics
from dpmlite.partition._partition cimport Partition

cdef bint has_weight_lines(Partition partition) noexcept nogil
cdef bint has_lines(Component component, Rows X) noexcept nogil
cdef Py_ssize_t visit_weighted_rows(Partition partition) except -1 nogil
cdef void find_lines_to_join(WishartStatistics component, Rows X, const double *log_weight,
                             double *start, double *per_weight) noexcept nogil
cdef double least_cost_to_join(WishartStatistics component, const Row *row,
                               const double *log_weight, const double *start,
                               const double *per_weight, double *cost) noexcept nogil
