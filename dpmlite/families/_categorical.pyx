"""Kernel of categorical.py: the family, from its counts and scores."""

from libc.math cimport NAN

from dpmlite.core._constants cimport MIN_KEPT_FRACTION
from dpmlite.core._rows cimport Row, Rows
from dpmlite.families._categorical_counts cimport CategoricalCounts
from dpmlite.families._categorical_prior cimport CategoricalPrior
from dpmlite.families._categorical_scores cimport (
    expected_lines, line_costs, log_marginal, score_copies, sum_lines)
from dpmlite.families._component cimport Component
from dpmlite.families._one_copy cimport bounds_by_one_copy
from dpmlite.families._slot_vectors cimport least_of, padded

from dpmlite.core.statistics_checks import WEIGHT, check_statistics

cdef enum:
    MAX_ABS_LOG = 800  # of a double that is no subnormal number


cdef class Categorical(CategoricalCounts):

    def __cinit__(self):
        self.has_heavy_bounds = self.is_discrete = self.is_tabled = True

    def __init__(self, beta0, double power=1.0):
        self.begin(CategoricalPrior(beta0, power))

    @property
    def beta0(self):
        return self.prior.beta0

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        if row.weight != 1.0:
            return Component.costs_below(self, row, log_weight, limit, out)
        line_costs(self, row, self.base, self.line_score, log_weight, out)
        return least_of(out, self.n_slots, limit)

    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil:
        bounds_by_one_copy(self, row, log_weight, 2 * MAX_ABS_LOG * self.n_columns, out)

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        if row.weight != 1.0:
            return score_copies(self, row, k, 0.0, 0.0)
        return self.base[k] + sum_lines(self, row, self.score + k * self.n_along)

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double left = self.n[k] - row.weight
        if 0.0 < left < MIN_KEPT_FRACTION * self.n[k]:
            return NAN
        if row.weight != 1.0:
            return score_copies(self, row, k, row.weight, 0.0)
        return self.member_base[k] + sum_lines(self, row, self.member_score + k * self.n_along)

    cdef int expect(self) except -1:
        """Write to `expected`: n_slots zeros, the base, and every line."""
        self.expect_values(2 + self.prior.n_lines)
        self.expected[:self.capacity] = 0.0
        expected_lines(self, &self.expected[self.capacity])
        return 0

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        cdef const double *zero = &self.expected[0]
        cdef Py_ssize_t k
        line_costs(self, row, zero + self.capacity, zero + 2 * self.capacity, zero, out)
        for k in range(padded(self.n_slots)):
            out[k] *= -row.weight

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return log_marginal(self, k, k, 0.0)

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(first, self.n_slots):
            out[k] = log_marginal(self, j, k, 1.0)

    cdef double score_bound(self, const Row *row, Py_ssize_t k, double more) noexcept nogil:
        return score_copies(self, row, k, 0.0, more)

    def bound_over(self, Rows X):
        pass

    def with_power(self, double power):
        cdef Categorical other = Categorical.__new__(Categorical)
        other.begin(self.prior.with_power(power))
        return other

    def posterior(self, Py_ssize_t k):
        self._check_slot(k)
        cdef Py_ssize_t at = k * self.n_along, d, i
        return {
            "n": self.n[k],
            "beta": [
                [self.prior.beta[i] + self.power * self.count[at + i]
                 for i in range(self.prior.starts[d], self.prior.starts[d + 1])]
                for d in range(self.n_columns)
            ],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        cdef const double *count = self.count + k * self.n_along
        return [self.n[k], *[count[i] for i in range(self.prior.n_levels)]]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t d, i
        cdef double *count = self.count + k * self.n_along
        check_statistics(statistics, (WEIGHT, 1 + self.prior.n_levels))
        self.n[k] = statistics[0]
        for d in range(self.n_columns):
            count[self.prior.n_levels + d] = 0.0
            for i in range(self.prior.starts[d], self.prior.starts[d + 1]):
                count[i] = statistics[1 + i]
                count[self.prior.n_levels + d] += count[i]
        self.refresh(k)
