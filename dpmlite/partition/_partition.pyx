"""Kernel of partition.py: labels, the statistics of their clusters and the exact joint."""

cimport cython
from cpython.mem cimport PyMem_RawFree
from libc.math cimport INFINITY, NAN, log
from libc.string cimport memcpy, memset

from dpmlite.core._constants cimport LEAST_LEFT, UNPLACED
from dpmlite.core._memory cimport double_array, index_array, resized
from dpmlite.core._special cimport log_gamma_c, log_rising_c
from dpmlite.families._slot_vectors cimport padded
from dpmlite.partition._crp cimport log_prob_counts_c
from dpmlite.partition._partial_statistics cimport Tally, add_rows, tallies

from dpmlite.core._rows import as_rows

cdef enum:
    COUNTS = 4096       # numbers of rows whose logarithms are at hand
    MANY_ROWS = 32768   # worth to wake threads for
    FEW_CELLS = 64      # one cell of a cluster in so many rows takes little memory

cdef double[COUNTS] LOG_COUNT
fill_log_counts()


@cython.final  # its methods are called directly, not through a table
cdef class Partition:

    def __cinit__(self):
        self.cost = self.log_weight = self.heavy_log_weight = self.light_member_weight = NULL
        self.size = NULL
        self.n_changed = self.previous_slot = NULL
        self.normal = NULL
        self.room = NULL
        self.stay_until = NULL

    def __dealloc__(self):
        PyMem_RawFree(self.cost)
        PyMem_RawFree(self.log_weight)
        PyMem_RawFree(self.heavy_log_weight)
        PyMem_RawFree(self.light_member_weight)
        PyMem_RawFree(self.size)
        PyMem_RawFree(self.n_changed)
        PyMem_RawFree(self.normal)
        PyMem_RawFree(self.previous_slot)
        PyMem_RawFree(self.room)

    def __init__(self, X, Py_ssize_t[::1] labels, Component component, double alpha,
                 const Py_ssize_t[::1] rows=None, Component settled=None,
                 Py_ssize_t[::1] homes=None):
        self.X = as_rows(X)
        self.room = <double *> resized(NULL, (self.X.n_columns + 1) * sizeof(double))
        self.rows = rows
        self.n_rows = self.X.n_rows if rows is None else rows.shape[0]
        cdef Py_ssize_t n_labels, n_slots
        if rows is not None:
            self.X.check_rows(rows)
        if labels.shape[0] != self.n_rows:
            raise ValueError(f"labels must have {self.n_rows} values, got {labels.shape[0]}")
        component._check_rows(self.X)
        self.label = labels
        self.labels = labels.base
        self.component = component
        self.alpha = alpha
        n_labels = self.check_labels()
        self.settled = settled
        self.home = index_array(0) if homes is None else homes
        self.homes = self.home.base
        n_slots = max(n_labels, self.check_settled())
        cdef double total = self.n_rows + self.n_settled()
        self.least_gain = TIE * max(1.0, 1e-6 * total * component.n_columns)
        if not alpha > 0.0:
            raise ValueError(f"alpha must be positive, got {alpha}")
        if self.n_rows < max(MANY_ROWS, FEW_CELLS * n_slots * component.n_columns):
            with nogil:
                self.begin(n_slots)
        else:
            self.begin_on_threads(n_slots, n_labels)

    @property
    def n_clusters(self):
        return self.count_clusters()

    @property
    def sizes(self):
        return [self.size[k] for k in range(self.component.n_slots)]

    @property
    def changed(self):
        return [self.n_changed[k] for k in range(self.component.n_slots)]

    @property
    def normal(self):
        return [self.normal[k] != 0 for k in range(self.component.n_slots)]

    def members(self, Py_ssize_t k):
        return [i for i in range(self.n_rows) if self.label[i] == k]

    def settled_in(self, slots):
        return [g for g in range(self.home.shape[0]) if self.home[g] in slots]

    def costs(self, Py_ssize_t i):
        self.check_row(i)
        self.score(i, INFINITY)
        if self.label[i] != UNPLACED:
            self.cost[self.label[i]] = self.stay_cost(i)
        return [self.cost[k] for k in range(self.component.n_slots)]

    def member_log_weight(self, Py_ssize_t i):
        self.check_row(i)
        return self.member_weight(i, self.row_weight(i))

    def part(self, const Py_ssize_t[::1] members, Py_ssize_t[::1] labels, slots=()):
        cdef Py_ssize_t g, j
        rows = self.rows_of(members)
        groups = self.settled_in(slots)
        if not groups:
            return Partition(self.X, labels, self.component.like(), self.alpha, rows)
        cdef Component settled = self.component.like()
        settled.make_slots(len(groups))
        for j, g in enumerate(groups):
            settled.copy_slot(j, self.settled, g)
        homes = self.homes_in(slots)
        return Partition(self.X, labels, self.component.like(), self.alpha, rows, settled, homes)

    def rows_of(self, const Py_ssize_t[::1] members):
        cdef Py_ssize_t i
        cdef Py_ssize_t[::1] rows = index_array(members.shape[0], False)
        for i in range(members.shape[0]):  # to let go of the interpreter's lock would take longer
            self.check_row(members[i])
            rows[i] = self.in_use(members[i])
        return rows.base

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

    def weight(self, Py_ssize_t i):
        self.check_row(i)
        return self.row_weight(i)

    def move(self, Py_ssize_t i, Py_ssize_t k, double change):
        self.check_row(i)
        self.component._check_slot(k)
        self.move_row(i, k, change)

    def merge(self, Py_ssize_t j, Py_ssize_t k, double change):
        self.component._check_pair(j, k)
        self.join(j, k, change)
        self.keep_an_empty_slot()

    def replace(self, slots, const Py_ssize_t[::1] members, Partition other, double change):
        cdef Py_ssize_t g, i, j, k
        cdef Py_ssize_t[::1] target = index_array(other.n_clusters)
        if members.shape[0] != other.n_rows:
            raise ValueError(f"members must have {other.n_rows} values, got {members.shape[0]}")
        groups = self.settled_in(slots)
        if len(groups) != other.home.shape[0]:
            raise ValueError(
                f"slots must have {other.home.shape[0]} settled groups, got {len(groups)}")
        with nogil:
            for i in range(members.shape[0]):
                self.check_row(members[i])
        for k in slots:
            self.component._check_slot(k)
            self.component.clear_slot(k)
            self.size[k] = 0
            self.weigh(k)
            self.mark(k, self.n_rows, False)
        for j in range(other.n_clusters):
            k = slots[j] if j < len(slots) else self.first_empty()
            target[j] = k
            self.component.copy_slot(k, other.component, j)
            self.size[k] = other.size[j]
            self.weigh(k)
            self.mark(k, other.n_changed[j], other.normal[j])
            self.keep_an_empty_slot()
        with nogil:
            for i in range(members.shape[0]):
                self.label[members[i]] = target[other.label[i]]
                self.forget(members[i])
        for i, g in enumerate(groups):
            self.home[g] = target[other.home[i]]
        self.neg_log_joint += change

    def tidy(self):
        self.tidy_slots()

    def set_alpha(self, double alpha):
        if not alpha > 0.0:
            raise ValueError(f"alpha must be positive, got {alpha}")
        cdef Py_ssize_t k, n_slots = self.component.n_slots
        self.neg_log_joint += log_prob_counts_c(self.component.n, n_slots, self.alpha)
        self.neg_log_joint -= log_prob_counts_c(self.component.n, n_slots, alpha)
        self.alpha = alpha
        for k in range(n_slots):
            self.weigh(k)

    def mark_unchanged(self, Py_ssize_t k, bint normal=False):
        self.component._check_slot(k)
        self.mark(k, 0, normal)

    def mark_changed(self, Py_ssize_t k):
        self.component._check_slot(k)
        self.mark(k, self.n_rows, False)

    cdef void mark(self, Py_ssize_t k, Py_ssize_t n_changed, bint normal) noexcept nogil:
        self.n_changed[k], self.normal[k] = n_changed, normal

    def rebuild(self):
        cdef Py_ssize_t n_slots = self.component.n_slots
        if self.check_labels() > n_slots:
            raise ValueError(f"labels must be below {n_slots}, got {max(self.label)}")
        self.forget_all()  # labels may be others
        self.rebuild_slots()

    def exact_neg_log_joint(self):
        return self.joint()

    cdef int begin(self, Py_ssize_t n_slots) except -1 nogil:
        """Labels, and homes of settled groups, are new: so many slots."""
        self.component.make_slots(0)
        self.make_slots(n_slots + 1)
        self.rebuild_slots()
        return self.complete()

    cdef int begin_on_threads(self, Py_ssize_t n_slots, Py_ssize_t n_labels) except -1:
        """The same, of many rows, which have so many labels."""
        cdef Py_ssize_t k
        cdef Tally tally
        self.component.make_slots(0)
        self.make_slots(n_slots + 1)
        self.settle_slots()
        for tally in tallies(self.component, n_labels, self.X, self.rows,
                             self.label) if n_labels > 0 else ():
            for k in range(n_labels):
                if tally.size[k] > 0:
                    add_group(self.component, k, tally.component, k)
                    self.size[k] += tally.size[k]
            self.n_placed += tally.weight
        self.refresh_slots()
        return self.complete()

    cdef int complete(self) except -1 nogil:
        """Statistics are those of the labels: so is all the rest."""
        self.tidy_slots()
        self.neg_log_joint = self.joint()
        return 0

    cdef homes_in(self, slots):
        """Which of some slots each of their settled groups is in."""
        groups = self.settled_in(slots)
        homes = index_array(len(groups))
        for j, g in enumerate(groups):
            homes[j] = slots.index(self.home[g])
        return homes

    cdef int relabel(self, const Py_ssize_t *labels,
                     const Py_ssize_t[::1] homes) except -1 nogil:
        """Be what a new partition of the same rows and settled groups would be."""
        cdef Py_ssize_t g, n_slots = 0
        memcpy(&self.label[0], labels, self.n_rows * sizeof(Py_ssize_t))
        self.forget_all()
        for g in range(self.home.shape[0]):
            self.home[g] = homes[g]
            n_slots = max(n_slots, homes[g] + 1)
        return self.begin(max(n_slots, self.check_labels()))

    cdef void forget_all(self) noexcept nogil:
        """No row may be where it was."""
        if self.stay_until != NULL:
            memset(self.stay_until, 0, self.n_rows * sizeof(float))

    cdef Py_ssize_t count_clusters(self) noexcept nogil:
        cdef Py_ssize_t k, total = 0
        for k in range(self.component.n_slots):
            total += self.component.n[k] > 0.0
        return total

    cdef int score_with(self, Py_ssize_t i, const Py_ssize_t[::1] members, Component alone,
                        double *room, double[::1] scores) except -1 nogil:
        """`scores_with` for one of many threads, with a component and room of its own for a row."""
        cdef Py_ssize_t m
        cdef Row row
        self.check_row(i)
        alone.make_slots(0)
        alone.make_slots(1)
        row = self.row_into(i, room)
        alone.add_row(&row, 0)
        for m in range(members.shape[0]):
            self.check_row(members[m])
            self.prefetch_after(members, m)
            row = self.row_into(members[m], room)
            scores[m] = alone.score_per_copy(alone.score_slot(&row, 0), &row)
        return 0

    cdef room_of_a_row(self):
        """For `row_into`."""
        return double_array(self.X.n_columns + 1)

    cdef int check_row(self, Py_ssize_t i) except -1 nogil:
        if not 0 <= i < self.n_rows:
            with gil:
                raise IndexError(f"row must be in 0..{self.n_rows - 1}, got {i}")
        return 0

    cdef Py_ssize_t check_labels(self) except -1 nogil:
        """Slots that the rows need."""
        cdef Py_ssize_t least = UNPLACED, most = UNPLACED
        if self.n_rows > 0:
            find_range(&self.label[0], self.n_rows, &least, &most)
        if least < UNPLACED or most > MOST_SLOTS:
            with gil:
                raise ValueError(f"labels must be from -1 to {MOST_SLOTS}, "
                                 f"got {least if least < UNPLACED else most}")
        return most + 1

    cdef Py_ssize_t check_settled(self) except -1:
        """Slots that the settled groups need."""
        cdef Py_ssize_t g, n_slots = 0, n_groups = 0
        if self.settled is not None:
            self.component._check_same(self.settled)
            n_groups = self.settled.n_slots
        if self.home.shape[0] != n_groups:
            raise ValueError(f"homes must have {n_groups} values, got {self.home.shape[0]}")
        for g in range(n_groups):
            if not 0 <= self.home[g] <= MOST_SLOTS:
                raise ValueError(f"homes must be from 0 to {MOST_SLOTS}, got {self.home[g]}")
            if self.settled.n[g] == 0.0:
                raise ValueError(f"settled groups must hold rows, group {g} holds none")
            n_slots = max(n_slots, self.home[g] + 1)
        return n_slots

    cdef double n_settled(self) noexcept nogil:
        """Weight of the settled rows."""
        cdef double total = 0.0
        cdef Py_ssize_t g
        for g in range(self.home.shape[0]):
            total += self.settled.n[g]
        return total

    cdef Py_ssize_t n_members(self, Py_ssize_t k) noexcept nogil:
        """Rows in slot k that are not settled."""
        cdef Py_ssize_t g, total = self.size[k]
        for g in range(self.home.shape[0]):
            total -= self.home[g] == k
        return total

    cdef double weight_of(self, double n, double weight) noexcept nogil:
        """Log of the numerator of eq. (2) for a row of this weight: so many rows one by one."""
        return log_rising_c(n, weight) if n > 0.0 else log(self.alpha) + log_gamma_c(weight)

    cdef double member_weight(self, Py_ssize_t i, double weight) noexcept nogil:
        """The same for row i, which has this weight, where it is, without itself."""
        cdef Py_ssize_t own = self.label[i]
        cdef double light = self.light_member_weight[own]
        if weight == 1.0 and light == light:
            return light
        return self.weight_of(self.weight_of_others(i, weight), weight)

    cdef bint outweighs(self, double weight, Py_ssize_t own) noexcept nogil:
        """Whether so much is in a row that what the others have is lost in the slot's sums."""
        return self.component.n[own] - weight < LEAST_LEFT * weight

    cdef double weight_of_others(self, Py_ssize_t i, double weight) noexcept nogil:
        cdef Py_ssize_t g, j, own = self.label[i]
        cdef double others = 0.0
        if self.size[own] == 1:
            return 0.0
        if not self.outweighs(weight, own):
            return self.component.n[own] - weight
        for g in range(self.home.shape[0]):
            others += self.settled.n[g] if self.home[g] == own else 0.0
        for j in range(self.n_rows):
            if self.label[j] == own and j != i:
                others += self.row_weight(j)
        return others

    cdef double score(self, Py_ssize_t i, double stay) noexcept nogil:
        """cost[k] = q of eq. (15) of row i in every slot but its own; returns the least.

        Costs that are not below `stay` are only bounds.
        """
        cdef Py_ssize_t own = self.label[i]
        cdef Row row = self.row(i)
        cdef double *log_weight = self.log_weight
        cdef double kept, least
        if row.weight != 1.0:
            log_weight = self.heavy_log_weight
            self.weigh_heavy(row.weight, stay)
        if own == UNPLACED:
            least = self.component.costs_below(&row, log_weight, stay, self.cost)
        else:
            kept = log_weight[own]
            log_weight[own] = -INFINITY
            least = self.component.costs_below(&row, log_weight, stay, self.cost)
            log_weight[own] = kept
        return least if row.weight == 1.0 else self.exact_costs(row.weight, stay)

    cdef void weigh_heavy(self, double weight, double stay) noexcept nogil:
        """heavy_log_weight[k] = weight_of slot k, or a little more if `stay` is finite.

        Gamma(n + w) / Gamma(n) <= (n + w)^w, for the digamma function is below the logarithm; and
        log(n + w) <= log(n) + w / n, which is not much more where w <= n.
        """
        cdef const double *n = self.component.n
        cdef double new = self.weight_of(0.0, weight)
        cdef Py_ssize_t k
        for k in range(self.component.n_slots):
            if n[k] == 0.0:
                self.heavy_log_weight[k] = new
            elif stay == INFINITY:
                self.heavy_log_weight[k] = self.weight_of(n[k], weight)
            elif n[k] < weight:
                self.heavy_log_weight[k] = weight * log(n[k] + weight)
            else:
                self.heavy_log_weight[k] = weight * (self.log_weight[k] + weight / n[k])

    cdef double exact_costs(self, double weight, double stay) noexcept nogil:
        """Take back what weigh_heavy gave too much, where costs are below `stay`; as `score`."""
        cdef const double *n = self.component.n
        cdef double least = stay
        cdef Py_ssize_t k
        for k in range(self.component.n_slots):
            if self.cost[k] < stay and stay < INFINITY and n[k] > 0.0:
                self.cost[k] += self.heavy_log_weight[k] - self.weight_of(n[k], weight)
            least = min(least, self.cost[k])
        return least

    cdef double limit_of(self, Py_ssize_t i) except? -1.0 nogil:
        """A number that the cost is below of every slot that row i may go to.

        Without a label, it may go anywhere. To find exact costs of a heavy row takes long: bounds
        tell which slot promises most, and only those that cost no more are of interest.
        """
        cdef Row row = self.row(i)
        cdef Py_ssize_t k, nearest = 0
        if (self.label[i] != UNPLACED or row.weight == 1.0
                or not self.component.has_heavy_bounds):
            return self.stay_ceiling(i)
        self.score(i, -INFINITY)
        for k in range(self.component.n_slots):
            nearest = k if self.cost[k] < self.cost[nearest] else nearest
        return just_above(self.weight_of(self.component.n[nearest], row.weight),
                          self.component.score_slot(&row, nearest))

    cdef double any_cost_in(self, const Row *row, Py_ssize_t k) noexcept nogil:
        """Cost of a row of any weight in a slot that is not its own, eq. (15)."""
        if row.weight == 1.0:
            return self.cost_in(row, k)
        return -self.weight_of(self.component.n[k], row.weight) - self.component.score_slot(row, k)

    cdef double stay_cost(self, Py_ssize_t i) except? -1.0 nogil:
        """Cost of row i where it is, without itself; infinity if it has no label."""
        cdef Row row = self.row(i)
        cdef double cost = self.quick_stay_cost(i, &row)
        if cost != cost:
            return -self.member_weight(i, row.weight) - self.score_from_others(i)
        return cost

    cdef double shared_stay_cost(self, Py_ssize_t i, const Row *row) except? -1.0 nogil:
        """The same for one of many threads, of a row in memory of its own."""
        cdef double cost = self.quick_stay_cost(i, row)
        if cost != cost:
            with gil:  # others that come here wait
                cost = self.stay_cost(i)
        return cost

    cdef double quick_stay_cost(self, Py_ssize_t i, const Row *row) noexcept nogil:
        """The same, or NaN if it takes the other rows; nothing is written, not even scratch."""
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
        """A number not below stay_cost, for less."""
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
        """log p(x_i | the other rows of its cluster), from these anew."""
        cdef Py_ssize_t g, j, own = self.label[i]
        cdef Row row
        if self.others is None:
            with gil:
                self.others = self.component.like()
                self.others.make_slots(2)
        self.others.clear_slot(0)
        for g in range(self.home.shape[0]):
            if self.home[g] == own:
                add_group(self.others, 0, self.settled, g)
        for j in range(self.n_rows):
            if self.label[j] == own and j != i:
                row = self.row(j)
                self.others.accumulate(&row, 0)
        self.others.refresh(0)
        row = self.row(i)
        return self.others.score_slot(&row, 0)

    cdef int move_row(self, Py_ssize_t i, Py_ssize_t k, double change) except -1 nogil:
        cdef Row row = self.row(i)
        cdef Py_ssize_t own = self.label[i]
        self.label[i] = k
        self.forget(i)
        if own == UNPLACED:  # the denominator of eq. (2)
            change += (log(self.alpha + self.n_placed) if row.weight == 1.0
                       else log_rising_c(self.alpha + self.n_placed, row.weight))
            self.n_placed += row.weight
        else:
            self.size[own] -= 1
            if self.size[own] == 0:
                self.component.clear_slot(own)
                self.n_emptied += 1
            elif (not self.component.remove_row(&row, own)
                  or self.component.n[own] < LEAST_LEFT * row.weight):
                self.rebuild_slot(own)
                row = self.row(i)  # rows that are copied share their memory
            self.weigh(own)
            self.n_changed[own] += 1
        self.component.add_row(&row, k)
        self.size[k] += 1
        self.weigh(k)
        self.n_changed[k] += 1
        self.n_moves += 1
        self.neg_log_joint += change
        return self.keep_an_empty_slot()

    cdef void rebuild_slot(self, Py_ssize_t k) noexcept nogil:
        cdef Py_ssize_t g, i
        cdef Row row
        self.component.clear_slot(k)
        for g in range(self.home.shape[0]):
            if self.home[g] == k:
                add_group(self.component, k, self.settled, g)
        for i in range(self.n_rows):
            if self.label[i] == k:
                row = self.row(i)
                self.component.accumulate(&row, k)
        self.component.refresh(k)

    cdef void join(self, Py_ssize_t j, Py_ssize_t k, double change) noexcept nogil:
        cdef Py_ssize_t g, i
        self.component.merge_slots(j, k)
        self.size[j] += self.size[k]
        self.size[k] = 0
        self.weigh(j)
        self.weigh(k)
        self.mark(j, self.n_rows, False)
        self.mark(k, self.n_rows, False)
        for i in range(self.n_rows):
            if self.label[i] == k:
                self.label[i] = j
                self.forget(i)
        for g in range(self.home.shape[0]):
            if self.home[g] == k:
                self.home[g] = j
        self.neg_log_joint += change

    cdef void weigh(self, Py_ssize_t k) noexcept nogil:
        """Numerators of eq. (2) for slot k."""
        cdef double n = self.component.n[k]
        self.log_weight[k] = log_of_weight(n if n > 0.0 else self.alpha)
        # Fractions of weight that came and went may leave 1 + rounding of a row that is alone.
        cdef double others = n - 1.0 if self.size[k] > 1 else self.alpha
        cdef bint known = self.size[k] <= 1 or others >= LEAST_LEFT
        self.light_member_weight[k] = log_of_weight(others) if known else NAN

    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil:
        cdef Py_ssize_t k, known = self.component.n_slots, capacity = max(self.capacity, 16)
        while capacity < n_slots:
            capacity *= 2
        if capacity > self.capacity:
            self.cost = <double *> resized(self.cost, capacity * sizeof(double))
            self.log_weight = <double *> resized(self.log_weight, capacity * sizeof(double))
            self.heavy_log_weight = <double *> resized(
                self.heavy_log_weight, capacity * sizeof(double))
            self.light_member_weight = <double *> resized(
                self.light_member_weight, capacity * sizeof(double))
            self.size = <Py_ssize_t *> resized(self.size, capacity * sizeof(Py_ssize_t))
            self.n_changed = <Py_ssize_t *> resized(self.n_changed, capacity * sizeof(Py_ssize_t))
            self.normal = <char *> resized(self.normal, capacity)
            self.previous_slot = <Py_ssize_t *> resized(
                self.previous_slot, capacity * sizeof(Py_ssize_t))
            for k in range(self.capacity, capacity):
                self.mark(k, self.n_rows, False)
            self.capacity = capacity
        self.component.make_slots(n_slots)
        for k in range(known, n_slots):
            self.size[k] = 0
            self.weigh(k)
            self.mark(k, self.n_rows, False)
            self.previous_slot[k] = -1
        for k in range(n_slots, padded(n_slots)):  # what pads a vector is no cluster
            self.log_weight[k] = self.heavy_log_weight[k] = -INFINITY
        return 0

    cdef int keep_an_empty_slot(self) except -1 nogil:
        if self.component.n[self.component.n_slots - 1] > 0.0:
            self.make_slots(self.component.n_slots + 1)
        return 0

    cdef Py_ssize_t first_empty(self) noexcept nogil:
        cdef Py_ssize_t k = 0
        while self.component.n[k] > 0.0:
            k += 1
        return k

    cdef int renumber_slots(self) except -1 nogil:
        """Give the clusters slots 0, 1, ... in the order of their slots, and one empty slot."""
        cdef Py_ssize_t g, i, k, used = 0, n_slots = self.component.n_slots
        cdef bint same = True
        cdef Py_ssize_t *slot = <Py_ssize_t *> resized(NULL, (n_slots + 1) * sizeof(Py_ssize_t))
        for k in range(n_slots):
            if self.component.n[k] > 0.0:
                if used != k:
                    same = False
                    self.component.copy_slot(used, self.component, k)
                    self.size[used] = self.size[k]
                    self.mark(used, self.n_changed[k], self.normal[k])
                    self.previous_slot[used] = self.previous_slot[k]
                slot[k] = used
                used += 1
        for i in range(0 if same else self.n_rows):
            if self.label[i] != UNPLACED:
                self.label[i] = slot[self.label[i]]
        for g in range(self.home.shape[0]):
            self.home[g] = slot[self.home[g]]
        PyMem_RawFree(slot)
        self.component.make_slots(used)
        self.make_slots(used + 1)
        for k in range(used):
            self.weigh(k)
        return self.component.shrink()

    cdef int rebuild_slots(self) except -1 nogil:
        self.settle_slots()
        self.n_placed += add_rows(
            self.component, self.size, self.X, self.rows, self.label, 0, self.n_rows, self.room)
        self.refresh_slots()
        return 0

    cdef int settle_slots(self) except -1 nogil:
        """Slots hold the settled groups alone."""
        cdef Py_ssize_t g, k, n_slots = self.component.n_slots
        self.component.make_slots(0)
        self.component.make_slots(n_slots)
        self.n_placed, self.n_moves = self.n_settled(), 0
        for k in range(n_slots):
            self.size[k] = 0
        for g in range(self.home.shape[0]):
            add_group(self.component, self.home[g], self.settled, g)
            self.size[self.home[g]] += 1
        return 0

    cdef void refresh_slots(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.component.n_slots):
            self.component.refresh(k)
            self.weigh(k)

    cdef int tidy_slots(self) except -1 nogil:
        self.renumber_slots()
        return self.rebuild_slots() if self.n_moves >= self.n_rows else 0

    cdef double joint(self) noexcept nogil:
        cdef double total = -log_prob_counts_c(self.component.n, self.component.n_slots, self.alpha)
        cdef Py_ssize_t k
        for k in range(self.component.n_slots):
            total -= self.component.marginal(k)
        return total


