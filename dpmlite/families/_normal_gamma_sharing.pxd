from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_void
from dpmlite.families._normal_gamma_statistics cimport NormalGammaStatistics

cdef void find_expectations(NormalGammaStatistics self) noexcept nogil
cdef clones_void expected_scores(NormalGammaStatistics self, const Row *row,
                                 double *out) noexcept nogil
cdef clones_void share_row(NormalGammaStatistics self, const Row *row,
                           const double *responsibilities) noexcept nogil
cdef void end_rows(NormalGammaStatistics self) noexcept nogil
