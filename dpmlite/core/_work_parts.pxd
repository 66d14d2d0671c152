cdef Py_ssize_t part_start(Py_ssize_t part, Py_ssize_t n_parts, Py_ssize_t n) noexcept nogil