cdef Partition partition_to_score_in(Rows X, const Py_ssize_t[::1] rows, Py_ssize_t[::1] label,
                                     Component component, double alpha):
    """One of these labels, which are not looked at. It has no joint, and no slots yet."""
    cdef Partition partition = Partition.__new__(Partition)
    partition.X, partition.rows, partition.n_rows = X, rows, label.shape[0]
    partition.label, partition.home = label, index_array(0)
    partition.component, partition.alpha = component.like(), alpha
    return partition


cdef clones_void find_range(const Py_ssize_t *label, Py_ssize_t n, Py_ssize_t *least,
                            Py_ssize_t *most) noexcept nogil:
    """Widen least..most until all labels are in it."""
    cdef Py_ssize_t i, low = least[0], high = most[0]
    for i in range(n):
        low = min(low, label[i])
        high = max(high, label[i])
    least[0], most[0] = low, high


cdef void add_group(Component component, Py_ssize_t k, Component groups,
                    Py_ssize_t g) noexcept nogil:
    """Put a group of rows into slot k of a component whose last slot is empty."""
    cdef Py_ssize_t spare = component.n_slots - 1
    if component.n[k] == 0.0:
        component.copy_slot(k, groups, g)
    else:
        component.copy_slot(spare, groups, g)
        component.merge_slots(k, spare)


cdef void fill_log_counts() noexcept:
    cdef int n
    for n in range(1, COUNTS):
        LOG_COUNT[n] = log(<double> n)


cdef inline inlined_double log_of_weight(double n) noexcept nogil:
    return LOG_COUNT[<int> n] if 1.0 <= n < COUNTS and <int> n == n else log(n)
