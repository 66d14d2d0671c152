from dpmlite.families._component cimport Component
from dpmlite.partition._listener cimport ListenerList
from dpmlite.partition._log_weights cimport LogWeights
from dpmlite.partition._partition_rows cimport PartitionRows


cdef class PartitionSlots(PartitionRows):
    cdef readonly Component component
    cdef readonly double alpha, discount
    cdef LogWeights weights             # for rows of weight 1,
    cdef double new_log_weight          # and that of a new cluster
    cdef ListenerList listener_list
    cdef double n_placed                # weight of the rows that have a label
    cdef Py_ssize_t n_moves             # rows that moved since the statistics were built
    cdef Py_ssize_t capacity            # slots that the arrays below have room for
    cdef double *cost                   # [slot] scratch of `score`
    cdef double *log_weight             # [slot] log of n, or of alpha if empty; see `weigh`
    cdef double *heavy_log_weight       # [slot] scratch: log weights for a row of another weight
    cdef double *light_member_weight    # [slot] without a row; NaN if it has to be computed
    cdef Py_ssize_t *size               # [slot] its rows, whatever their weights, and its groups

    cdef int set_model(self, Component component, double alpha, double discount) except -1
    cdef int check_least_weight(self) except -1
    cdef Py_ssize_t count_clusters(self) noexcept nogil
    cdef double alpha_beside(self, Py_ssize_t n_slots) noexcept nogil
    cdef Py_ssize_t n_members(self, Py_ssize_t k) noexcept nogil
    cdef Py_ssize_t first_empty(self) noexcept nogil
    cdef void weigh(self, Py_ssize_t k) noexcept nogil
    cdef void weigh_discounted(self, Py_ssize_t k) noexcept nogil
    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil
    cdef int reserve(self, Py_ssize_t n_slots) except -1 nogil
    cdef int keep_an_empty_slot(self) except -1 nogil
    cdef int renumber_slots(self) except -1 nogil
    cdef int drop_all_slots(self, Py_ssize_t n_slots) except -1 nogil
    cdef int rebuild_slots(self) except -1 nogil
    cdef int rebuild_slots_on_threads(self, Py_ssize_t n_labels) except -1
    cdef int keep_groups_alone(self) except -1 nogil
    cdef void refresh_slots(self) noexcept nogil
    cdef void rebuild_slot(self, Py_ssize_t k) noexcept nogil
    cdef void add_members(self, Component component, Py_ssize_t slot, Py_ssize_t k,
                          Py_ssize_t without) noexcept nogil
    cdef int tidy_slots(self) except -1 nogil
    cdef double joint(self) noexcept nogil
