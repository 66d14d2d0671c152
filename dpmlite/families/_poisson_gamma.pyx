"""Kernel of poisson_gamma.py: the family, from its statistics and scores."""

from libc.math cimport NAN

from dpmlite.core._constants cimport MIN_KEPT_FRACTION
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport larger
from dpmlite.families._component cimport Component
from dpmlite.families._one_copy cimport bounds_by_one_copy
from dpmlite.families._poisson_gamma_scores cimport (
    event_costs, expected_events, find_expectations, log_marginal, score_events)
from dpmlite.families._poisson_gamma_statistics cimport (
    PoissonGammaPrior, PoissonGammaStatistics, hides_others, row_least_cost, row_log_factorials)
from dpmlite.families._slot_vectors cimport least_of

from dpmlite.core.statistics_checks import LOG_FACTORIALS, WEIGHT, WORDS, check_statistics

cdef enum:
    MAX_ABS_LOG = 800  # of a double that is no subnormal number


cdef class PoissonGamma(PoissonGammaStatistics):

    def __cinit__(self):
        self.has_heavy_bounds = self.is_discrete = True

    def __init__(self, a0, b0, double power=1.0):
        self.begin(PoissonGammaPrior(a0, b0, power))

    @property
    def a0(self):
        return self.prior.a0

    @property
    def b0(self):
        return self.prior.b0

    cdef double costs_below(self, const Row *row, const double *log_weight, double limit,
                            double *out) noexcept nogil:
        if row.weight != 1.0:
            return Component.costs_below(self, row, log_weight, limit, out)
        event_costs(self, row, log_weight, out)
        return least_of(out, self.n_slots, limit)

    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil:
        cdef double terms = self.n_columns
        cdef Py_ssize_t d
        for d in range(self.n_columns):
            terms += 2.0 * larger(row.values[d], 0.0)
        bounds_by_one_copy(self, row, log_weight, MAX_ABS_LOG * terms, out)

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        return score_events(self, row, row_log_factorials(self.prior, row), k, 0.0)

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double left = self.n[k] - row.weight
        cdef double log_factorials = row_log_factorials(self.prior, row)
        if left > 0.0 and (left < MIN_KEPT_FRACTION * self.n[k]
                           or hides_others(self, row, log_factorials, k)):
            return NAN
        return score_events(self, row, log_factorials, k, row.weight)

    cdef double least_cost(self, const Row *row) noexcept nogil:
        return row_least_cost(self.prior, row) if row.weight == 1.0 else 0.0

    cdef int expect(self) except -1:
        if self.power != 1.0:
            raise ValueError(f"power must be 1 for expected log densities, got {self.power}")
        self.expect_values(1 + 2 * self.n_columns)
        find_expectations(self, &self.expected[0])
        return 0

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        expected_events(self, &self.expected[0], row, out)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return log_marginal(self, k, k, 0.0)

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(first, self.n_slots):
            out[k] = log_marginal(self, j, k, 1.0)

    def like(self):
        cdef PoissonGamma other = PoissonGamma.__new__(PoissonGamma)
        other.begin(self.prior)
        return other

    def with_power(self, double power):
        cdef PoissonGamma other = PoissonGamma.__new__(PoissonGamma)
        other.begin(self.prior.with_power(power))
        return other

    def posterior(self, Py_ssize_t k):
        self._check_slot(k)
        cdef Py_ssize_t at = k * self.n_along, d
        return {
            "n": self.n[k],
            "a": [self.prior.a[d] + self.power * self.sums[at + d] for d in range(self.n_columns)],
            "b": [self.prior.b[d] + self.power * self.cells[at + d] for d in range(self.n_columns)],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        at = range(k * self.n_along, k * self.n_along + self.n_columns)
        return [self.n[k], *[self.sums[i] for i in at], *[self.cells[i] for i in at],
                self.log_factorials[k]]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t d, at = k * self.n_along, D = self.n_columns
        check_statistics(
            statistics, (WEIGHT, 1), (WORDS, D), (WEIGHT, D), (LOG_FACTORIALS, 1))
        self.n[k], self.kept[k] = statistics[0], 1.0
        for d in range(D):
            self.sums[at + d], self.cells[at + d] = statistics[1 + d], statistics[1 + D + d]
        self.log_factorials[k] = statistics[1 + 2 * D]
        self.refresh(k)
