"""Memory for kernels: arrays that memoryviews can hold, and raw memory of the C library.

An array is a copy of one zero: the limited API has no function that makes an array.
"""

from array import array

from cpython.sequence cimport PySequence_Repeat
from libc.stdlib cimport calloc, realloc

cdef object ZERO = array("d", [0.0])
cdef object INDEX_ZERO = array("q" if sizeof(Py_ssize_t) == 8 else "i", [0])


cdef double_array(Py_ssize_t n):
    """A new array of n doubles, all 0."""
    return PySequence_Repeat(ZERO, n)


cdef index_array(Py_ssize_t n):
    """A new array of n integers of type Py_ssize_t, all 0."""
    return PySequence_Repeat(INDEX_ZERO, n)


cdef void *resized(void *memory, size_t n_bytes) except NULL nogil:
    """Reallocate raw memory, or allocate it if `memory` is NULL; MemoryError if there is none."""
    memory = realloc(memory, max(n_bytes, <size_t> 1))
    if memory == NULL:
        with gil:
            raise MemoryError(f"no memory for {n_bytes} bytes")
    return memory


cdef void *zeroed_memory(size_t n_bytes) except NULL:
    """Allocate raw memory, all bytes 0; MemoryError if there is none."""
    cdef void *memory = calloc(max(n_bytes, <size_t> 1), 1)
    if memory == NULL:
        raise MemoryError(f"no memory for {n_bytes} bytes")
    return memory
