"""Memory that can be had without the interpreter's lock."""


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
