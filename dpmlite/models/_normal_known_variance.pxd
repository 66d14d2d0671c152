from dpmlite.models._component cimport Component


cdef class NormalKnownVariance(Component):
    cdef readonly list m0, sigma2, tau2
    cdef double[::1] origin, unit  # m0 and 1 / sqrt(sigma2), per column
    cdef double[::1] ratio         # r = tau2 / sigma2
    cdef double[::1] low, high     # ends of the columns that `bound_over` was given, in units

    cdef double *spread            # [slot] squared distances of the rows from their mean
    cdef double *kept              # [slot] part of 1 + spread that removals left
    cdef double *constant          # [slot] log density of a new row at the mean
    cdef double *member_constant   # [slot] the same of a member, given the others
    cdef double *slope             # [column][slot] sqrt of a column's cost: u slope - shift
    cdef double *shift
    cdef double *means             # [column][slot] a copy of `mean`
    cdef double *mean              # [slot][column] mean of the rows
