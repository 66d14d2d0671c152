"""New arrays of Python's, which memoryviews can hold; made without a call of Python's."""

cdef Array DOUBLES = array("d")
cdef Array INDICES = array("q" if sizeof(Py_ssize_t) == 8 else "i")


cdef double_array(Py_ssize_t n):
    """Zeros."""
    return clone(DOUBLES, n, True)


cdef index_array(Py_ssize_t n, bint zeros=True):
    """Of Py_ssize_t: zeros, or anything."""
    return clone(INDICES, n, zeros)
