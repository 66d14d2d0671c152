from dpmlite.core._simd cimport clones_double, clones_void
from dpmlite.families._normal_inverse_wishart_statistics cimport WishartStatistics

cdef clones_void merge_into(WishartStatistics self, double *one, double nj, const double *other,
                            double nk) noexcept nogil
cdef clones_void log_det_bounds(WishartStatistics self, Py_ssize_t j, double *out) noexcept nogil
cdef clones_double log_det_merged(WishartStatistics self, const double *one, double nj,
                                  const double *other, double nk) noexcept nogil
