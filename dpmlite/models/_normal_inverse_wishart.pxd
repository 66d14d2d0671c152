from dpmlite.models._component cimport Component
from dpmlite.models._multivariate_t cimport Densities
from dpmlite.models._whitening cimport Units


cdef class NormalInverseWishart(Component):
    cdef readonly double kappa0, nu0
    cdef readonly list m0, psi0
    cdef Py_ssize_t width          # columns, padded
    cdef double[::1] origin        # m0
    cdef double[::1] whitening     # [column][row] R of R psi0 R^T = 1
    cdef Units units               # of the prior: R and m0

    cdef double *log_det           # [slot] log det Psi
    cdef double *least_kept        # [slot] least of `kept`
    cdef double *member_constant   # [slot] log density of a member at the mean
    cdef Densities t               # what scoring needs of the slots, kept by `refresh`

    # Parts of a slot in `along`: where they start. Matrices hold padded columns.
    cdef Py_ssize_t at_d, at_reciprocal, at_kept, at_scatter, at_W

    # Scratch, of vectors and of matrices.
    cdef double[::1] room
    cdef double *u
    cdef double *e
    cdef double *z
    cdef double *spare
    cdef double *matrix

    cdef int begin(self) except -1
    cdef list places(self)

    cdef inline double *slot(self, Py_ssize_t k) noexcept nogil:
        """Where the mean of slot k is, and behind it the parts above."""
        return self.along + k * self.n_along
