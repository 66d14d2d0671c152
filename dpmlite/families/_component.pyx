"""Kernel of component.py: what Python sees of a component, with its checks."""

from libc.math cimport INFINITY, NAN

from dpmlite.core._memory cimport double_array
from dpmlite.core._rows cimport Rows, dense_row
from dpmlite.families._family cimport left_of_c
from dpmlite.families._normal_columns cimport NormalPrior, standardise
from dpmlite.families._slot_vectors cimport padded


cdef class Component(Family):

    cdef Component copied(self):
        """Return a component with the same slots for another thread, as scoring may write to it."""
        cdef Component other = self.like()
        cdef Py_ssize_t k
        other.make_slots(self.n_slots)
        for k in range(self.n_slots):
            other.copy_slot(k, self, k)
        return other

    cdef double score_per_copy(self, double score, const Row *row) noexcept nogil:
        """Return a score of a row as that of one copy, in units of the prior."""
        return score / row.weight + self.log_scale_of(row)

    @property
    def counts(self):
        return [self.n[k] for k in range(self.n_slots)]

    def __init__(self, Py_ssize_t n_columns):
        self.n_columns = n_columns

    def like(self):
        return self.with_power(self.power)

    def with_power(self, double power):
        if power != 1.0:
            raise ValueError(f"power must be 1 for {type(self).__name__}, got {power}")
        return self.like()

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
        raise NotImplementedError

    def log_marginal(self, Py_ssize_t k):
        self._check_slot(k)
        return self.marginal(k)

    def log_marginal_merged(self, Py_ssize_t j, Py_ssize_t k):
        self._check_pair(j, k)
        cdef double[::1] scores = double_array(padded(self.n_slots))
        self.begin_merging()
        self.marginals_merged(j, k, &scores[0])
        return scores[k]

    def log_marginals_merged(self, Py_ssize_t j):
        self._check_slot(j)
        cdef double[::1] scores = double_array(padded(self.n_slots))
        self.begin_merging()
        self.marginals_merged(j, 0, &scores[0])
        scores[j] = NAN
        return list(scores[:self.n_slots])

    def bound_over(self, Rows X):
        raise ValueError(f"no bound of log predictives is known for {type(self).__name__}")

    def log_bound(self, const double[::1] row, Py_ssize_t k, double more, double weight=1.0):
        self._check_slot(k)
        cdef Row checked = self.checked_row(row, weight)
        return self.score_bound(&checked, k, more)

    def normal_prior(self):
        cdef const NormalPrior *prior = self.column_prior()
        return None if prior == NULL else (prior.c0, prior.a0)

    def normal_columns(self, Py_ssize_t k):
        self._check_slot(k)
        cdef Py_ssize_t d
        if self.column_prior() == NULL:
            raise NotImplementedError
        columns = [self.normal_column(k, d) for d in range(self.n_columns)]
        return [(c["n"], c["mean"], c["variance"], c["rate"]) for c in columns]

    def standardise(self, const double[::1] row):
        cdef const NormalPrior *prior = self.column_prior()
        cdef Py_ssize_t d
        if prior == NULL:
            raise NotImplementedError
        self._check_row(row)
        return [standardise(row[d], prior.origin[d], prior.unit[d]) for d in range(self.n_columns)]

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

    def _check_expectations(self):
        raise TypeError(f"component must have expected log densities, got {type(self).__name__}")

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


def left_of(double n, double weight):
    return left_of_c(n, weight)
