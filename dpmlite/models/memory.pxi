# Memory that is not Python's: no lock is needed for it.


cdef void *resized(void *memory, size_t n_bytes) except NULL nogil:
    memory = PyMem_RawRealloc(memory, n_bytes)
    if memory == NULL:
        with gil:
            raise MemoryError(f"no memory for {n_bytes} bytes")
    return memory
