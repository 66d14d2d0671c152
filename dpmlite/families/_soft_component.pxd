from dpmlite.core._rows cimport Row
from dpmlite.families._component cimport Component


# Families with closed-form expectations, whose rows may lie in all slots at once, a part in each.
# Responsibilities are padded, with zeros.
cdef class SoftComponent(Component):
    cdef double[::1] expected  # what expected_scores needs of the slots; kept by `expect`

    cdef int expect(self) except -1
    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil
    cdef void begin_sharing(self) noexcept nogil
    cdef void share(self, const Row *row, const double *responsibilities) noexcept nogil
    cdef void end_sharing(self) noexcept nogil
    cdef int expect_values(self, Py_ssize_t n_values) except -1
