from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_void
from dpmlite.families._normal_inverse_wishart_statistics cimport WishartStatistics

cdef void find_expectations(WishartStatistics self) noexcept nogil
cdef clones_void expected_scores(WishartStatistics self, const Row *row, double *out) noexcept nogil
cdef void share_row(WishartStatistics self, const Row *row,
                    const double *responsibilities) noexcept nogil
