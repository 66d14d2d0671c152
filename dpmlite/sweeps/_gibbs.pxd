cpdef check_uniforms(const double[::1] uniforms, Py_ssize_t n)
