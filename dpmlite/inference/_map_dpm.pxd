from dpmlite.inference._drift cimport Drift
from dpmlite.inference._lookahead cimport LookAhead
from dpmlite.models._partition cimport Partition

cdef Py_ssize_t sweep_rows(Partition partition, Py_ssize_t n_threads, LookAhead crew,
                           Drift drift) except -1 nogil
cpdef check_n_threads(Py_ssize_t n_threads)
