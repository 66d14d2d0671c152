"""New arrays of Python's, which memoryviews can hold; made without a call of Python's."""

from array import array

from cpython.array cimport array as Array, clone
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawRealloc

cdef Array DOUBLES = array("d")
cdef Array INDICES = array("q" if sizeof(Py_ssize_t) == 8 else "i")


cdef double_array(Py_ssize_t n):
    """Zeros."""
    return clone(DOUBLES, n, True)


cdef index_array(Py_ssize_t n, bint zeros=True):
    """Of Py_ssize_t: zeros, or anything."""
    return clone(INDICES, n, zeros)


cdef void *resized(void *memory, size_t n_bytes) except NULL nogil:
    memory = PyMem_RawRealloc(memory, n_bytes)
    if memory == NULL:
        with gil:
            raise MemoryError(f"no memory for {n_bytes} bytes")
    return memory


cdef void *zeroed_memory(size_t n_bytes) except NULL:
    cdef void *memory = PyMem_RawCalloc(max(n_bytes, <size_t> 1), 1)
    if memory == NULL:
        raise MemoryError(f"no memory for {n_bytes} bytes")
    return memory
