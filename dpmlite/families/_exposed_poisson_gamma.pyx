"""Kernel of exposed_poisson_gamma.py: the family, from its statistics and scores."""

from libc.math cimport NAN

from dpmlite.core._constants cimport MIN_KEPT_FRACTION
from dpmlite.core._rows cimport Row
from dpmlite.families._exposed_poisson_gamma_scores cimport (
    expected_counts, exposed_costs, find_expectations, log_marginal, score_exposed)
from dpmlite.families._exposed_poisson_gamma_statistics cimport (
    ExposedPoissonGammaStatistics, exposure_of, kept_without)
from dpmlite.families._poisson_gamma_statistics cimport PoissonGammaPrior, row_least_cost
from dpmlite.families._slot_vectors cimport least_of

from dpmlite.core.statistics_checks import (
    EXPOSURE, LOG_FACTORIALS_PER_EXPOSURE, WEIGHT, WORDS, check_statistics)


cdef class ExposedPoissonGamma(ExposedPoissonGammaStatistics):

    def __cinit__(self):
        self.has_heavy_costs = self.is_discrete = True

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
        exposed_costs(self, row, log_weight, out)
        return least_of(out, self.n_slots, limit)

    cdef void heavy_bounds(self, const Row *row, const double *log_weight, double limit,
                           double *out) noexcept nogil:
        exposed_costs(self, row, log_weight, out)

    cdef double score_slot(self, const Row *row, Py_ssize_t k) noexcept nogil:
        return score_exposed(self, row, k, 0.0)

    cdef double score_member(self, const Row *row, Py_ssize_t k) noexcept nogil:
        cdef double left = self.n[k] - row.weight
        if left > 0.0 and (left < MIN_KEPT_FRACTION * self.n[k]
                           or kept_without(self, row, k) < MIN_KEPT_FRACTION):
            return NAN
        return score_exposed(self, row, k, row.weight)

    cdef double least_cost(self, const Row *row) noexcept nogil:
        """The rate that fits a count best is x / e, and the cost that of x at the rate x."""
        if row.weight != 1.0 or exposure_of(self, row) == 0.0:
            return 0.0
        return row_least_cost(self.prior, row)

    cdef int expect(self) except -1:
        if self.power != 1.0:
            raise ValueError(f"power must be 1 for expected log densities, got {self.power}")
        self.expect_values(2 * max(self.n_counts, 1))  # of no counts, too, there is a first value
        find_expectations(self, &self.expected[0])
        return 0

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        expected_counts(self, &self.expected[0], row, out)

    cdef double marginal(self, Py_ssize_t k) noexcept nogil:
        return log_marginal(self, k, k, 0.0)

    cdef void marginals_merged(self, Py_ssize_t j, Py_ssize_t first, double *out) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(first, self.n_slots):
            out[k] = log_marginal(self, j, k, 1.0)

    def like(self):
        cdef ExposedPoissonGamma other = ExposedPoissonGamma.__new__(ExposedPoissonGamma)
        other.begin(self.prior)
        return other

    def with_power(self, double power):
        cdef ExposedPoissonGamma other = ExposedPoissonGamma.__new__(ExposedPoissonGamma)
        other.begin(self.prior.with_power(power))
        return other

    def posterior(self, Py_ssize_t k):
        self._check_slot(k)
        cdef Py_ssize_t at = k * self.n_along, d
        cdef double power = self.power
        return {
            "n": self.n[k],
            "a": [self.prior.a[d] + power * self.sums[at + d] for d in range(self.n_counts)],
            "b": [self.prior.b[d] + power * self.exposures[at + d] for d in range(self.n_counts)],
        }

    def statistics(self, Py_ssize_t k):
        self._check_slot(k)
        at = range(k * self.n_along, k * self.n_along + self.n_counts)
        return [self.n[k], *[self.sums[i] for i in at], *[self.exposures[i] for i in at],
                self.log_factorials[k]]

    def load(self, Py_ssize_t k, statistics):
        self._check_slot(k)
        cdef Py_ssize_t d, at = k * self.n_along, D = self.n_counts
        check_statistics(statistics, (WEIGHT, 1), (WORDS, D), (EXPOSURE, D),
                         (LOG_FACTORIALS_PER_EXPOSURE, 1))
        self.n[k], self.kept[k] = statistics[0], 1.0
        for d in range(D):
            self.sums[at + d], self.exposures[at + d] = statistics[1 + d], statistics[1 + D + d]
        self.log_factorials[k] = statistics[1 + 2 * D]
        self.refresh(k)
