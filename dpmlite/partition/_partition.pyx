"""Kernel of partition.py: labels, the statistics of their clusters and the exact joint.

_partition_rows.pyx has the rows and labels of a partition, _partition_slots.pyx its statistics, and
_partition_costs.pyx what its rows cost. Here is what moves rows.
"""

cimport cython
from libc.math cimport log
from libc.string cimport memcpy

from dpmlite.core._constants cimport MIN_OTHERS_FRACTION, TIE, UNPLACED
from dpmlite.core._memory cimport index_array
from dpmlite.core._rows cimport Row
from dpmlite.core._special cimport log_rising_c
from dpmlite.partition._crp cimport log_prob_counts_c

cdef enum:
    MIN_THREADED_ROWS = 32768  # rows from which on threads add them up
    MIN_ROWS_PER_CELL = 64     # rows for each cell of the statistics, of which threads have copies


@cython.final  # its methods are called directly, not through a table
cdef class Partition(PartitionCosts):

    def __init__(self, X, Py_ssize_t[::1] labels, Component component, double alpha,
                 const Py_ssize_t[::1] rows=None, Component absorbed_groups=None,
                 Py_ssize_t[::1] group_labels=None, double discount=0.0):
        cdef Py_ssize_t n_labels, n_slots
        self.take_rows(X, rows, labels)
        component._check_rows(self.X)
        n_labels = self.n_label_slots()
        self.take_groups(component, absorbed_groups, group_labels)
        self.set_model(component, alpha, discount)
        if discount > 0.0:
            self.check_least_weight()
        cdef double n = self.n_rows + self.absorbed_weight()
        self.least_gain = TIE * max(1.0, 1e-6 * n * component.n_columns)
        n_slots = max(n_labels, self.n_group_slots())
        self.drop_all_slots(n_slots)
        if self.n_rows < max(MIN_THREADED_ROWS,
                             MIN_ROWS_PER_CELL * n_slots * component.n_columns):
            with nogil:
                self.rebuild_slots()
        else:
            self.rebuild_slots_on_threads(n_labels)
        with nogil:
            self.begin()

    def part(self, const Py_ssize_t[::1] members, Py_ssize_t[::1] labels, slots=(),
             Py_ssize_t step=1):
        cdef double power = self.component.power
        cdef double alpha = self.alpha, discount = self.discount
        rows = self.rows_of(members)
        if discount > 0.0:
            divided = {*slots, *[self.label[i] for i in members]} - {UNPLACED}
            alpha = self.alpha_beside(len(divided))
        if not self.groups_in(slots):
            component = (self.component.with_power(min(step * power, 1.0))
                         if step > 1 and power < 1.0 else self.component.like())
            return Partition(self.X, labels, component, alpha, rows, discount=discount)
        return Partition(self.X, labels, self.component.like(), alpha, rows,
                         self.copied_groups(self.component, slots), self.group_labels_in(slots),
                         discount)

    def alpha_given_others(self, slots):
        return self.alpha_beside(len(slots))

    def move(self, Py_ssize_t i, Py_ssize_t k, double change):
        self.check_row(i)
        self.component._check_slot(k)
        self.move_row(i, k, change)

    def merge(self, Py_ssize_t j, Py_ssize_t k, double change):
        self.component._check_pair(j, k)
        self.join(j, k, change)
        self.keep_an_empty_slot()

    def replace(self, slots, const Py_ssize_t[::1] members, Partition other, double change):
        cdef Py_ssize_t g, i, m, left
        cdef Py_ssize_t[::1] targets
        if members.shape[0] != other.n_rows:
            raise ValueError(f"members must have {other.n_rows} values, got {members.shape[0]}")
        groups = self.groups_in(slots)
        if len(groups) != other.group_label.shape[0]:
            raise ValueError(f"slots must have {other.group_label.shape[0]} absorbed groups, "
                             f"got {len(groups)}")
        with nogil:
            self.check_members(members)
        targets = self.place_clusters(slots, other)
        with nogil:
            for m in range(members.shape[0]):
                i = members[m]
                left = self.label[i]
                self.label[i] = targets[other.label[m]]
                self.listener_list.row_moved(i, left, self.label[i])
        for m, g in enumerate(groups):
            self.group_label[g] = targets[other.group_label[m]]
        self.neg_log_joint += change
        self.listener_list.slots_replaced(slots, targets, other)

    def tidy(self):
        self.tidy_slots()

    def set_alpha(self, double alpha):
        cdef Component component = self.component
        cdef double power = component.power, before = self.alpha
        cdef double discount = self.discount
        cdef Py_ssize_t k, n_slots = component.n_slots
        self.set_model(component, alpha, discount)
        self.neg_log_joint += log_prob_counts_c(
            component.n, n_slots, before, power, discount) / power
        self.neg_log_joint -= log_prob_counts_c(
            component.n, n_slots, alpha, power, discount) / power
        for k in range(n_slots):
            self.weigh(k)

    def rebuild(self):
        cdef Py_ssize_t n_slots = self.component.n_slots
        if self.n_label_slots() > n_slots:
            raise ValueError(f"labels must be below {n_slots}, got {max(self.label)}")
        self.listener_list.rebuilt()
        self.rebuild_slots()

    def exact_neg_log_joint(self):
        return self.joint()

    cdef int begin(self) except -1 nogil:
        """Number the slots, whose statistics are those of the labels, and find the joint."""
        self.tidy_slots()
        self.neg_log_joint = self.joint()
        return 0

    cdef int relabel(self, const Py_ssize_t *labels,
                     const Py_ssize_t[::1] group_labels) except -1 nogil:
        """Become what a new partition of these rows and groups with other labels would be."""
        cdef Py_ssize_t g
        memcpy(&self.label[0], labels, self.n_rows * sizeof(Py_ssize_t))
        for g in range(self.group_label.shape[0]):
            self.group_label[g] = group_labels[g]
        self.listener_list.rebuilt()
        self.drop_all_slots(max(self.n_group_slots(), self.n_label_slots()))
        self.rebuild_slots()
        return self.begin()

    cdef int move_row(self, Py_ssize_t i, Py_ssize_t k, double change) except -1 nogil:
        """Put row i into slot k, which changes the joint by `change`."""
        cdef Row row = self.row(i)
        cdef Py_ssize_t left = self.label[i]
        self.label[i] = k
        if left == UNPLACED:
            change += self.denominator(row.weight)
            self.n_placed += row.weight
        else:
            self.size[left] -= 1
            if self.size[left] == 0:
                self.component.clear_slot(left)
                self.n_emptied += 1
            elif (not self.component.remove_row(&row, left)
                  or self.component.n[left] < MIN_OTHERS_FRACTION * row.weight):
                self.rebuild_slot(left)
                row = self.row(i)  # rows that are copied share their memory
            self.weigh(left)
        self.component.add_row(&row, k)
        self.size[k] += 1
        self.weigh(k)
        self.n_moves += 1
        self.neg_log_joint += change
        self.listener_list.row_moved(i, left, k)
        return self.keep_an_empty_slot()

    cdef double denominator(self, double weight) noexcept nogil:
        """Log of the denominator of eq. (2) for one more row."""
        cdef double power = self.component.power
        cdef double n = self.alpha + power * self.n_placed
        if weight == 1.0 and power == 1.0:
            return log(n)
        return log_rising_c(n, power * weight) / power

    cdef void join(self, Py_ssize_t j, Py_ssize_t k, double change) noexcept nogil:
        """Put all rows and groups of slot k into slot j, which changes the joint by `change`."""
        cdef Py_ssize_t g, i
        self.component.merge_slots(j, k)
        self.size[j] += self.size[k]
        self.size[k] = 0
        self.weigh(j)
        self.weigh(k)
        for i in range(self.n_rows):
            if self.label[i] == k:
                self.label[i] = j
                self.listener_list.row_moved(i, k, j)
        for g in range(self.group_label.shape[0]):
            if self.group_label[g] == k:
                self.group_label[g] = j
        self.neg_log_joint += change
        self.listener_list.slots_merged(j, k)

    cdef place_clusters(self, slots, Partition other):
        """Clear some slots, and copy each cluster of `other` to one of them or an empty slot.

        Returns the slot of each cluster.
        """
        cdef Py_ssize_t j, k
        cdef Py_ssize_t[::1] targets = index_array(other.n_clusters)
        for k in slots:
            self.component._check_slot(k)
            self.component.clear_slot(k)
            self.size[k] = 0
            self.weigh(k)
        for j in range(other.n_clusters):
            k = slots[j] if j < len(slots) else self.first_empty()
            targets[j] = k
            self.component.copy_slot(k, other.component, j)
            self.size[k] = other.size[j]
            self.weigh(k)
            self.keep_an_empty_slot()
        return targets.base


cdef Partition partition_to_score_in(Rows X, const Py_ssize_t[::1] rows, Py_ssize_t[::1] label,
                                     Component component, double alpha, double discount):
    """A partition without slots and without a joint, whose caller fills slots to score rows in."""
    cdef Partition partition = Partition.__new__(Partition)
    partition.X, partition.rows, partition.n_rows = X, rows, label.shape[0]
    partition.label, partition.group_label = label, index_array(0)
    partition.set_model(component.like(), alpha, discount)
    return partition
