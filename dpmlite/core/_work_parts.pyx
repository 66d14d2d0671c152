"""Parts of work that threads take one after the other."""


cdef Py_ssize_t start_of(Py_ssize_t part, Py_ssize_t n_parts, Py_ssize_t n) noexcept nogil:
    """Where a part of n things starts: of four or more, the last three are a half and two quarters.

    So no thread waits for long at the end, at which they hardly arrive together.
    """
    cdef Py_ssize_t whole = n_parts - 3
    if whole < 1:
        return part * n // n_parts
    cdef Py_ssize_t quarters = min(min(4 * part, 2 * (part + whole)), part + 3 * whole + 1)
    return quarters * n // (4 * (whole + 1))
