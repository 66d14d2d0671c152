"""Bounds of what rows that stand for others cost, from the cost of one copy."""

from libc.math cimport INFINITY, fabs

from dpmlite.core._constants cimport ROUNDING_MARGIN


cdef void bounds_by_one_copy(Component component, const Row *row, const double *log_weight,
                             double magnitude, double *out) noexcept nogil:
    """Write lower bounds of the costs, in every slot of a discrete family, of a row of any weight.

    Of w copies, log p is convex in w, as the log of the mean of p(row | theta)^w, and falls with
    w: from 0 for none it falls to no more than min(w, 1) log p of one. Rounding is that of terms
    of `magnitude` in all.
    """
    cdef Row one = row[0]
    cdef double part = min(row.weight, 1.0), cost
    cdef Py_ssize_t k
    one.weight = 1.0
    component.costs_below(&one, log_weight, INFINITY, out)
    for k in range(component.n_slots):
        if log_weight[k] > -INFINITY:
            cost = out[k] + log_weight[k] - ROUNDING_MARGIN * (fabs(out[k]) + magnitude)
            out[k] = part * cost - log_weight[k]
