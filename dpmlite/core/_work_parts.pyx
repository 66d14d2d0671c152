"""Division of work into parts that threads take one after the other."""


cdef Py_ssize_t part_start(Py_ssize_t part, Py_ssize_t n_parts, Py_ssize_t n) noexcept nogil:
    """Return the first of n items that is in a part; part_start(n_parts, ...) is n.

    Parts are equally large, except that of four or more the last three are a half, a quarter and a
    quarter of the others: threads that end at different times wait less for the last one.
    """
    cdef Py_ssize_t whole = n_parts - 3
    if whole < 1:
        return part * n // n_parts
    cdef Py_ssize_t quarters = min(min(4 * part, 2 * (part + whole)), part + 3 * whole + 1)
    return quarters * n // (4 * (whole + 1))
