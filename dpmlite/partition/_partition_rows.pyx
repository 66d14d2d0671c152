"""Rows of a partition, and groups of rows that are gone, with their labels."""

from libc.stdlib cimport free

from dpmlite.core._constants cimport MAX_LABEL, UNPLACED
from dpmlite.core._memory cimport double_array, index_array, resized

from dpmlite.core._rows import as_rows


cdef class PartitionRows:

    def __dealloc__(self):
        free(self.room)

    def members(self, Py_ssize_t k):
        return [i for i in range(self.n_rows) if self.label[i] == k]

    def groups_in(self, slots):
        return [g for g in range(self.group_label.shape[0]) if self.group_label[g] in slots]

    def rows_of(self, const Py_ssize_t[::1] members):
        cdef Py_ssize_t i
        cdef Py_ssize_t[::1] rows = index_array(members.shape[0], False)
        for i in range(members.shape[0]):  # to let go of the interpreter's lock would take longer
            self.check_row(members[i])
            rows[i] = self.in_use(members[i])
        return rows.base

    def weight(self, Py_ssize_t i):
        self.check_row(i)
        return self.row_weight(i)

    cdef int take_rows(self, X, const Py_ssize_t[::1] rows, Py_ssize_t[::1] labels) except -1:
        """Keep the rows and their labels."""
        self.X = as_rows(X)
        self.room = <double *> resized(NULL, (self.X.n_columns + 1) * sizeof(double))
        self.rows = rows
        self.n_rows = self.X.n_rows if rows is None else rows.shape[0]
        if rows is not None:
            self.X.check_rows(rows)
        if labels.shape[0] != self.n_rows:
            raise ValueError(f"labels must have {self.n_rows} values, got {labels.shape[0]}")
        self.label, self.labels = labels, labels.base
        return 0

    cdef int take_groups(self, Component component, Component groups,
                         Py_ssize_t[::1] labels) except -1:
        """Keep the absorbed groups, which need the prior of the component, and their labels."""
        cdef Py_ssize_t g, n_groups = 0
        if groups is not None:
            component._check_same(groups)
            n_groups = groups.n_slots
        self.absorbed_groups = groups
        self.group_label = index_array(0) if labels is None else labels
        self.group_labels = self.group_label.base
        if self.group_label.shape[0] != n_groups:
            raise ValueError(
                f"group_labels must have {n_groups} values, got {self.group_label.shape[0]}")
        for g in range(n_groups):
            if not 0 <= self.group_label[g] <= MAX_LABEL:
                raise ValueError(
                    f"group_labels must be from 0 to {MAX_LABEL}, got {self.group_label[g]}")
            if groups.n[g] == 0.0:
                raise ValueError(f"absorbed groups must hold rows, group {g} holds none")
        return 0

    cdef group_labels_in(self, slots):
        """The place in `slots` of the slot of each absorbed group that they have."""
        cdef Py_ssize_t g, j
        groups = self.groups_in(slots)
        labels = index_array(len(groups))
        for j, g in enumerate(groups):
            labels[j] = slots.index(self.group_label[g])
        return labels

    cdef Component copied_groups(self, Component component, slots):
        """A component of the same prior that holds the absorbed groups of some slots."""
        cdef Py_ssize_t g, j
        groups = self.groups_in(slots)
        cdef Component copies = component.like()
        copies.make_slots(len(groups))
        for j, g in enumerate(groups):
            copies.copy_slot(j, self.absorbed_groups, g)
        return copies

    cdef room_of_a_row(self):
        """An array that has room for a row, for `row_into`."""
        return double_array(self.X.n_columns + 1)

    cdef int check_row(self, Py_ssize_t i) except -1 nogil:
        if not 0 <= i < self.n_rows:
            with gil:
                raise IndexError(f"row must be in 0..{self.n_rows - 1}, got {i}")
        return 0

    cdef int check_members(self, const Py_ssize_t[::1] members) except -1 nogil:
        cdef Py_ssize_t m
        for m in range(members.shape[0]):
            self.check_row(members[m])
        return 0

    cdef Py_ssize_t n_label_slots(self) except -1 nogil:
        """The number of slots that the rows' labels need; raises ValueError for a bad label."""
        cdef Py_ssize_t least = UNPLACED, most = UNPLACED
        if self.n_rows > 0:
            find_range(&self.label[0], self.n_rows, &least, &most)
        if least < UNPLACED or most > MAX_LABEL:
            with gil:
                raise ValueError(f"labels must be from -1 to {MAX_LABEL}, "
                                 f"got {least if least < UNPLACED else most}")
        return most + 1

    cdef Py_ssize_t n_group_slots(self) noexcept nogil:
        """The number of slots that the groups' labels need."""
        cdef Py_ssize_t g, n_slots = 0
        for g in range(self.group_label.shape[0]):
            n_slots = max(n_slots, self.group_label[g] + 1)
        return n_slots

    cdef double absorbed_weight(self) noexcept nogil:
        """The weight of all rows in absorbed groups."""
        cdef double total = 0.0
        cdef Py_ssize_t g
        for g in range(self.group_label.shape[0]):
            total += self.absorbed_groups.n[g]
        return total


cdef clones_void find_range(const Py_ssize_t *label, Py_ssize_t n, Py_ssize_t *least,
                            Py_ssize_t *most) noexcept nogil:
    """Lower `least` and raise `most` until all labels are between them."""
    cdef Py_ssize_t i, low = least[0], high = most[0]
    for i in range(n):
        low = min(low, label[i])
        high = max(high, label[i])
    least[0], most[0] = low, high
