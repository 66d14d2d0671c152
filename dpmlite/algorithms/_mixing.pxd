from dpmlite.core._rows cimport Rows


cdef class Mixing:
    cdef readonly double alpha
    cdef readonly Py_ssize_t n_components
    cdef readonly bint ordered
    cdef bint labels_depend     # whether the label of a row depends on the labels of others
    # One value per component, padded to whole vectors.
    cdef double[::1] mean, variance             # of n_k
    cdef double[::1] tail, tail_variance        # mean and variance of n_{>k}
    cdef double[::1] log_weight                 # of `log_weights`
    cdef double[::1] scratch, tail_logs         # scratch

    cdef void clear(self) noexcept nogil
    cdef void add(self, const double *r_i, double weight, double sign) noexcept nogil
    cdef void finish(self) noexcept nogil
    cdef void weigh(self, double weight) noexcept nogil
    cdef double evidence(self) noexcept nogil
    cdef void observe_all(self, Rows rows, const double[:, ::1] responsibilities) noexcept nogil
    cdef int check_shape(self, Rows rows, const double[:, ::1] responsibilities) except -1
