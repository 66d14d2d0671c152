"""Kernel of exposed_poisson_gamma.py: the family, from its statistics and scores."""

from libc.math cimport NAN

from dpmlite.core._constants cimport MIN_KEPT_FRACTION
from dpmlite.core._rows cimport Row
from dpmlite.families._exposed_poisson_gamma_scores cimport (
    expected_counts, exposed_costs, score_exposed)
from dpmlite.families._exposed_poisson_gamma_statistics cimport (
    ExposedPoissonGammaStatistics, exposure_of, kept_without)
from dpmlite.families._gamma_rates cimport PoissonGammaPrior, row_least_cost
from dpmlite.families._slot_vectors cimport least_of

from dpmlite.core.statistics_checks import (
    EXPOSURE, LOG_FACTORIALS_PER_EXPOSURE, WEIGHT, WORDS, check_statistics)


cdef class ExposedPoissonGamma(ExposedPoissonGammaStatistics):

    def __cinit__(self):
        self.has_heavy_costs = self.is_discrete = True

    def __init__(self, a0, b0, double power=1.0):
        self.begin(PoissonGammaPrior(a0, b0, power))

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

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        expected_counts(self, &self.expected[0], row, out)

    def _check_statistics(self, statistics):
        check_statistics(
            statistics, (WEIGHT, 1), (WORDS, self.n_counts), (EXPOSURE, self.n_counts),
            (LOG_FACTORIALS_PER_EXPOSURE, 1))
