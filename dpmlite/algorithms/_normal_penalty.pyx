"""Kernel of normal_penalty.py: minus the log density of normal priors."""


def normal_penalty(const double[:] x, const double[:] means, const double[:] deviations,
                   double[:] gradient):
    return penalty_of(x, means, deviations, gradient)


cdef double penalty_of(const double[:] x, const double[:] means, const double[:] deviations,
                       double[:] gradient) noexcept nogil:
    cdef double total = 0.0, unit
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        unit = (x[i] - means[i]) / deviations[i]
        gradient[i] = unit / deviations[i]
        total += 0.5 * unit * unit
    return total
