from dpmlite.core._rows cimport Rows


cdef class Mixing:
    cdef readonly double alpha
    cdef readonly Py_ssize_t n_components
    cdef readonly bint ordered
    cdef bint depends           # whether the label of a row depends on those of others
    # Of each component, padded: mean and variance of n_k, and of n_{>k}; scratch; log_weights.
    cdef double[::1] mean, variance, tail, tail_variance, aside, common, log_weight

    cdef void clear(self) noexcept nogil
    cdef void take(self, const double *shares, double weight, double sign) noexcept nogil
    cdef void finish(self) noexcept nogil
    cdef void weigh(self, double weight) noexcept nogil
    cdef double evidence(self) noexcept nogil
    cdef void observe_all(self, Rows rows, const double[:, ::1] responsibilities) noexcept nogil
    cdef int check_shape(self, Rows rows, const double[:, ::1] responsibilities) except -1
