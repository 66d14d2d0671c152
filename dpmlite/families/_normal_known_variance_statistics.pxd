from dpmlite.core._constants cimport MAX_SIGMAS
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport inlined_double, within
from dpmlite.families._soft_component cimport SoftComponent


cdef inline inlined_double standardise(double x, double origin, double unit) noexcept nogil:
    return within((x - origin) * unit, MAX_SIGMAS)


cdef class KnownVarianceStatistics(SoftComponent):
    cdef readonly list m0, sigma2, tau2
    cdef double[::1] origin, unit  # [column] m0 and 1 / sqrt(sigma2)
    cdef double[::1] ratio         # [column] r = tau2 / sigma2

    cdef double *spread            # [slot] squared distances of the rows from their mean
    cdef double *kept              # [slot] part of 1 + spread that removals left
    cdef double *constant          # [slot] log density of a new row at the mean
    cdef double *member_constant   # [slot] log density of a member at the mean, given the others
    cdef double *slope             # [column][slot] sqrt of a column's cost: u slope - shift
    cdef double *shift
    cdef double *means             # [column][slot] a copy of `mean`
    cdef double *mean              # [slot][column] mean of the rows

    cdef void lay_out(self) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    cdef int expect(self) except -1
    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil

cdef bint can_lose(KnownVarianceStatistics self, const Row *row, Py_ssize_t k, double *spread,
                   double *kept) noexcept nogil
cdef double log_ratio(KnownVarianceStatistics self, double n, double more) noexcept nogil
