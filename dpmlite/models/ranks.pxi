"""Values by their rank, without the interpreter."""


cdef double of_rank(double *x, Py_ssize_t n, Py_ssize_t rank) noexcept nogil:
    """What x[rank] would be if x were sorted: it is there then, and none before it is larger.

    Hoare's FIND (1961). NaN has no rank, but does no harm.
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
