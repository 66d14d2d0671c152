"""Kernel of component.py: the interface of component families."""

from array import array

from libc.math cimport INFINITY


cdef class Component:

    # What a family overrides. Arguments are checked by the methods below, never in here;
    # an `out` has room for n_slots rounded up by `padded`.

    cdef int make_slots(self, Py_ssize_t n_slots) except -1 nogil:
        """Make exactly n_slots slots; those that are new are empty."""
        return -1

    cdef void clear_slot(self, Py_ssize_t k) noexcept nogil:
        pass

    cdef void copy_slot(self, Py_ssize_t k, Component other, Py_ssize_t j) noexcept nogil:
        pass

    cdef void accumulate(self, const double *row, Py_ssize_t k) noexcept nogil:
        """add_row without what scoring caches; refresh(k) must follow before slot k is scored."""
        pass

    cdef void refresh(self, Py_ssize_t k) noexcept nogil:
        """Bring what scoring caches of slot k up to its statistics."""
        pass

    cdef void add_row(self, const double *row, Py_ssize_t k) noexcept nogil:
        self.accumulate(row, k)
        self.refresh(k)

    cdef bint remove_row(self, const double *row, Py_ssize_t k) noexcept nogil:
        """False, and nothing is changed, if rounding would show in what is left."""
        return False

    cdef void merge_slots(self, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
        pass

    cdef double costs_below(self, const double *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        """out[k] = -log_weight[k] - log p(row | rows of slot k), eq. (15), of every slot.

        A cost that is not below `limit` may be given as any number from `limit` to the cost.
        Slots from n_slots on cost infinity if their log_weight is minus infinity. Returns the
        least cost, or `limit` if none is below it.
        """
        return 0.0

    cdef double score_slot(self, const double *row, Py_ssize_t k) noexcept nogil:
        """log p(row | rows of slot k)."""
        return 0.0

    cdef double score_member(self, const double *row, Py_ssize_t k) noexcept nogil:
        """log p(row | other rows of slot k) of a row in slot k; NaN if rounding would show."""
        return 0.0

    cdef double score_member_floor(self, const double *row, Py_ssize_t k) noexcept nogil:
        """A number not above score_member that may be cheaper to have; NaN where that is."""
        return self.score_member(row, k)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return 0.0

    cdef void marginal_merged_all(self, Py_ssize_t j, double *out) noexcept nogil:
        """out[k] = log marginal of the rows of slots j and k together, of every slot."""
        pass

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

    def add(self, const double[::1] row, Py_ssize_t k):
        self._check_slot(k)
        self._check_row(row)
        self.add_row(&row[0], k)

    def remove(self, const double[::1] row, Py_ssize_t k):
        self._check_slot(k)
        self._check_row(row)
        return self.remove_row(&row[0], k)

    def merge(self, Py_ssize_t j, Py_ssize_t k):
        self._check_slot(j)
        self._check_slot(k)
        self.merge_slots(j, k)

    def log_predictive(self, const double[::1] row, Py_ssize_t k):
        self._check_slot(k)
        self._check_row(row)
        return self.score_slot(&row[0], k)

    def log_predictive_all(self, const double[::1] row):
        self._check_row(row)
        cdef double[::1] costs = array("d", bytes(8 * padded(self.n_slots)))
        cdef double[::1] no_weight = array("d", bytes(8 * padded(self.n_slots)))
        self.costs_below(&row[0], &no_weight[0], INFINITY, &costs[0])
        return [-costs[k] for k in range(self.n_slots)]

    def log_predictive_member(self, const double[::1] row, Py_ssize_t k):
        self._check_slot(k)
        self._check_row(row)
        return self.score_member(&row[0], k)

    def log_marginal(self, Py_ssize_t k):
        self._check_slot(k)
        return self.marginal(k)

    def log_marginal_merged(self, Py_ssize_t j, Py_ssize_t k):
        self._check_slot(j)
        self._check_slot(k)
        cdef double[::1] scores = array("d", bytes(8 * padded(self.n_slots)))
        self.marginal_merged_all(j, &scores[0])
        return scores[k]

    def posterior(self, Py_ssize_t k):
        raise NotImplementedError

    def statistics(self, Py_ssize_t k):
        raise NotImplementedError

    def load(self, Py_ssize_t k, statistics):
        raise NotImplementedError

    def _check_n_slots(self, Py_ssize_t n_slots):
        if n_slots < 0:
            raise ValueError(f"n_slots must not be negative, got {n_slots}")

    def _check_same(self, Component other):
        if other.n_columns != self.n_columns:
            raise ValueError(f"other must have {self.n_columns} columns, got {other.n_columns}")

    def _check_slot(self, Py_ssize_t k):
        if not 0 <= k < self.n_slots:
            raise IndexError(f"slot must be in 0..{self.n_slots - 1}, got {k}")

    def _check_row(self, row):
        if len(row) != self.n_columns:
            raise ValueError(f"row must have {self.n_columns} values, got {len(row)}")
