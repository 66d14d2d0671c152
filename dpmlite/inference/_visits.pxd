# Visits of rows that have been screened.

from dpmlite.inference._bounds cimport Chunk
from dpmlite.inference._drift cimport Drift
from dpmlite.inference._screening cimport Screen
from dpmlite.models._partition cimport Partition

cdef bint visit(Partition partition, Screen *screen, Chunk *chunk, Drift drift,
                Py_ssize_t j) except -1 nogil
cdef void renew_slot(Partition partition, Screen *screen, Chunk *chunk,
                     Py_ssize_t k) noexcept nogil
cdef bint move_if_better(Partition partition, Py_ssize_t i, double ceiling, double best,
                         bint again) except -1 nogil
