"""Slots of a partition: the statistics, sizes and prior weights of its clusters.

At least one slot is empty at any time: it is the new cluster of eq. (10).
"""

from libc.math cimport INFINITY, NAN, log
from libc.stdlib cimport free

from dpmlite.core._constants cimport MIN_OTHERS_FRACTION, UNPLACED
from dpmlite.core._memory cimport resized
from dpmlite.core._rows cimport Row
from dpmlite.families._slot_vectors cimport padded
from dpmlite.partition._crp cimport log_prob_counts_c
from dpmlite.partition._listener cimport PartitionListener
from dpmlite.partition._log_weights cimport log_weights_of
from dpmlite.partition._partial_statistics cimport PartialStatistics, add_rows, partial_statistics

from dpmlite.core.checks import check_discount, check_least_weight

cdef enum:
    MIN_CAPACITY = 16   # slots


cdef class PartitionSlots(PartitionRows):

    def __cinit__(self):
        self.listener_list = ListenerList()

    def __dealloc__(self):
        free(self.cost)
        free(self.log_weight)
        free(self.heavy_log_weight)
        free(self.light_member_weight)
        free(self.size)

    @property
    def n_clusters(self):
        return self.count_clusters()

    @property
    def sizes(self):
        return [self.size[k] for k in range(self.component.n_slots)]

    @property
    def listeners(self):
        return list(self.listener_list.listeners)

    def add_listener(self, PartitionListener listener not None):
        listener.slots_made(0, self.component.n_slots)
        self.listener_list.append(listener)

    cdef int set_model(self, Component component, double alpha, double discount) except -1:
        """Set the component, the concentration and the discount, and what follows from them."""
        if not alpha > 0.0:
            raise ValueError(f"alpha must be positive, got {alpha}")
        if discount != 0.0:
            check_discount(discount, component.power)
        self.component, self.alpha, self.discount = component, alpha, discount
        self.weights = log_weights_of(component.power)
        self.new_log_weight = self.weights.of_new(alpha)
        return 0

    cdef int check_least_weight(self) except -1:
        """Raise ValueError unless a discount is below the weight of every row and group."""
        cdef Py_ssize_t g
        cdef double least = self.X.least_weight if self.X.n_rows > 0 else INFINITY
        for g in range(self.group_label.shape[0]):
            least = min(least, self.absorbed_groups.n[g])
        check_least_weight(self.discount, least if least < INFINITY else 1.0)
        return 0

    cdef Py_ssize_t count_clusters(self) noexcept nogil:
        cdef Py_ssize_t k, total = 0
        for k in range(self.component.n_slots):
            total += self.component.n[k] > 0.0
        return total

    cdef double alpha_beside(self, Py_ssize_t n_slots) noexcept nogil:
        """The concentration of a partition of the rows in n_slots slots, given the other clusters."""
        if self.discount == 0.0:
            return self.alpha
        return self.alpha + (self.count_clusters() - n_slots) * self.discount

    cdef Py_ssize_t n_members(self, Py_ssize_t k) noexcept nogil:
        """The number of rows in slot k, without those of absorbed groups."""
        cdef Py_ssize_t g, total = self.size[k]
        for g in range(self.group_label.shape[0]):
            total -= self.group_label[g] == k
        return total

    cdef Py_ssize_t first_empty(self) noexcept nogil:
        cdef Py_ssize_t k = 0
        while self.component.n[k] > 0.0:
            k += 1
        return k

    cdef void weigh(self, Py_ssize_t k) noexcept nogil:
        """Compute the logs of the numerators of eq. (2) for slot k and a row of weight 1."""
        cdef double n = self.component.n[k], others = n - 1.0
        if self.discount > 0.0:
            self.weigh_discounted(k)
            return
        self.log_weight[k] = self.weights.of(n) if n > 0.0 else self.new_log_weight
        # Fractions of weight that came and went may leave 1 + rounding of a row that is alone.
        if self.size[k] <= 1:
            self.light_member_weight[k] = self.new_log_weight
        else:
            self.light_member_weight[k] = (
                self.weights.of(others) if others >= MIN_OTHERS_FRACTION else NAN)

    cdef void weigh_discounted(self, Py_ssize_t k) noexcept nogil:
        """Compute those of a Pitman-Yor process.

        That of a new cluster depends on the number of clusters: it is found for each row.
        """
        cdef double n = self.component.n[k]
        cdef bint has_others = self.size[k] > 1 and n - 1.0 >= MIN_OTHERS_FRACTION
        self.log_weight[k] = log(n - self.discount) if n > 0.0 else NAN
        self.light_member_weight[k] = log(n - 1.0 - self.discount) if has_others else NAN

    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil:
        """Append empty slots until there are n_slots."""
        cdef Py_ssize_t k, first = self.component.n_slots
        self.reserve(n_slots)
        self.component.make_slots(n_slots)
        for k in range(first, n_slots):
            self.size[k] = 0
            self.weigh(k)
        for k in range(n_slots, padded(n_slots)):  # what pads a vector is no cluster
            self.log_weight[k] = self.heavy_log_weight[k] = -INFINITY
        if first < n_slots:
            self.listener_list.slots_made(first, n_slots)
        return 0

    cdef int reserve(self, Py_ssize_t n_slots) except -1 nogil:
        """Allocate memory for n_slots."""
        cdef Py_ssize_t capacity = max(self.capacity, <Py_ssize_t> MIN_CAPACITY)
        while capacity < n_slots:
            capacity *= 2
        if capacity == self.capacity:
            return 0
        cdef size_t n_bytes = capacity * sizeof(double)
        self.cost = <double *> resized(self.cost, n_bytes)
        self.log_weight = <double *> resized(self.log_weight, n_bytes)
        self.heavy_log_weight = <double *> resized(self.heavy_log_weight, n_bytes)
        self.light_member_weight = <double *> resized(self.light_member_weight, n_bytes)
        self.size = <Py_ssize_t *> resized(self.size, capacity * sizeof(Py_ssize_t))
        self.capacity = capacity
        return 0

    cdef int keep_an_empty_slot(self) except -1 nogil:
        if self.component.n[self.component.n_slots - 1] > 0.0:
            self.make_slots(self.component.n_slots + 1)
        return 0

    cdef int renumber_slots(self) except -1 nogil:
        """Give the clusters slots 0, 1, ... in the order of their slots, and one empty slot."""
        cdef Py_ssize_t g, i, k, used = 0, n_slots = self.component.n_slots
        cdef Py_ssize_t *new_slot = <Py_ssize_t *> resized(
            NULL, (n_slots + 1) * sizeof(Py_ssize_t))
        cdef bint same = True
        for k in range(n_slots):
            new_slot[k] = UNPLACED
            if self.component.n[k] > 0.0:
                if used != k:
                    same = False
                    self.component.copy_slot(used, self.component, k)
                    self.size[used] = self.size[k]
                new_slot[k] = used
                used += 1
        for i in range(0 if same else self.n_rows):
            if self.label[i] != UNPLACED:
                self.label[i] = new_slot[self.label[i]]
        for g in range(self.group_label.shape[0]):
            self.group_label[g] = new_slot[self.group_label[g]]
        self.listener_list.slots_renumbered(new_slot, n_slots)
        free(new_slot)
        self.component.make_slots(used)
        self.make_slots(used + 1)
        for k in range(used):
            self.weigh(k)
        return self.component.shrink()

    cdef int drop_all_slots(self, Py_ssize_t n_slots) except -1 nogil:
        """Make n_slots slots and an empty one, all new."""
        self.component.make_slots(0)
        return self.make_slots(n_slots + 1)

    cdef int rebuild_slots(self) except -1 nogil:
        """Compute the statistics of all slots anew from the labels."""
        self.keep_groups_alone()
        self.n_placed += add_rows(
            self.component, self.size, self.X, self.rows, self.label, 0, self.n_rows, self.room)
        self.refresh_slots()
        return 0

    cdef int rebuild_slots_on_threads(self, Py_ssize_t n_labels) except -1:
        """Compute the statistics of all slots anew; rows have labels below n_labels."""
        cdef Py_ssize_t k
        cdef PartialStatistics part
        self.keep_groups_alone()
        for part in partial_statistics(self.component, n_labels, self.X, self.rows,
                                       self.label) if n_labels > 0 else ():
            for k in range(n_labels):
                if part.size[k] > 0:
                    add_group(self.component, k, part.component, k)
                    self.size[k] += part.size[k]
            self.n_placed += part.weight
        self.refresh_slots()
        return 0

    cdef int keep_groups_alone(self) except -1 nogil:
        """Let slots hold the absorbed groups, and no rows."""
        cdef Py_ssize_t g, k, n_slots = self.component.n_slots
        self.component.make_slots(0)
        self.component.make_slots(n_slots)
        self.n_placed, self.n_moves = self.absorbed_weight(), 0
        for k in range(n_slots):
            self.size[k] = 0
        for g in range(self.group_label.shape[0]):
            k = self.group_label[g]
            add_group(self.component, k, self.absorbed_groups, g)
            self.size[k] += 1
        return 0

    cdef void refresh_slots(self) noexcept nogil:
        """Bring what follows from the statistics up to date."""
        cdef Py_ssize_t k
        for k in range(self.component.n_slots):
            self.component.refresh(k)
            self.weigh(k)

    cdef void rebuild_slot(self, Py_ssize_t k) noexcept nogil:
        self.component.clear_slot(k)
        self.add_members(self.component, k, k, UNPLACED)

    cdef void add_members(self, Component component, Py_ssize_t slot, Py_ssize_t k,
                          Py_ssize_t without) noexcept nogil:
        """Add groups and rows of slot k, but not row `without`, to an empty slot of a component."""
        cdef Py_ssize_t g, i
        cdef Row row
        for g in range(self.group_label.shape[0]):
            if self.group_label[g] == k:
                add_group(component, slot, self.absorbed_groups, g)
        for i in range(self.n_rows):
            if self.label[i] == k and i != without:
                row = self.row(i)
                component.accumulate(&row, slot)
        component.refresh(slot)

    cdef int tidy_slots(self) except -1 nogil:
        self.renumber_slots()
        return self.rebuild_slots() if self.n_moves >= self.n_rows else 0

    cdef double joint(self) noexcept nogil:
        """Minus the log of eq. (1), divided by the power, minus the log marginals."""
        cdef double power = self.component.power
        cdef double total = -log_prob_counts_c(self.component.n, self.component.n_slots,
                                               self.alpha, power, self.discount) / power
        cdef Py_ssize_t k
        for k in range(self.component.n_slots):
            total -= self.component.marginal(k)
        return total


cdef void add_group(Component component, Py_ssize_t k, Component groups,
                    Py_ssize_t g) noexcept nogil:
    """Put a group of rows into slot k of a component whose last slot is empty."""
    cdef Py_ssize_t spare = component.n_slots - 1
    if component.n[k] == 0.0:
        component.copy_slot(k, groups, g)
    else:
        component.copy_slot(spare, groups, g)
        component.merge_slots(k, spare)
