# New arrays of Python's, which memoryviews can hold.

cdef double_array(Py_ssize_t n)
cdef index_array(Py_ssize_t n, bint zeros=*)
