"""Kernel of component.py: the interface of component families."""

from libc.math cimport INFINITY
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from dpmlite.core._locks cimport (
    PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock)
from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport Rows, dense_row
from dpmlite.families._slot_vectors cimport NARROW, least_of, padded

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX


cdef class Component:

    def __cinit__(self):
        self.block = NULL
        self.expected = None
        self.turn = PyThread_allocate_lock()
        if self.turn == NULL:
            raise MemoryError("no memory for a lock")

    def __dealloc__(self):
        free(self.block)
        if self.turn != NULL:
            PyThread_free_lock(self.turn)

    cdef void begin_turn(self) noexcept nogil:
        """Until end_turn, no other thread scores rows in single slots of this component.

        For components that threads share; called without the interpreter's lock.
        """
        if self.has_scratch:
            PyThread_acquire_lock(self.turn, True)

    cdef void end_turn(self) noexcept nogil:
        if self.has_scratch:
            PyThread_release_lock(self.turn)

    cdef Component copied(self):
        """One with the same slots, for a thread of its own: costs_below may write to all."""
        cdef Component other = self.like()
        cdef Py_ssize_t k
        other.make_slots(self.n_slots)
        for k in range(self.n_slots):
            other.copy_slot(k, self, k)
        return other

    cdef int start(self, Py_ssize_t n_across, Py_ssize_t n_along) except -1:
        """Memory for a family's first slots; what `lay_out` and `clear_slot` need must be set."""
        self.n_across, self.n_along = n_across, n_along
        return self.reserve(NARROW)

    cdef int reserve(self, Py_ssize_t capacity) except -1 nogil:
        """Memory for `capacity` slots, at addresses that fit a cache line."""
        cdef Py_ssize_t i, step = self.capacity, known = min(step, capacity)
        cdef double wanted = 8.0 * (self.n_across + self.n_along) * capacity
        cdef size_t n_bytes = (self.n_across + self.n_along) * capacity * sizeof(double)
        cdef void *block = malloc(n_bytes + 64) if wanted < 0.5 * <double> PY_SSIZE_T_MAX else NULL
        if block == NULL:
            with gil:
                raise MemoryError(f"no memory for the statistics of {capacity} clusters")
        cdef double *across = <double *> ((<uintptr_t> block + 63) & ~(<uintptr_t> 63))
        cdef double *along = across + self.n_across * capacity
        memset(across, 0, n_bytes)
        if known > 0:
            for i in range(self.n_across):
                memcpy(across + i * capacity, self.across + i * step, known * sizeof(double))
            memcpy(along, self.along, self.n_along * known * sizeof(double))
        free(self.block)
        self.block, self.capacity = block, capacity
        self.n, self.across, self.along = across, across, along
        self.lay_out()
        self.clear_slots(known, capacity)
        return 0

    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil:
        """Make exactly n_slots slots; those that are new are empty."""
        cdef Py_ssize_t capacity = self.capacity
        while capacity < n_slots and capacity <= PY_SSIZE_T_MAX // 2:
            capacity *= 2
        if capacity > self.capacity:
            self.reserve(capacity)
        self.clear_slots(n_slots, self.n_slots)
        self.n_slots = n_slots
        return 0

    cdef int shrink(self) except -1 nogil:
        """Move slots closer together where most are gone: they share cache lines then."""
        cdef Py_ssize_t capacity = self.capacity
        while capacity > NARROW and capacity >= 4 * self.n_slots:
            capacity //= 2
        return self.reserve(capacity) if capacity < self.capacity else 0

    cdef void copy_slot(self, Py_ssize_t k, Component other, Py_ssize_t j) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.n_across):
            self.across[i * self.capacity + k] = other.across[i * other.capacity + j]
        memcpy(self.along + k * self.n_along, other.along + j * self.n_along,
               self.n_along * sizeof(double))

    cdef int copy_all(self, Component other) except -1 nogil:
        """Have the slots of another of the same prior; for families that have all in the block."""
        if self.capacity != other.capacity:
            self.reserve(other.capacity)
        self.n_slots = other.n_slots
        memcpy(self.across, other.across,
               (self.n_across + self.n_along) * self.capacity * sizeof(double))
        return 0

    # What a family overrides. Arguments are checked by the methods further down, never in here;
    # an `out` has room for n_slots rounded up by `padded`.

    cdef void lay_out(self) noexcept nogil:
        """Set the family's pointers into `across` and `along`; slots may be uncleared."""
        pass

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        pass

    cdef void clear_slots(self, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
        """Slots first..last-1."""
        cdef Py_ssize_t k
        for k in range(first, last):
            self.clear_slot(k)

    cdef void accumulate(self, const Row *row, Py_ssize_t k) noexcept nogil:
        """add_row without what scoring caches; refresh(k) must follow before slot k is scored."""
        pass

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        """Bring what scoring caches of slot k up to its statistics."""
        pass

    cdef void add_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        self.accumulate(row, k)
        self.refresh(k)

    cdef bint remove_row(self, const Row *row, Py_ssize_t k) noexcept nogil:
        """False, and nothing is changed, if rounding would show in what is left."""
        return False

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        pass

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        """out[k] = -log_weight[k] - log p(row | rows of slot k), eq. (15), of every slot.

        A cost that is not below `limit` may be given as any number from `limit` to the cost.
        Slots from n_slots on cost infinity if their log_weight is minus infinity. Returns the
        least cost, or `limit` if none is below it.
        """
        cdef Py_ssize_t k
        if self.has_heavy_bounds and row.weight != 1.0 and limit < INFINITY:
            self.heavy_bounds(row, log_weight, limit, out)
            return self.score_below(row, log_weight, limit, out)
        for k in range(self.n_slots):
            out[k] = -log_weight[k] - self.score_slot(row, k)
        for k in range(self.n_slots, padded(self.n_slots)):
            out[k] = INFINITY
        return least_of(out, self.n_slots, limit)

    cdef double score_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        """Costs in place of the bounds that are below the limit; returns as costs_below."""
        cdef double least = limit
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            if out[k] < limit:
                out[k] = -log_weight[k] - self.score_slot(row, k)
                least = out[k] if out[k] < least else least
        return least

    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil:
        """Bounds from below of costs of a row of any weight, which take long to find exactly.

        Of slots that reach `limit` they need not be close.
        """
        pass

    cdef const Densities *densities(self) noexcept nogil:
        """What rows are screened by (screening.pxi), or NULL: rows are visited one by one."""
        return NULL

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        """log p(row | rows of slot k)."""
        return 0.0

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        """log p(row | other rows of slot k) of a row in slot k; NaN if rounding would show."""
        return 0.0

    cdef void score_members(self, const Row *rows, const Py_ssize_t *slots, Py_ssize_t n,
                            double *out) noexcept nogil:
        """The same of n rows, MOST_TOGETHER at most, each in one of the slots."""
        cdef Py_ssize_t i
        for i in range(n):
            out[i] = self.score_member(&rows[i], slots[i])

    cdef double score_member_floor(self, const Row *row, Py_ssize_t k) noexcept nogil:
        """A number not above score_member that may be cheaper to have; NaN where that is."""
        return self.score_member(row, k)

    # Rows that lie in all slots at once, a share in each. `shares` are padded, with zeros.

    cdef int expect(self) except -1:
        """Bring what expected_scores needs up to the slots' statistics."""
        raise NotImplementedError

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        """out[k] = expected log density of the row in slot k, of every slot; finite in the rest."""
        pass

    cdef void begin_sharing(self) noexcept nogil:
        """Return every slot to the prior; nothing but `share` may follow before `end_sharing`."""
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            self.clear_slot(k)

    cdef void share(self, const Row *row, const double *shares) noexcept nogil:
        """Put shares[k] of the row into slot k, for all k."""
        cdef Row part = row[0]
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            if shares[k] > 0.0:
                part.weight = row.weight * shares[k]
                self.accumulate(&part, k)

    cdef void end_sharing(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            self.refresh(k)

    cdef int expect_values(self, Py_ssize_t n_values) except -1:
        """Memory for n_values of every slot in `expected`."""
        if self.expected is None or self.expected.shape[0] < n_values * self.capacity:
            self.expected = double_array(n_values * self.capacity)
        return 0

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return 0.0

    cdef int begin_merging(self) except -1:
        """Get ready for many calls of what follows, while the interpreter's lock is held."""
        return 0

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        """out[k] = log marginal of the rows of slots j and k together, of slots from `first` on."""
        pass

    cdef double score_bound(self, const Row *row, Py_ssize_t k, double more) noexcept nogil:
        """A bound of log p(row | rows of slot k and others), of total weight at most `more`."""
        return INFINITY

    # What Python sees: the twin of component.Component.

    @property
    def counts(self):
        return [self.n[k] for k in range(self.n_slots)]

    def __init__(self, Py_ssize_t n_columns):
        self.n_columns = n_columns

    def like(self):
        raise NotImplementedError

    def resize(self, Py_ssize_t n_slots):
        self._check_n_slots(n_slots)
        self.make_slots(n_slots)

    def clear(self, Py_ssize_t k):
        self._check_slot(k)
        self.clear_slot(k)

    def copy(self, Py_ssize_t k, Component other, Py_ssize_t j):
        self._check_slot(k)
        self._check_same(other)
        other._check_slot(j)
        self.copy_slot(k, other, j)

    def add(self, const double[::1] row, Py_ssize_t k, double weight=1.0):
        self._check_slot(k)
        cdef Row checked = self.checked_row(row, weight)
        self.add_row(&checked, k)

    def remove(self, const double[::1] row, Py_ssize_t k, double weight=1.0):
        self._check_slot(k)
        cdef Row checked = self.checked_row(row, weight)
        return self.remove_row(&checked, k)

    def merge(self, Py_ssize_t j, Py_ssize_t k):
        self._check_pair(j, k)
        self.merge_slots(j, k)

    def log_predictive(self, const double[::1] row, Py_ssize_t k, double weight=1.0):
        self._check_slot(k)
        cdef Row checked = self.checked_row(row, weight)
        return self.score_slot(&checked, k)

    def per_copy(self, double score, const double[::1] row, double weight=1.0):
        cdef Row checked = self.checked_row(row, weight)
        return self.score_per_copy(score, &checked)

    cdef double score_per_copy(self, double score, const Row *row) noexcept nogil:
        return score / row.weight + self.log_scale_of(row)

    cdef double log_scale_of(self, const Row *row) noexcept nogil:
        return self.log_scale

    def log_predictive_all(self, const double[::1] row, double weight=1.0):
        cdef Row checked = self.checked_row(row, weight)
        cdef double[::1] costs = double_array(padded(self.n_slots))
        cdef double[::1] no_weight = double_array(padded(self.n_slots))
        self.costs_below(&checked, &no_weight[0], INFINITY, &costs[0])
        return [-costs[k] for k in range(self.n_slots)]

    def log_predictive_member(self, const double[::1] row, Py_ssize_t k, double weight=1.0):
        self._check_slot(k)
        cdef Row checked = self.checked_row(row, weight)
        return self.score_member(&checked, k)

    def expected_log_density(self, const double[::1] row, Py_ssize_t k, double weight=1.0):
        self._check_slot(k)
        cdef Row checked = self.checked_row(row, weight)
        cdef double[::1] scores = double_array(padded(self.n_slots))
        self.expect()
        self.expected_scores(&checked, &scores[0])
        return scores[k]

    def log_marginal(self, Py_ssize_t k):
        self._check_slot(k)
        return self.marginal(k)

    def log_marginal_merged(self, Py_ssize_t j, Py_ssize_t k):
        self._check_pair(j, k)
        cdef double[::1] scores = double_array(padded(self.n_slots))
        self.begin_merging()
        self.marginals_merged(j, k, &scores[0])
        return scores[k]

    def bound_over(self, Rows X):
        raise ValueError(f"no bound of log predictives is known for {type(self).__name__}")

    def log_bound(self, const double[::1] row, Py_ssize_t k, double more, double weight=1.0):
        self._check_slot(k)
        cdef Row checked = self.checked_row(row, weight)
        return self.score_bound(&checked, k, more)

    def posterior(self, Py_ssize_t k):
        raise NotImplementedError

    def statistics(self, Py_ssize_t k):
        raise NotImplementedError

    def load(self, Py_ssize_t k, statistics):
        raise NotImplementedError

    def _check_n_slots(self, Py_ssize_t n_slots):
        if n_slots < 0:
            raise ValueError(f"n_slots must not be negative, got {n_slots}")

    def _check_pair(self, Py_ssize_t j, Py_ssize_t k):
        self._check_slot(j)
        self._check_slot(k)
        if j == k:
            raise ValueError(f"two slots are merged, got slot {j} twice")

    def _check_same(self, Component other):
        if other.n_columns != self.n_columns:
            raise ValueError(f"other must have {self.n_columns} columns, got {other.n_columns}")

    def _check_slot(self, Py_ssize_t k):
        if not 0 <= k < self.n_slots:
            raise IndexError(f"slot must be in 0..{self.n_slots - 1}, got {k}")

    def _check_rows(self, Rows rows):
        if rows.n_rows and rows.n_columns != self.n_columns:
            raise ValueError(f"row must have {self.n_columns} values, got {rows.n_columns}")
        if rows.columns != NULL and not self.reads_sparse:
            raise ValueError(f"rows must be dense for {type(self).__name__}")

    cdef Row checked_row(self, const double[::1] row, double weight) except *:
        self._check_row(row)
        return dense_row(&row[0], row.shape[0], weight)

    def _check_row(self, row):
        if len(row) != self.n_columns:
            raise ValueError(f"row must have {self.n_columns} values, got {len(row)}")

    def _check_statistics(self, statistics, Py_ssize_t n_values):
        if len(statistics) != n_values:
            raise ValueError(f"statistics must have {n_values} values, got {len(statistics)}")


def left_of(double n, double weight):
    return left_of_c(n, weight)
