from dpmlite.inference._screening cimport Screen, ScreeningCrew
from dpmlite.models._partition cimport Partition
from dpmlite.models._rows cimport Row

cdef Py_ssize_t sweep_rows(Partition partition, Py_ssize_t n_threads,
                           ScreeningCrew crew) except -1 nogil
cdef double score_some(Partition partition, const Row *row, const Screen *screen,
                       const float *bound, double stay, double *cost) noexcept nogil
cpdef check_n_threads(Py_ssize_t n_threads)
