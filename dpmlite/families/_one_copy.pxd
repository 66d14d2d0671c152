from dpmlite.core._rows cimport Row
from dpmlite.families._component cimport Component

cdef void bounds_by_one_copy(Component component, const Row *row, const double *log_weight,
                             double magnitude, double *out) noexcept nogil
