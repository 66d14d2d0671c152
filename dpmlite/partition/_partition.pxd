cimport cython
from libc.math cimport fabs

from dpmlite.core._constants cimport ROUNDING_MARGIN, TIE
from dpmlite.core._rows cimport AHEAD, Row, Rows, fetch, inlined_row
from dpmlite.core._simd cimport clones_void, inlined_double, inlined_ssize, inlined_void
from dpmlite.families._component cimport Component

cdef enum:
    MOST_SLOTS = 2147483647  # and one: an enum holds no more


# A cost that is more than a tie above this one, however either is rounded.
cdef inline inlined_double just_above(double log_weight, double score) noexcept nogil:
    return -log_weight - score + (2.0 * TIE + ROUNDING_MARGIN * (fabs(log_weight) + fabs(score)))


@cython.final  # its methods are called directly, not through a table
cdef class Partition:
    cdef readonly Component component
    cdef readonly object labels, homes
    cdef readonly object stay_bounds    # what sweeps remember of rows that stay, or None,
    cdef float *stay_until              # [row] which has this, 0 for rows that moved since; or NULL
    cdef Component others               # a slot to build a cluster without one of its rows
    cdef readonly double alpha, neg_log_joint, least_gain
    cdef readonly Py_ssize_t n_rows, n_emptied
    cdef Py_ssize_t[::1] label          # labels, typed
    cdef Py_ssize_t[::1] home           # homes, typed
    cdef Component settled              # [group] statistics; None if there are no groups
    cdef readonly Rows X
    cdef double *room                   # of a row, if rows have to be copied
    cdef const Py_ssize_t[::1] rows     # rows of X in use; None: all
    cdef double n_placed                # weight of the rows that have a label
    cdef Py_ssize_t n_moves             # rows that moved since the statistics were built
    cdef Py_ssize_t capacity            # slots that the arrays below have room for
    cdef double *cost                   # [slot] scratch of `score`
    cdef double *log_weight             # [slot] log of n, or of alpha if the slot is empty
    cdef double *heavy_log_weight       # [slot] the same for a row whose weight is not 1
    cdef double *light_member_weight    # [slot] log_weight without one row of weight 1, or NaN
    cdef Py_ssize_t *size               # [slot] its rows, whatever their weights, and groups
    cdef Py_ssize_t *n_changed          # [slot] rows that came or left since it was marked,
    cdef char *normal                   # [slot] and whether it was found to look normal then
    cdef Py_ssize_t *previous_slot      # [slot] its number when `stay_bounds` last knew it, or -1

    cdef inline inlined_row row(self, Py_ssize_t i) noexcept nogil:
        return self.row_into(i, self.room)

    # The row of X that is the partition's row i.
    cdef inline inlined_ssize in_use(self, Py_ssize_t i) noexcept nogil:
        return self.rows[i] if self.rows is not None else i

    cdef inline inlined_row row_into(self, Py_ssize_t i, double *room) noexcept nogil:
        return self.X.row_into(self.in_use(i), room)

    # Row i, if there is one, will be read soon, and its label.
    cdef inline inlined_void prefetch(self, Py_ssize_t i) noexcept nogil:
        if 0 <= i < self.n_rows:
            self.X.prefetch(self.in_use(i))
            fetch(&self.label[i])

    # The same of a row that comes after `members[m]`, which is read now.
    cdef inline inlined_void prefetch_after(self, const Py_ssize_t[::1] members,
                                          Py_ssize_t m) noexcept nogil:
        if m + AHEAD < members.shape[0]:
            self.prefetch(members[m + AHEAD])

    cdef inline inlined_double row_weight(self, Py_ssize_t i) noexcept nogil:
        return self.X.weight_of(self.in_use(i))

    # Cost of a row of weight 1 in a slot that is not its own, eq. (15).
    cdef inline inlined_double cost_in(self, const Row *row, Py_ssize_t k) noexcept nogil:
        return -self.log_weight[k] - self.component.score_slot(row, k)

    cdef inline inlined_void forget(self, Py_ssize_t i) noexcept nogil:
        """Row i is not where it was."""
        if self.stay_until != NULL:
            self.stay_until[i] = 0

    cdef void mark(self, Py_ssize_t k, Py_ssize_t n_changed, bint normal) noexcept nogil
    cdef int begin(self, Py_ssize_t n_slots) except -1 nogil
    cdef int begin_on_threads(self, Py_ssize_t n_slots, Py_ssize_t n_labels,
                              Py_ssize_t n_threads) except -1
    cdef int complete(self) except -1 nogil
    cdef homes_in(self, slots)
    cdef int relabel(self, const Py_ssize_t *labels,
                     const Py_ssize_t[::1] homes) except -1 nogil
    cdef void forget_all(self) noexcept nogil
    cdef Py_ssize_t count_clusters(self) noexcept nogil
    cdef int score_with(self, Py_ssize_t i, const Py_ssize_t[::1] members, Component alone,
                        double *room, double[::1] scores) except -1 nogil
    cdef room_of_a_row(self)
    cdef int check_row(self, Py_ssize_t i) except -1 nogil
    cdef Py_ssize_t check_labels(self) except -1 nogil
    cdef Py_ssize_t check_settled(self) except -1
    cdef double n_settled(self) noexcept nogil
    cdef Py_ssize_t n_members(self, Py_ssize_t k) noexcept nogil
    cdef double weight_of(self, double n, double weight) noexcept nogil
    cdef double member_weight(self, Py_ssize_t i, double weight) noexcept nogil
    cdef bint outweighs(self, double weight, Py_ssize_t own) noexcept nogil
    cdef double weight_of_others(self, Py_ssize_t i, double weight) noexcept nogil
    cdef double score(self, Py_ssize_t i, double stay) noexcept nogil
    cdef void weigh_heavy(self, double weight, double stay) noexcept nogil
    cdef double exact_costs(self, double weight, double stay) noexcept nogil
    cdef double limit_of(self, Py_ssize_t i) except? -1.0 nogil
    cdef double any_cost_in(self, const Row *row, Py_ssize_t k) noexcept nogil
    cdef double stay_cost(self, Py_ssize_t i) except? -1.0 nogil
    cdef double shared_stay_cost(self, Py_ssize_t i, const Row *row) except? -1.0 nogil
    cdef double quick_stay_cost(self, Py_ssize_t i, const Row *row) noexcept nogil
    cdef double stay_ceiling(self, Py_ssize_t i) except? -1.0 nogil
    cdef double score_from_others(self, Py_ssize_t i) except? -1.0 nogil
    cdef int move_row(self, Py_ssize_t i, Py_ssize_t k, double change) except -1 nogil
    cdef void rebuild_slot(self, Py_ssize_t k) noexcept nogil
    cdef void join(self, Py_ssize_t j, Py_ssize_t k, double change) noexcept nogil
    cdef void weigh(self, Py_ssize_t k) noexcept nogil
    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil
    cdef int keep_an_empty_slot(self) except -1 nogil
    cdef Py_ssize_t first_empty(self) noexcept nogil
    cdef int renumber_slots(self) except -1 nogil
    cdef int rebuild_slots(self) except -1 nogil
    cdef int settle_slots(self) except -1 nogil
    cdef void refresh_slots(self) noexcept nogil
    cdef int tidy_slots(self) except -1 nogil
    cdef double joint(self) noexcept nogil

cdef Partition partition_to_score_in(Rows X, const Py_ssize_t[::1] rows, Py_ssize_t[::1] label,
                                     Component component, double alpha)
cdef clones_void find_range(const Py_ssize_t *label, Py_ssize_t n, Py_ssize_t *least,
                            Py_ssize_t *most) noexcept nogil
