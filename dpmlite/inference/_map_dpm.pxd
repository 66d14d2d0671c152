from dpmlite.inference._screening cimport ScreeningCrew
from dpmlite.models._partition cimport Partition

cdef Py_ssize_t sweep_rows(Partition partition, Py_ssize_t n_threads,
                           ScreeningCrew crew) except -1 nogil
cpdef check_n_threads(Py_ssize_t n_threads)
