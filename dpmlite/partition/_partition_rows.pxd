from dpmlite.core._rows cimport PREFETCH_DISTANCE, Row, Rows, fetch, inlined_row
from dpmlite.core._simd cimport clones_void, inlined_double, inlined_ssize, inlined_void
from dpmlite.families._component cimport Component


cdef class PartitionRows:
    cdef readonly Rows X
    cdef readonly Py_ssize_t n_rows
    cdef readonly object labels, group_labels
    cdef const Py_ssize_t[::1] rows     # rows of X in use; None: all
    cdef Py_ssize_t[::1] label          # labels, typed
    cdef Py_ssize_t[::1] group_label    # group_labels, typed
    cdef Component absorbed_groups      # [group] statistics; None if there are no groups
    cdef double *room                   # memory of a row, if rows have to be copied

    cdef inline inlined_row row(self, Py_ssize_t i) noexcept nogil:
        return self.row_into(i, self.room)

    # The row of X that is the partition's row i.
    cdef inline inlined_ssize in_use(self, Py_ssize_t i) noexcept nogil:
        return self.rows[i] if self.rows is not None else i

    cdef inline inlined_row row_into(self, Py_ssize_t i, double *room) noexcept nogil:
        return self.X.row_into(self.in_use(i), room)

    # Load row i and its label, if there is such a row, into the cache.
    cdef inline inlined_void prefetch(self, Py_ssize_t i) noexcept nogil:
        if 0 <= i < self.n_rows:
            self.X.prefetch(self.in_use(i))
            fetch(&self.label[i])

    # Load the row PREFETCH_DISTANCE places after `members[m]`, which is read now, and its label.
    cdef inline inlined_void prefetch_after(self, const Py_ssize_t[::1] members,
                                            Py_ssize_t m) noexcept nogil:
        if m + PREFETCH_DISTANCE < members.shape[0]:
            self.prefetch(members[m + PREFETCH_DISTANCE])

    cdef inline inlined_double row_weight(self, Py_ssize_t i) noexcept nogil:
        return self.X.weight_of(self.in_use(i))

    cdef int take_rows(self, X, const Py_ssize_t[::1] rows, Py_ssize_t[::1] labels) except -1
    cdef int take_groups(self, Component component, Component groups,
                         Py_ssize_t[::1] labels) except -1
    cdef group_labels_in(self, slots)
    cdef Component copied_groups(self, Component component, slots)
    cdef room_of_a_row(self)
    cdef int check_row(self, Py_ssize_t i) except -1 nogil
    cdef int check_members(self, const Py_ssize_t[::1] members) except -1 nogil
    cdef Py_ssize_t n_label_slots(self) except -1 nogil
    cdef Py_ssize_t n_group_slots(self) noexcept nogil
    cdef double absorbed_weight(self) noexcept nogil

cdef clones_void find_range(const Py_ssize_t *label, Py_ssize_t n, Py_ssize_t *least,
                            Py_ssize_t *most) noexcept nogil
