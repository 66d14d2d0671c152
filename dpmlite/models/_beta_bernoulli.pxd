from dpmlite.models._component cimport Component

cdef struct CellScores:
    const double *base      # as in the class below, of any kind of log p
    const double *delta
    const double *log_zero


cdef class BetaBernoulli(Component):
    cdef readonly list a0, b0
    cdef double[::1] a, b       # the same, typed
    cdef double[::1] empty_delta, empty_log_zero  # what an empty slot has of the values below
    cdef double empty_base

    cdef double *base           # [slot] log density of a row of zeros
    cdef double *member_base    # [slot] the same of a member, given the others
    cdef double *delta          # [column][slot] log p(1) - log p(0)
    cdef double *log_zero       # [column][slot] log p(0)
    cdef double *ones           # [slot][3 columns] weight of the rows with a 1 there
    cdef double *zeros
    cdef double *member_delta   # [slot][3 columns] delta of a member, given the others
