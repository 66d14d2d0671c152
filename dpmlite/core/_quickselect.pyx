"""Kernel of quickselect.py: the value of a given rank (Hoare 1961)."""

from dpmlite.core._memory cimport double_array


def value_of_rank(const double[::1] values, Py_ssize_t rank):
    cdef Py_ssize_t i, n = values.shape[0]
    cdef double[::1] copy
    if not 0 <= rank < n:
        raise IndexError(f"rank must be in 0..{n - 1}, got {rank}")
    copy = double_array(n)
    for i in range(n):
        copy[i] = values[i]
    return find_rank(&copy[0], n, rank)


cdef double find_rank(double *x, Py_ssize_t n, Py_ssize_t rank) noexcept nogil:
    """Return the value of this rank (0: the least) of x, which is partly sorted: Hoare's FIND.

    It also ends if there are NaN.
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
