from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport inlined_double, larger
from dpmlite.families._component cimport Component
from dpmlite.families._student_t cimport Densities


cdef inline inlined_double merged_rate(double c0, double cj, double ck, double mj, double mk,
                                       double bj, double bk) noexcept nogil:
    """b of two slots' rows together, eq. (13)."""
    cdef double between = cj * ck * (mj - mk) * (mj - mk) - c0 * (cj * mj * mj + ck * mk * mk)
    return larger(bj + bk - 1.0 + 0.5 * between / (cj + ck - c0), 1.0)


cdef class NormalGamma(Component):
    cdef readonly double c0, a0
    cdef readonly list m0, b0
    cdef double[::1] origin, unit  # m0 and 1 / sqrt(b0), per column
    cdef double[::1] known         # [n] what at_mean has found so far, or NaN
    cdef double *m                 # [slot][column] posterior mean and rate, eq. (13), n_along apart
    cdef double *b
    cdef double *across_m          # [column][slot] the same, kept by `refresh`
    cdef double *across_b
    cdef double *log_b             # [slot] sum over columns of log b
    cdef double *kept              # [slot] part of b that removals left, least column
    cdef Densities t               # what scoring needs of the slots, kept by `refresh`

    cdef int begin(self) except -1
    cdef void lay_out(self) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil
    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil
    cdef const Densities *densities(self) noexcept nogil
    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil
    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil
    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void score_members(self, const Row *rows, const Py_ssize_t *slots, Py_ssize_t n,
                            double *out) noexcept nogil
    cdef double score_member_floor(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef int expect(self) except -1
    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil
    cdef void share(self, const Row *row, const double *shares) noexcept nogil
    cdef void end_sharing(self) noexcept nogil
    cdef double marginal(self, Py_ssize_t k) noexcept nogil
    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil
