"""Costs of a partition's rows: q of eq. (15), (22) and (23), -log of weight times density."""

cimport cython
from libc.math cimport INFINITY, NAN, log

from dpmlite.core._constants cimport MIN_STIRLING_ARGUMENT, UNPLACED
from dpmlite.core._memory cimport double_array
from dpmlite.core._simd cimport LANES
from dpmlite.core._special cimport log_gamma_c, log_rising_c, log_rising_of


cdef class PartitionCosts(PartitionSlots):

    def costs(self, Py_ssize_t i):
        self.check_row(i)
        self.score(i, INFINITY)
        if self.label[i] != UNPLACED:
            self.cost[self.label[i]] = self.stay_cost(i)
        return [self.cost[k] for k in range(self.component.n_slots)]

    def member_log_weight(self, Py_ssize_t i):
        self.check_row(i)
        return self.member_weight(i, self.row_weight(i))

    def scores_with(self, Py_ssize_t i, const Py_ssize_t[::1] members):
        cdef double[::1] scores = double_array(members.shape[0])
        cdef double[::1] room = self.room_of_a_row()
        cdef Component alone = self.component.like()
        with nogil:
            self.score_with(i, members, alone, &room[0], scores)
        return scores.base

    def per_copy(self, Py_ssize_t i, double score):
        self.check_row(i)
        cdef Row row = self.row(i)
        return self.component.score_per_copy(score, &row)

    cdef double score(self, Py_ssize_t i, double stay) noexcept nogil:
        """Write the cost of row i in every slot but its own to `cost`; return the least.

        Costs that are not below `stay` are lower bounds.
        """
        cdef Py_ssize_t own = self.label[i]
        cdef Row row = self.row(i)
        cdef double *log_weight = self.log_weight
        cdef double kept, least
        if row.weight != 1.0:
            log_weight = self.heavy_log_weight
            self.find_heavy_log_weights(row.weight, self.n_clusters_without(i))
        elif self.discount > 0.0:
            self.weigh_new(self.n_clusters_without(i))
        if own == UNPLACED:
            return self.component.costs_below(&row, log_weight, stay, self.cost)
        kept = log_weight[own]
        log_weight[own] = -INFINITY
        least = self.component.costs_below(&row, log_weight, stay, self.cost)
        log_weight[own] = kept
        return least

    cdef void weigh_new(self, Py_ssize_t n_clusters) noexcept nogil:
        """Give empty slots the log weight of a new cluster beside n_clusters others."""
        cdef double new = self.weight_of(0.0, 1.0, n_clusters)
        cdef Py_ssize_t k
        for k in range(self.component.n_slots):
            if self.component.n[k] == 0.0:
                self.log_weight[k] = new

    cdef void find_heavy_log_weights(self, double weight, Py_ssize_t n_clusters) noexcept nogil:
        """Write weight_of each slot, LANES slots at a time."""
        cdef const double *n = self.component.n
        cdef double power = self.component.power, new = self.weight_of(0.0, weight, n_clusters)
        cdef double x[LANES]
        cdef double steps[LANES]
        cdef Py_ssize_t k, first = 0
        cdef int i
        for i in range(LANES):
            steps[i] = power * weight
        while first < self.component.n_slots:
            for i in range(LANES):
                k = min(first + i, self.component.n_slots - 1)
                x[i] = power * n[k] - self.discount if n[k] > 0.0 else MIN_STIRLING_ARGUMENT
            log_rising_of(x, steps, 1)
            for k in range(first, min(first + LANES, self.component.n_slots)):
                self.heavy_log_weight[k] = x[k - first] / power if n[k] > 0.0 else new
            first += LANES

    cdef double limit_of(self, Py_ssize_t i) except? -1.0 nogil:
        """An upper bound of the cost of every slot that row i may go to.

        A row without a label may go anywhere. Exact costs of a heavy row take long: its cost in the
        slot with the least lower bound limits what others may cost.
        """
        cdef Row row = self.row(i)
        cdef Py_ssize_t k, nearest = 0
        if (self.label[i] != UNPLACED or row.weight == 1.0
                or not self.component.has_heavy_bounds):
            return self.stay_ceiling(i)
        self.score(i, -INFINITY)
        for k in range(self.component.n_slots):
            nearest = k if self.cost[k] < self.cost[nearest] else nearest
        return just_above(self.weight_of(self.component.n[nearest], row.weight,
                                         self.n_clusters_without(i)),
                          self.component.score_slot(&row, nearest))

    cdef double any_cost_in(self, const Row *row, Py_ssize_t k) noexcept nogil:
        """Cost of a row of any weight in a slot that is not its own, eq. (15).

        Only a row that is not alone in its slot costs something in an empty one.
        """
        cdef Py_ssize_t n_clusters = 0
        if self.discount > 0.0:
            n_clusters = self.count_clusters()
        elif row.weight == 1.0:
            return self.cost_in(row, k)
        return (-self.weight_of(self.component.n[k], row.weight, n_clusters)
                - self.component.score_slot(row, k))

    @cython.final
    cdef double stay_cost(self, Py_ssize_t i) except? -1.0 nogil:
        """Leave-one-out cost of row i in its own slot; infinity if it has no label."""
        cdef Row row = self.row(i)
        cdef double cost = self.quick_stay_cost(i, &row)
        if cost != cost:
            return -self.member_weight(i, row.weight) - self.score_from_others(i)
        return cost

    cdef double shared_stay_cost(self, Py_ssize_t i, const Row *row) except? -1.0 nogil:
        """`stay_cost` of a row in the memory of one of several threads."""
        cdef double cost = self.quick_stay_cost(i, row)
        if cost != cost:
            with gil:  # one thread at a time uses the scratch memory
                cost = self.stay_cost(i)
        return cost

    @cython.final
    cdef double quick_stay_cost(self, Py_ssize_t i, const Row *row) noexcept nogil:
        """`stay_cost` from the statistics of the slot; NaN if these have too few digits.

        It writes nothing, so that several threads may call it.
        """
        cdef Py_ssize_t own = self.label[i]
        cdef double score
        if own == UNPLACED:
            return INFINITY
        if self.size[own] == 1:  # then it is as good as in the last slot, which is empty
            score = self.component.score_slot(row, self.component.n_slots - 1)
        elif self.outweighs(row.weight, own):
            return NAN
        else:
            score = self.component.score_member(row, own)
        return -self.member_weight(i, row.weight) - score

    cdef double stay_ceiling(self, Py_ssize_t i) except? -1.0 nogil:
        """An upper bound of stay_cost, which takes less time."""
        cdef Row row = self.row(i)
        cdef Py_ssize_t own = self.label[i]
        cdef double ceiling = NAN
        if own == UNPLACED:
            return INFINITY
        if self.size[own] > 1 and not self.outweighs(row.weight, own):
            ceiling = -self.member_weight(i, row.weight)
            ceiling -= self.component.score_member_floor(&row, own)
        return ceiling if ceiling == ceiling else self.stay_cost(i)

    cdef double score_from_others(self, Py_ssize_t i) except? -1.0 nogil:
        """log p(x_i | the other rows of its cluster), whose statistics are computed anew."""
        cdef Row row
        if self.others is None:
            with gil:
                self.others = self.component.like()
                self.others.make_slots(2)
        self.others.clear_slot(0)
        self.add_members(self.others, 0, self.label[i], i)
        row = self.row(i)
        return self.others.score_slot(&row, 0)

    cdef int score_with(self, Py_ssize_t i, const Py_ssize_t[::1] members, Component alone,
                        double *room, double[::1] scores) except -1 nogil:
        """Write `scores_with`; `alone` and `room` are scratch memory of the calling thread."""
        cdef Py_ssize_t m
        cdef Row row
        self.check_row(i)
        alone.make_slots(0)
        alone.make_slots(1)
        row = self.row_into(i, room)
        row.weight /= alone.power
        alone.add_row(&row, 0)
        for m in range(members.shape[0]):
            self.check_row(members[m])
            self.prefetch_after(members, m)
            row = self.row_into(members[m], room)
            scores[m] = alone.score_per_copy(alone.score_slot(&row, 0), &row)
        return 0

    cdef double weight_of(self, double n, double weight, Py_ssize_t n_clusters) noexcept nogil:
        """Log of the numerator of eq. (2) for a row of this weight, as of equal rows in turn.

        `n_clusters` are those of the other rows, on which a new one's weight depends if there is a
        discount.
        """
        cdef double power = self.component.power, discount = self.discount, new
        if n > 0.0:
            return log_rising_c(power * n - discount, power * weight) / power
        new = log(self.alpha * power + n_clusters * discount)
        new += log_gamma_c(power * weight - discount)
        return (new - log_gamma_c(1.0 - discount) if discount > 0.0 else new) / power

    cdef double weight_of_others(self, Py_ssize_t i, double weight) noexcept nogil:
        """The weight of the other rows in the slot of row i of this weight."""
        cdef Py_ssize_t g, j, own = self.label[i]
        cdef double others = 0.0
        if self.size[own] == 1:
            return 0.0
        if not self.outweighs(weight, own):
            return self.component.n[own] - weight
        for g in range(self.group_label.shape[0]):
            others += self.absorbed_groups.n[g] if self.group_label[g] == own else 0.0
        for j in range(self.n_rows):
            if self.label[j] == own and j != i:
                others += self.row_weight(j)
        return others
