"""Kernel of ranks.py: values by their rank."""

from dpmlite.core._memory cimport double_array


def value_of_rank(const double[::1] values, Py_ssize_t rank):
    cdef Py_ssize_t i, n = values.shape[0]
    cdef double[::1] some
    if not 0 <= rank < n:
        raise IndexError(f"rank must be in 0..{n - 1}, got {rank}")
    some = double_array(n)
    for i in range(n):
        some[i] = values[i]
    return find_rank(&some[0], n, rank)


cdef double find_rank(double *x, Py_ssize_t n, Py_ssize_t rank) noexcept nogil:
    """What x[rank] is when x is sorted so far that it is there: Hoare's FIND (1961).

    Where there are NaN it ends, too.
    """
    cdef Py_ssize_t first = 0, last = n - 1, i, j
    cdef double pivot, kept
    while first < last:
        pivot, i, j = x[rank], first, last
        while i <= j:
            while x[i] < pivot:
                i += 1
            while pivot < x[j]:
                j -= 1
            if i <= j:
                kept, x[i], x[j] = x[i], x[j], x[i]
                i, j = i + 1, j - 1
        if j < rank:
            first = i
        if rank < i:
            last = j
    return x[rank]
