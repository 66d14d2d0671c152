"""Memory for kernels: arrays that memoryviews can hold, and raw memory.

An array is cloned from a prototype, which takes no call of a Python function.
"""

from array import array

from cpython.array cimport array as Array, clone
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawRealloc

cdef Array DOUBLES = array("d")
cdef Array INDICES = array("q" if sizeof(Py_ssize_t) == 8 else "i")


cdef double_array(Py_ssize_t n):
    """A new array of n doubles, all 0."""
    return clone(DOUBLES, n, True)


cdef index_array(Py_ssize_t n, bint zeros=True):
    """A new array of n integers of type Py_ssize_t: all 0, or uninitialised."""
    return clone(INDICES, n, zeros)


cdef void *resized(void *memory, size_t n_bytes) except NULL nogil:
    """Reallocate raw memory, or allocate it if `memory` is NULL; MemoryError if there is none."""
    memory = PyMem_RawRealloc(memory, n_bytes)
    if memory == NULL:
        with gil:
            raise MemoryError(f"no memory for {n_bytes} bytes")
    return memory


cdef void *zeroed_memory(size_t n_bytes) except NULL:
    """Allocate raw memory, all bytes 0; MemoryError if there is none."""
    cdef void *memory = PyMem_RawCalloc(max(n_bytes, <size_t> 1), 1)
    if memory == NULL:
        raise MemoryError(f"no memory for {n_bytes} bytes")
    return memory
