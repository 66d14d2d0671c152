from dpmlite.core._rows cimport Row
from dpmlite.partition._partition cimport Partition
from dpmlite.sweeps._screened_slots cimport Screen

cdef bint pays_to_screen(Partition partition, Py_ssize_t first, Py_ssize_t last) noexcept nogil
cdef bint visit(Partition partition, Screen *screen, Py_ssize_t j, bint tighten) except -1 nogil
cdef void tighten_by_parts(Partition partition, const Screen *screen, const Row *row,
                           Py_ssize_t j, double limit) noexcept nogil
cdef void rebound_open_slots(Partition partition, Screen *screen) noexcept nogil
cdef double score_open_slots(Partition partition, const Row *row, const Screen *screen,
                             const float *bound, double stay, double *cost,
                             double *elsewhere) noexcept nogil
cdef Py_ssize_t visit_unscreened(Partition partition, Py_ssize_t first, Py_ssize_t last,
                                 bint rescore) except -1 nogil
cdef bint visit_in_all_slots(Partition partition, Py_ssize_t i, bint rescore) except -1 nogil
