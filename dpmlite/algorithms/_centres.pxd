from dpmlite.core._rows cimport Rows
from dpmlite.core._simd cimport clones_double


cdef class Centres:
    cdef Rows X
    cdef Py_ssize_t n_rows, n_columns
    cdef Py_ssize_t n_slots, capacity    # clusters, and the number there is memory for
    cdef double inertia                  # sum of squared distances from the centres, by weight
    cdef double[::1] origin              # [column]
    cdef double[::1] row                 # [column] the row that was read last, about the origin
    cdef double[::1] memory              # of `centre`
    cdef double *centre                  # [column][slot], at an address that fits a cache line
    cdef double[::1] total               # [slot][column] rows of the cluster, summed by weight
    cdef double[::1] weight, distance    # [slot]
    cdef Py_ssize_t[::1] number          # [slot] the number of the cluster without empty ones

    cdef int open(self, Py_ssize_t n) except -1
    cdef int reserve(self, Py_ssize_t min_capacity) except -1
    cdef int set_origin_to_mean(self) except -1
    cdef double read(self, Py_ssize_t i) noexcept nogil
    cdef void place(self, Py_ssize_t k) noexcept nogil
    cdef double measure(self) noexcept nogil
    cdef double squared_norm(self) noexcept nogil
    cdef means(self)

cdef clones_double distance_of(const double *x, const double *y, Py_ssize_t n) noexcept nogil
