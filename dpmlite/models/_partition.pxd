from dpmlite.models._component cimport Component

cdef extern from *:
    """
    #define DPM_TIE 1e-8
    """
    double TIE "DPM_TIE"

cdef enum:
    UNPLACED = -1
    MOST_SLOTS = 2147483647  # and one: an enum holds no more


cdef class Partition:
    cdef readonly Component component
    cdef readonly object labels
    cdef Component others               # a slot to build a cluster without one of its rows
    cdef readonly double alpha, neg_log_joint, least_gain
    cdef readonly Py_ssize_t n_rows
    cdef Py_ssize_t[::1] label          # labels, typed
    cdef const double[:, ::1] X
    cdef const Py_ssize_t[::1] rows     # rows of X in use; shorter than n_rows means all
    cdef double n_placed                # rows that have a label
    cdef Py_ssize_t n_moves             # rows that moved since the statistics were built
    cdef Py_ssize_t capacity            # slots that the arrays below have room for
    cdef double *cost                   # [slot] scratch of `score`
    cdef double *log_weight             # [slot] log of n, or of alpha if the slot is empty
    cdef double *member_log_weight      # [slot] the same with one row less
    cdef bint *touched                  # [slot] changed since marked

    cdef const double *row(self, Py_ssize_t i) noexcept nogil
    cdef double score(self, Py_ssize_t i, double stay) noexcept nogil
    cdef double stay_cost(self, Py_ssize_t i) noexcept nogil
    cdef double stay_ceiling(self, Py_ssize_t i) noexcept nogil
    cdef double score_from_others(self, Py_ssize_t i) noexcept nogil
    cdef void rebuild_slot(self, Py_ssize_t k) noexcept nogil
    cdef int move_row(self, Py_ssize_t i, Py_ssize_t k, double change) except -1 nogil
    cdef void join(self, Py_ssize_t j, Py_ssize_t k, double change) noexcept nogil
    cdef void weigh(self, Py_ssize_t k) noexcept nogil
    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil
    cdef int keep_an_empty_slot(self) except -1 nogil
    cdef Py_ssize_t first_empty(self) noexcept nogil
    cdef int renumber_slots(self) except -1 nogil
    cdef int rebuild_slots(self) except -1 nogil
    cdef int tidy_slots(self) except -1 nogil
    cdef double joint(self) noexcept nogil
