cdef double_array(Py_ssize_t n)
cdef index_array(Py_ssize_t n)
cdef void *resized(void *memory, size_t n_bytes) except NULL nogil
cdef void *zeroed_memory(size_t n_bytes) except NULL
