"""Kernel of poisson_gamma.py: the family, from its statistics and scores."""

from libc.math cimport NAN

from dpmlite.core._constants cimport MIN_KEPT_FRACTION
from dpmlite.core._rows cimport Row
from dpmlite.core._simd cimport larger
from dpmlite.families._component cimport Component
from dpmlite.families._gamma_rates cimport PoissonGammaPrior, row_least_cost, row_log_factorials
from dpmlite.families._one_copy cimport bounds_by_one_copy
from dpmlite.families._poisson_gamma_scores cimport event_costs, expected_events, score_events
from dpmlite.families._poisson_gamma_statistics cimport PoissonGammaStatistics, hides_others
from dpmlite.families._slot_vectors cimport least_of

from dpmlite.core.statistics_checks import LOG_FACTORIALS, WEIGHT, WORDS, check_statistics

cdef enum:
    MAX_ABS_LOG = 800  # of a double that is no subnormal number


cdef class PoissonGamma(PoissonGammaStatistics):

    def __cinit__(self):
        self.has_heavy_bounds = self.is_discrete = True

    def __init__(self, a0, b0, double power=1.0):
        self.begin(PoissonGammaPrior(a0, b0, power))

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

    cdef void expected_scores(self, const Row *row, double *out) noexcept nogil:
        expected_events(self, &self.expected[0], row, out)

    def _check_statistics(self, statistics):
        check_statistics(
            statistics, (WEIGHT, 1), (WORDS, self.n_counts), (WEIGHT, self.n_counts),
            (LOG_FACTORIALS, 1))
