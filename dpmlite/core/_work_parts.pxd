cdef Py_ssize_t start_of(Py_ssize_t part, Py_ssize_t n_parts, Py_ssize_t n) noexcept nogil
