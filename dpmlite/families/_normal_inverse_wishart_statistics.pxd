from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport clones_double, clones_void
from dpmlite.families._multivariate_t cimport MultivariateDensities
from dpmlite.families._soft_component cimport SoftComponent
from dpmlite.families._whitening cimport Units

cdef enum:
    N_CACHED_COUNTS = 4096  # counts of rows: a fit asks for the same again and again


cdef class WishartStatistics(SoftComponent):
    cdef readonly double kappa0, nu0      # divided by the power, as kappa and nu are
    cdef double given_kappa0, given_nu0
    cdef readonly list m0, psi0
    cdef Py_ssize_t width          # columns, padded
    cdef double[::1] origin        # m0
    cdef double[::1] whitening     # [column][row] R of R psi0 R^T = power
    cdef double[::1] peaks         # [n] values of peak_of_row that were found, or NaN
    cdef double[::1] marginal_peaks  # [n] values of marginal_peak that were found, or NaN
    cdef dict by_power             # components without slots that differ in their power
    cdef Units units               # of the prior: R and m0

    cdef double *log_det           # [slot] log det Psi
    cdef double *min_kept          # [slot] least of the parts of pivots that removals left
    cdef double *member_constant   # [slot] log density of a member at the mean
    cdef MultivariateDensities t   # what scoring needs of the slots, kept by `refresh`

    # Parts of a slot in `along`: where they start. Matrices hold padded columns.
    cdef Py_ssize_t at_d, at_reciprocal, at_kept, at_scatter, at_W

    # Scratch, of vectors and of matrices.
    cdef double[::1] room
    cdef double *u
    cdef double *e
    cdef double *z
    cdef double *spare
    cdef double *matrix

    cdef inline double *slot(self, Py_ssize_t k) noexcept nogil:
        """Where the mean of slot k is, and behind it the parts above."""
        return self.along + k * self.n_along

    cdef int begin(self) except -1
    cdef void lay_out(self) noexcept nogil
    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil
    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef void refresh(self, Py_ssize_t k) noexcept nogil

cdef clones_void whiten_row(WishartStatistics self, const double *values) noexcept nogil
cdef clones_double distance(WishartStatistics self, Py_ssize_t k) noexcept nogil
cdef clones_void find_residuals(WishartStatistics self, Py_ssize_t k) noexcept nogil
cdef clones_void add_rows(WishartStatistics self, Py_ssize_t k, double w) noexcept nogil
cdef bint keeps(WishartStatistics self, Py_ssize_t k, double lost) noexcept nogil
cdef double part_left(WishartStatistics self, Py_ssize_t k, double w) noexcept nogil
cdef double peak_of_row(WishartStatistics self, double n, double log_det) noexcept nogil
cdef double marginal_peak(WishartStatistics self, double n) noexcept nogil
cdef double log_peak_in_data(WishartStatistics self, double kappa, double nu, double log_det,
                             double w) noexcept nogil
